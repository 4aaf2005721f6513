import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { codeOf } from '../text/safe-error.js';
import { type Mailbox, MailboxError } from './mailbox.js';
import { maxMailBytes } from './read-mail.js';

/** Enough to find out who sent an e-mail. */
const headBytes = 256 * 1024;

/** A maildir: e-mails are delivered to `new`, and moved to `cur` by any program that has seen them. */
export function openMaildir(folder: string): Mailbox {
  const given = new Set<string>();
  const list = () =>
    explain(folder, async () => [
      ...(await listFiles(join(folder, 'new'))),
      ...(await listFiles(join(folder, 'cur'))),
    ]);
  return {
    place: folder,
    async *readNew(signal) {
      let fault: unknown;
      for (const { path, key, size, changedAt } of await list()) {
        if (given.has(key)) continue;
        signal.throwIfAborted();
        try {
          // Senders and mail programs choose the names of files, so nothing else gets to know them.
          const bytes = await explain(`a file in ${folder}`, () => readStart(path, size));
          // It is listed the next time.
          if (!bytes) continue;
          if (size > maxMailBytes) yield { from: folder, arrivedAt: changedAt, oversized: key, head: bytes };
          else for (const mail of splitMails(bytes)) yield { from: folder, bytes: mail, savedAt: changedAt };
          given.add(key);
        } catch (error) {
          // The others are read all the same.
          if (!(error instanceof MailboxError)) throw error;
          fault ??= error;
        }
      }
      if (fault !== undefined) throw fault;
    },
    probe: async () => ({ mails: (await list()).length }),
  };
}

/** Of one of its two folders, the oldest first. */
async function listFiles(folder: string) {
  const files: { path: string; key: string; size: number; changedAt: number }[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    const found = entry.isFile() && (await stat(path).catch(() => undefined));
    if (!found) continue;
    // Flags are appended to the name after a colon.
    const key = entry.name.replace(/:2,[^:]*$/, '');
    files.push({ path, key, size: found.size, changedAt: Math.floor(found.mtimeMs) });
  }
  return files.sort((a, b) => a.changedAt - b.changedAt || (a.path < b.path ? -1 : 1));
}

/** The whole file, or the beginning of one that is too large. Undefined if somebody moved it meanwhile. */
async function readStart(path: string, size: number): Promise<Buffer | undefined> {
  try {
    return await buffer(createReadStream(path, size > maxMailBytes ? { end: headBytes - 1 } : {}));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function explain<Result>(place: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw new MailboxError(`${place} can't be read (${codeOf(error) ?? 'unexpected error'})`, false, {
      cause: error,
    });
  }
}

/** "From sender@example.com Mon Nov 23 04:52:16 2026": text of a message may begin with From, too. */
function isSeparator(line: string): boolean {
  const [word, sender = '', ...date] = line.trimEnd().split(/\s/);
  if (word !== 'From' || sender === '') return false;
  if (date.length === 0) return true;
  const time = date.findIndex((part) => /^\d{1,2}:\d{2}/.test(part));
  return time !== -1 && date.slice(time + 1).some((part) => /\d{4}/.test(part));
}

/** Splits a file into e-mails: an mbox at its separators, anything else is one. */
export function splitMails(bytes: Buffer): Buffer[] {
  if (bytes.toString('latin1', 0, 5) !== 'From ') return [bytes];
  // A separator is the first line, or follows an empty one.
  const starts = [0];
  for (let at = bytes.indexOf('\nFrom '); at !== -1; at = bytes.indexOf('\nFrom ', at + 1)) {
    const isAfterEmpty = bytes[at - 1] === 10 || (bytes[at - 1] === 13 && bytes[at - 2] === 10);
    const [line = ''] = bytes.toString('latin1', at + 1, at + 300).split('\n', 1);
    if (isAfterEmpty && isSeparator(line)) starts.push(at + 1);
  }
  return starts.map((start, index) => {
    const headers = bytes.indexOf(10, start) + 1;
    const message = bytes.subarray(headers === 0 ? bytes.length : headers, starts[index + 1] ?? bytes.length);
    return unquote(message);
  });
}

/** Lines of text that begin with From are quoted in an mbox: ">From". */
function unquote(message: Buffer): Buffer {
  if (message.length > maxMailBytes) return message;
  return Buffer.from(message.toString('latin1').replace(/^>(?=>*From )/gm, ''), 'latin1');
}
