import { expect, it } from 'vitest';
import { adviseOnPath } from '../../../src/review/file/remote-files.js';

const run = { day: '2026-11-20' };
const paths = { root: '/reviews', pathPrefix: 'acme/' };

it.each(['sftp-no-such-file', 'sftp-permission-denied', 'sftp-server-failure'])(
  'the folder on the server is named after %s',
  (code) => {
    expect(adviseOnPath(run, { name: 'upload', code }, paths)).toBe(
      'file.sftp.root must be a folder on the server below which the account may write, and create /reviews/VerifyMappings/112026: check it',
    );
  },
);

it('what the service was told is named after its refusal', () => {
  expect(adviseOnPath(run, { name: 'trigger', code: 'code-2020' }, paths)).toBe(
    'the service was told acme/VerifyMappings/112026/20112026.csv (the prefix acme/), which is /reviews/VerifyMappings/112026/20112026.csv on the SFTP server: check file.sftp.root and file.ftpFilePathPrefix',
  );
});

it.each([
  ['trigger', 'code-2001'],
  ['trigger', 'http-503'],
  ['batch 1', 'code-2020'],
  ['upload', 'sftp-disk-full'],
])('%s with %s has nothing to do with a path', (name, code) => {
  expect(adviseOnPath(run, { name, code }, paths)).toBeUndefined();
});
