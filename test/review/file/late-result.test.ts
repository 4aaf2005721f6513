import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { hasNewResult } from '../../../src/review/file/late-result.js';
import { defaultResultPattern } from '../../../src/review/file/remote-files.js';
import type { ReviewFile } from '../../../src/rules/review-file.js';
import type { RunState } from '../../../src/rules/run.js';
import type { SftpSession } from '../../../src/transports/sftp/sftp.js';
import { someRun } from '../some-run.js';
import { day, remote } from './file-run.js';

/** Of more than one piece. */
const times = 70_000;
const judged = 'what was judged\n'.repeat(times);
const name = '20112026_Result.csv';
const sha256 = createHash('sha256').update(judged).digest('hex');
const seen = { name, size: judged.length, modifiedAt: 1_000 };
const notOurs = [{ ...seen, sha256 }];
const growing = { files: notOurs, since: 0, isRead: true };
const second = { ...growing, files: [{ ...seen, name: '20112026_2_Result.csv', sha256: 'another' }] };

it.each<[string, RunState, Partial<ReviewFile>, name: string, text: string, at: number | undefined, boolean]>(
  [
    ['other files only', 'awaiting-result', {}, '20112026.csv', judged, 1_000, false],
    ['a first result', 'awaiting-result', {}, name, judged, 1_000, true],
    ['what was seen in time but never judged', 'awaiting-result', { growing }, name, judged, 1_000, true],
    ['the judged one', 'failed', { growing }, name, judged, 1_000, false],
    ['the judged one under a newer time', 'failed', { growing }, name, judged, 2_000, false],
    ['the judged one without times', 'failed', { growing }, name, judged, undefined, false],
    ['another one of that size', 'failed', { growing }, name, 'other judged...\n'.repeat(times), 2_000, true],
    ['a second one', 'failed', { growing }, '20112026_2_Result.csv', judged, 1_000, true],
    [
      'one of others beside the judged one',
      'failed',
      { growing: second, notOurs },
      name,
      judged,
      1_000,
      false,
    ],
    ['one of others', 'awaiting-result', { notOurs }, name, judged, 1_000, false],
  ],
)('a look at %s of a run that is %s', async (_, state, file, found, text, modifiedAt, isNew) => {
  // Any other call would change something, or write somewhere.
  const session: Partial<SftpSession> = {
    list: async () => [{ name: found, size: text.length, ...(modifiedAt !== undefined && { modifiedAt }) }],
    readRange: async (path, { from, to }) => {
      expect(path).toBe(`${remote.folder}/${found}`);
      return Buffer.from(text).subarray(from, to);
    },
    close: async () => {},
  };
  const sftp = { connect: async () => session as SftpSession };
  const run = someRun({ state, delivery: 'file', day: day.iso, file });
  const { signal } = new AbortController();
  const place = { sftp, stepMs: 60_000, resultPattern: defaultResultPattern, run, day, signal };
  expect(await hasNewResult(place)).toBe(isNew);
});
