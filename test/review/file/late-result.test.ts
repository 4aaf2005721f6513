import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { hasNewResult } from '../../../src/review/file/late-result.js';
import { defaultResultPattern } from '../../../src/review/file/remote-files.js';
import type { ReviewFile } from '../../../src/rules/review-file.js';
import type { RunState } from '../../../src/rules/run.js';
import type { RemoteFile, SftpSession } from '../../../src/transports/sftp/sftp.js';
import { someRun } from '../some-run.js';
import { day } from './file-run.js';

const judged = 'what was judged\n';
const name = '20112026_Result.csv';
const sha256 = createHash('sha256').update(judged).digest('hex');
const seen: RemoteFile = { name, size: judged.length, modifiedAt: 1_000 };
const growing = { files: [{ ...seen, sha256 }], since: 0, isRead: true };

/** Any call but these would change something, or write somewhere. */
function serverWith(files: readonly (RemoteFile & { readonly text?: string })[]) {
  const calls: string[] = [];
  const session: Partial<SftpSession> = {
    async list(folder) {
      calls.push(`list ${folder}`);
      return files;
    },
    async readRange(path, { from, to }) {
      calls.push('read');
      const text = files.find((file) => path.endsWith(`/${file.name}`))?.text ?? '';
      return Buffer.from(text).subarray(from, to);
    },
    close: async () => {},
  };
  return { calls, sftp: { connect: async () => session as SftpSession } };
}

const list = 'list VerifyMappings/112026';

it.each<
  [string, RunState, Partial<ReviewFile>, readonly (RemoteFile & { text?: string })[], boolean, string[]]
>([
  ['other files only', 'awaiting-result', {}, [{ name: '20112026.csv', size: 9 }], false, [list]],
  ['a first result', 'awaiting-result', {}, [seen], true, [list]],
  ['what was seen in time but never judged', 'awaiting-result', { growing }, [seen], true, [list]],
  ['the judged one', 'failed', { growing }, [seen], false, [list]],
  [
    'the judged one under a newer time',
    'failed',
    { growing },
    [{ ...seen, modifiedAt: 2_000, text: judged }],
    false,
    [list, 'read'],
  ],
  [
    'the judged one without times',
    'failed',
    { growing },
    [{ name, size: seen.size, text: judged }],
    false,
    [list, 'read'],
  ],
  [
    'another one of that size',
    'failed',
    { growing },
    [{ ...seen, modifiedAt: 2_000, text: 'other judged...\n' }],
    true,
    [list, 'read'],
  ],
  ['a second one', 'failed', { growing }, [seen, { ...seen, name: '20112026_2_Result.csv' }], true, [list]],
  ['one that belongs to others', 'awaiting-result', { notOurs: growing.files }, [seen], false, [list]],
])('a look at %s of a run that is %s', async (_, state, file, files, isNew, expected) => {
  const { calls, sftp } = serverWith(files);
  const run = someRun({ state, delivery: 'file', day: day.iso, file });
  const { signal } = new AbortController();
  const place = { sftp, stepMs: 60_000, resultPattern: defaultResultPattern, run, day, signal };
  expect(await hasNewResult(place)).toBe(isNew);
  expect(calls).toEqual(expected);
});
