import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { codeOf } from '../../base/safe-error.js';
import { isNoMail, maxMailBytes } from './mail-bytes.js';
import { createMailbox, type Mailbox, MailboxError, type MailboxLook } from './mailbox.js';

/** Enough to find out who sent an e-mail. */
const headBytes = 256 * 1024;

/** A maildir: e-mails are delivered to `new`, and moved to `cur` by any program that has seen them. */
export function openMaildir(folder: string, clock: () => number): Mailbox {
  async function look(): Promise<MailboxLook> {
    const files = new Map(
      await explain(folder, async () => [
        ...(await listFiles(join(folder, 'new'))),
        ...(await listFiles(join(folder, 'cur'))),
      ]),
    );
    return {
      keys: [...files.keys()],
      async fetch(key) {
        const { path = '', changedAt: savedAt } = files.get(key) ?? {};
        // Senders and mail programs choose the names of files, so nothing else gets to know them.
        const file = await explain(`a file in ${folder}`, () => readFile(path));
        const found = { from: folder, key };
        // It is listed the next time.
        if (file === 'moved') return [];
        if (file === undefined) return [{ ...found, savedAt, fault: 'not-fetched' }];
        if (!file.isWhole) return [{ ...found, arrivedAt: savedAt, fault: 'too-large', head: file.bytes }];
        return splitMails(file.bytes).map((bytes) => ({ ...found, savedAt, bytes }));
      },
      end() {},
    };
  }
  return createMailbox(folder, look, clock);
}

/** Of one of its two folders, by their keys, the oldest first. */
async function listFiles(folder: string) {
  const files: [key: string, file: { readonly path: string; readonly changedAt: number }][] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    const found = entry.isFile() && (await stat(path).catch(() => undefined));
    // Flags are appended to the name after a colon.
    const key = entry.name.replace(/:2,[^:]*$/, '');
    if (found) files.push([key, { path, changedAt: Math.floor(found.mtimeMs) }]);
  }
  return files.sort(([, a], [, b]) => a.changedAt - b.changedAt || (a.path < b.path ? -1 : 1));
}

/** Codes of a file that is there, and can't be read or decompressed. Others are about the folder, or about this machine. */
const ofFile = /^(?:EACCES|EPERM|EIO|Z_.*)$/;

/** Undefined for a file that holds no e-mail. */
async function readFile(path: string) {
  try {
    const start = await readUpTo(createReadStream(path, { end: gzipMark.length - 1 }), gzipMark.length);
    const isCompressed = start.bytes.equals(gzipMark);
    const file = await readUpTo(isCompressed ? decompress(path) : createReadStream(path), maxMailBytes);
    return isNoMail(file.bytes) ? undefined : file;
  } catch (error) {
    const code = codeOf(error) ?? '';
    if (code === 'ENOENT') return 'moved';
    if (ofFile.test(code)) return undefined;
    throw error;
  }
}

/** Some mail servers compress what they store. No e-mail begins like this. */
const gzipMark = Buffer.from('1f8b08', 'hex');

function decompress(path: string): Readable {
  const file = createReadStream(path);
  const plain = createGunzip();
  file.on('error', (error) => plain.destroy(error));
  plain.on('close', () => file.destroy());
  return file.pipe(plain);
}

/** All that a stream has, or the beginning if that is too much. */
async function readUpTo(stream: Readable, limit: number) {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > limit) return { bytes: Buffer.concat(chunks).subarray(0, headBytes), isWhole: false };
  }
  return { bytes: Buffer.concat(chunks), isWhole: true };
}

async function explain<Result>(location: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw new MailboxError(`${location} can't be read (${codeOf(error) ?? 'unexpected error'})`, false, {
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
