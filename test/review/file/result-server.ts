import { writeFile } from 'node:fs/promises';
import { SftpError, type SftpSession, type TimeSource } from '../../../src/transports/sftp/sftp.js';
import { fileOf } from './file-bookings.js';
import { fileBookings, now } from './file-run.js';

/** A result of five bookings, or of those given, that calls these incorrect. */
export function resultOf(incorrect: readonly number[], rows: readonly number[] = [0, 1, 2, 3, 4]): string {
  const [header = '', ...lines] = fileOf(fileBookings(5)).toString().trimEnd().split('\n');
  const judged = rows.map((row) => `${lines[row]},${!incorrect.includes(row)}`);
  return [`${header},IsCorrectMapping`, ...judged, ''].join('\n');
}

/** A server that holds results and nothing else. */
export function createResultServer({ keepsTimes = 'kept' }: { readonly keepsTimes?: TimeSource } = {}) {
  const files = new Map<string, { readonly content: string; readonly modifiedAt: number }>();
  const seen = (name: string) => {
    const { content = '', modifiedAt = 0 } = files.get(name) ?? {};
    const size = Buffer.byteLength(content);
    return keepsTimes === 'none' ? { name, size } : { name, size, modifiedAt };
  };
  const none = () => Promise.reject(new SftpError('denied', 'unexpected', 'expected no such call'));
  const nameOf = (path: string) => path.split('/').at(-1) ?? '';
  const session: SftpSession = {
    list: async () => [...files.keys()].map(seen),
    stat: async (path) => (files.has(nameOf(path)) ? seen(nameOf(path)) : undefined),
    async download(path, local, { onBytes }) {
      const { content = '' } = files.get(nameOf(path)) ?? {};
      await writeFile(typeof local === 'string' ? local : local.path, content);
      await onBytes?.(Buffer.from(content));
      return seen(nameOf(path));
    },
    examineTime: async () => keepsTimes,
    makeFolder: none,
    upload: none,
    readRange: none,
    hasChanged: none,
    publish: none,
    remove: none,
    close: async () => {},
  };
  return {
    session,
    /** Writes a file, or replaces it. @param second the server's time, counted from the trigger */
    write: (name: string, content: string, second = files.size) =>
      void files.set(name, { content, modifiedAt: now + 1_000 * second }),
    remove: (name: string) => void files.delete(name),
  };
}
