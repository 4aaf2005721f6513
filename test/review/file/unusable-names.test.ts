import type { SFTPWrapper, Stats } from 'ssh2';
import { describe, expect, it } from 'vitest';
import { awaitResult } from '../../../src/review/file/await-result.js';
import { spoolReviewFile } from '../../../src/review/file/file-attempt.js';
import { uploadReviewFile } from '../../../src/review/file/file-delivery.js';
import type { Answer, Connection } from '../../../src/transports/sftp/connection.js';
import { createSession } from '../../../src/transports/sftp/session.js';
import { defaultLimits } from '../../../src/transports/sftp/sftp.js';
import { claimStep } from '../../contracts/ledger/days.js';
import { attemptOf, now, prepareFileRun } from './file-run.js';

const unusable = [
  '20112026x/../x_Result.csv',
  '20112026\\..\\x_Result.csv',
  '20112026\u001b[2J_Result.csv',
  '20112026\u202e_Result.csv',
  '20112026\ufffd_Result.csv',
  `20112026${'x'.repeat(230)}_Result.csv`,
];

describe('a file whose name the server chose to do harm', () => {
  it.each(unusable)('is skipped and reported while the result is awaited: %j', async (name) => {
    const { ledger, finish, parts, run } = await prepareFileRun();
    const { bytes, sha256 } = await spoolReviewFile(parts, run);
    await finish('write', { rows: 5, bytes, sha256 });
    await finish('upload', { remotePath: 'VerifyMappings/112026/20112026.csv' });
    const triggered = await finish('trigger', { triggeredAt: now });
    const claim = await claimStep(ledger, triggered, 'await-result');
    const outcome = await awaitResult(attemptOf({ ...parts, sftp: serverWith([name]) }, triggered, claim));
    expect(outcome).toMatchObject({ kind: 'waiting', evidence: { code: 'result-name-unusable' } });
  });

  it.each(unusable)('does not keep the review file from being uploaded: %j', async (name) => {
    const { ledger, finish, parts, run } = await prepareFileRun();
    const { bytes, sha256 } = await spoolReviewFile(parts, run);
    const written = await finish('write', { rows: 5, bytes, sha256 });
    const claim = await claimStep(ledger, written, 'upload');
    const outcome = uploadReviewFile(attemptOf({ ...parts, sftp: serverWith([name]) }, written, claim));
    // The server refuses the upload itself, which comes after all checks of its files.
    expect(await outcome).toMatchObject({ evidence: { code: 'sftp-permission-denied' } });
  });
});

/** A server that lists these files and refuses every upload. */
function serverWith(names: readonly string[]) {
  const fail = (code: number, message = '') => Object.assign(new Error(message), { code });
  const attrs = { size: 4, mtime: 1, isFile: () => true, isDirectory: () => false } as Stats;
  return {
    connect: async ({ signal }: { readonly signal: AbortSignal }) => {
      let isListed = false;
      const files = {
        stat: (_path: string, answer: Answer<Stats>) =>
          answer(undefined, { ...attrs, isFile: () => false, isDirectory: () => true } as Stats),
        opendir: (_path: string, answer: Answer<Buffer>) => {
          isListed = false;
          answer(undefined, Buffer.from('folder'));
        },
        readdir: (_handle: Buffer, answer: Answer<unknown>) => {
          if (isListed) return answer(fail(1));
          isListed = true;
          answer(
            undefined,
            names.map((filename) => ({ filename, longname: filename, attrs })),
          );
        },
        close: (_handle: Buffer, answer: Answer<void>) => answer(undefined),
        unlink: (_path: string, answer: Answer<void>) => answer(fail(2)),
        open: (_path: string, _mode: string, answer: Answer<Buffer>) => answer(fail(3)),
      };
      const connection: Connection = {
        files: files as unknown as SFTPWrapper,
        ended: new AbortController().signal,
        ask: <T>(start: (answer: Answer<T>) => void) =>
          new Promise<T>((resolve, reject) =>
            start((error, value) => (error ? reject(error) : resolve(value as T))),
          ),
        cut: () => {},
        close: async () => {},
      };
      return createSession({
        connection,
        root: '',
        limits: defaultLimits,
        signal,
        giveBack: async () => {},
        reopen: () => Promise.reject(new TypeError('expected one connection')),
      });
    },
  };
}
