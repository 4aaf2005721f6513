import { open, readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { codeOf } from '../text/safe-error.js';
import { splitMails } from './mail-text.js';
import { type Mailbox, MailboxError } from './mailbox.js';
import { defaultLimits } from './read-mail.js';
import type { FoundMail } from './take-mail.js';

/** An mbox may hold many e-mails; each of them has its own limit. */
export const maxFileBytes = 512 * 1024 * 1024;

interface MailFile {
  readonly path: string;
  /** Changes when there is different content to read. */
  readonly key: string;
  readonly size: number;
  readonly changedAt: number;
}

/** A maildir: e-mails are delivered to `new`, and moved to `cur` by any program that has seen them. */
export function openMaildir(folder: string): Mailbox {
  const list = async (): Promise<MailFile[]> =>
    (await Promise.all(['new', 'cur'].map((name) => listFiles(join(folder, name)))))
      .flat()
      // Flags are appended to the name after a colon.
      .map((file) => ({ ...file, key: basename(file.path).replace(/:2,[^:]*$/, '') }));
  return openFiles(folder, list, defaultLimits.maxBytes);
}

/** @param maxBytes of a file: a larger one is not loaded */
function openFiles(folder: string, list: () => Promise<MailFile[]>, maxBytes: number): Mailbox {
  const given = new Set<string>();
  return {
    place: folder,
    async *readNew(signal) {
      let fault: unknown;
      for (const file of await explain(folder, list)) {
        if (given.has(file.key)) continue;
        signal.throwIfAborted();
        try {
          yield* readMailFile(folder, file, maxBytes);
          given.add(file.key);
        } catch (error) {
          // The others are read all the same.
          if (!(error instanceof MailboxError)) throw error;
          fault ??= error;
        }
      }
      if (fault !== undefined) throw fault;
    },
    probe: async () => ({ mails: (await explain(folder, list)).length }),
  };
}

/** Enough to find out who sent it. */
const headBytes = 256 * 1024;

/** Senders and mail programs choose the names of files, so nothing else gets to know them. */
async function* readMailFile(
  folder: string,
  { path, key, size, changedAt }: MailFile,
  maxBytes: number,
): AsyncGenerator<FoundMail, void, undefined> {
  if (size > maxBytes) {
    const head = await explainFile(folder, () => readHead(path));
    return yield { from: folder, arrivedAt: changedAt, oversized: key, head };
  }
  const bytes = await explainFile(folder, () => readUnlessGone(path));
  for (const mail of bytes ? splitMails(bytes) : []) yield { from: folder, bytes: mail, savedAt: changedAt };
}

async function readHead(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(headBytes) });
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

const explainFile = <Result>(folder: string, work: () => Promise<Result>) =>
  explain(`a file in ${folder}`, work);

async function listFiles(folder: string): Promise<MailFile[]> {
  const files: MailFile[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(folder, entry.name);
    const found = await stat(path).catch(() => undefined);
    if (!found) continue;
    const { size, mtimeMs } = found;
    files.push({ path, size, changedAt: Math.floor(mtimeMs), key: `${entry.name} ${size} ${mtimeMs}` });
  }
  return files.sort((a, b) => a.changedAt - b.changedAt || (a.path < b.path ? -1 : 1));
}

/** Somebody may move a file meanwhile; then it is listed the next time. */
async function readUnlessGone(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function explain<Result>(place: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw new MailboxError(`${place} can't be read (${codeOf(error) ?? 'unexpected error'})`, {
      cause: error,
    });
  }
}
