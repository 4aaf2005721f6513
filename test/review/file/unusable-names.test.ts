import type { SFTPWrapper, Stats } from 'ssh2';
import { expect, it } from 'vitest';
import type { Answer, Connection } from '../../../src/transports/sftp/connection.js';
import { createSession } from '../../../src/transports/sftp/session.js';
import { defaultLimits } from '../../../src/transports/sftp/sftp.js';
import { uploadedDay } from './server-day.js';

const unusable = [
  '20112026x/../x_Result.csv',
  '20112026\\..\\x_Result.csv',
  '20112026\u001b[2J_Result.csv',
  '20112026\u202e_Result.csv',
  '20112026\ufffd_Result.csv',
  `20112026${'x'.repeat(230)}_Result.csv`,
];

it('files whose names the server chose to do harm are skipped and reported while the result is awaited', async () => {
  const day = await uploadedDay();
  await day.trigger();
  const { list } = sessionListing(['notes.txt', ...unusable]);
  expect((await list('folder')).map(({ name }) => name)).toEqual(['notes.txt']);
  day.change({ list });
  expect(await day.look()).toMatchObject({ kind: 'waiting', evidence: { code: 'result-name-unusable' } });
});

/** A session of a server that has these files. */
function sessionListing(names: readonly string[]) {
  const attrs = { size: 4, mtime: 1, isFile: () => true, isDirectory: () => false } as Stats;
  let isRead = false;
  const files = {
    opendir(_path: string, answer: Answer<Buffer>) {
      isRead = false;
      answer(undefined, Buffer.from('folder'));
    },
    readdir(_handle: Buffer, answer: Answer<unknown>) {
      if (isRead) return answer(Object.assign(new Error('the end'), { code: 1 }));
      isRead = true;
      answer(
        undefined,
        names.map((filename) => ({ filename, longname: filename, attrs })),
      );
    },
    close: (_handle: Buffer, answer: Answer<void>) => answer(undefined),
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
    ...{ connection, root: '', limits: defaultLimits, signal: new AbortController().signal },
    giveBack: async () => {},
    reopen: () => Promise.reject(new TypeError('expected one connection')),
  });
}
