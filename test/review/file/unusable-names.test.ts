import type { SFTPWrapper, Stats } from 'ssh2';
import { describe, expect, it } from 'vitest';
import type { Answer, Connection } from '../../../src/transports/sftp/connection.js';
import { createSession } from '../../../src/transports/sftp/session.js';
import { defaultLimits } from '../../../src/transports/sftp/sftp.js';
import { uploadedDay, writtenDay } from './server-day.js';

const unusable = [
  '20112026x/../x_Result.csv',
  '20112026\\..\\x_Result.csv',
  '20112026\u001b[2J_Result.csv',
  '20112026\u202e_Result.csv',
  '20112026\ufffd_Result.csv',
  `20112026${'x'.repeat(230)}_Result.csv`,
];

describe('files whose names the server chose to do harm', () => {
  it('are skipped and reported while the result is awaited', async () => {
    const day = await uploadedDay();
    await day.trigger();
    day.set({ sftp: serverWith(unusable) });
    expect(await day.look()).toMatchObject({
      kind: 'waiting',
      evidence: { code: 'result-name-unusable' },
    });
  });

  it('do not keep the review file from being uploaded', async () => {
    const day = await writtenDay();
    day.set({ sftp: serverWith(unusable) });
    // The server refuses the upload itself, which comes after all checks of its files.
    expect(await day.upload()).toMatchObject({ evidence: { code: 'sftp-permission-denied' } });
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
