import { expect, it } from 'vitest';
import { adviseOnDisk } from '../../../src/review/file/disk-advice.js';

it.each([
  ['local-enospc', 'make room on the disk of file.spool'],
  ['local-edquot', 'make room on the disk of file.spool'],
  ['local-eacces', 'mend the folder file.spool'],
  ['sftp-local-file', 'make room on the disk of file.spool, or mend the permissions of that folder'],
  [
    'archive-unwritable',
    'make room on the disk of the archive, or mend the permissions of its folder; of a bucket, `hotel-review doctor` says what it lacks',
  ],
  ['sftp-disk-full', 'have room made on the SFTP server'],
  ['http-503', undefined],
  ['sftp-connection-lost', undefined],
])('a step that failed with %s needs somebody to %s', (code, advice) => {
  expect(adviseOnDisk(code)).toBe(advice);
});
