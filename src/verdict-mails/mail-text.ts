import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';

/** Decodes a text of unknown encoding: UTF-16 by its mark, UTF-8 where it is valid, or else windows-1252. */
export function decodeText(bytes: Buffer): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  return new TextDecoder(isUtf8(bytes) ? 'utf-8' : 'windows-1252').decode(bytes);
}

/** ZIP (and so XLSX), PDF, gzip, the old Office format, 7-Zip and RAR. */
const signatures = ['504b0304', '504b0506', '25504446', '1f8b', 'd0cf11e0', '377abcaf', '52617221'];

/** Whether bytes are a spreadsheet, a ZIP file or the like, whatever they are called. */
export function isDocument(bytes: Buffer): boolean {
  const start = bytes.toString('hex', 0, 4);
  return signatures.some((signature) => start.startsWith(signature));
}

/** Whether bytes are not text but, for example, a spreadsheet or a ZIP file. */
export function isBinary(bytes: Buffer): boolean {
  if (isDocument(bytes)) return true;
  const start = bytes.toString('hex', 0, 2);
  const isUtf16 = start.startsWith('fffe') || start.startsWith('feff');
  return !isUtf16 && bytes.subarray(0, examinedBytes).includes(0);
}

/** How far an e-mail's headers are looked at. */
const examinedBytes = 16_384;
const headerLine = /^[!-9;-~]+[ \t]*:/;
/** Some of these are in every e-mail, and in no list of bookings. */
const mailHeader =
  /^(?:from|to|received|return-path|delivered-to|message-id|mime-version|content-type|content-transfer-encoding|x-[a-z-]+)[ \t]*:/i;

/** Whether bytes begin with the headers of an e-mail. */
export function looksLikeMail(bytes: Uint8Array): boolean {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, examinedBytes)).toString(
    'latin1',
  );
  const lines = start.replace(/^(?:\r?\n)+/, '').split(/\r?\n/);
  const end = lines.indexOf('');
  const headers = (end === -1 ? lines.slice(0, -1) : lines.slice(0, end)).filter(
    (line) => !/^[ \t]/.test(line),
  );
  return headerLine.test(headers[0] ?? '') && headers.some((line) => mailHeader.test(line));
}

const fromLine = Buffer.from('From ');
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
  if (!bytes.subarray(0, fromLine.length).equals(fromLine)) return [bytes];
  const starts = [...findSeparators(bytes)];
  return starts.map((start, index) => {
    const headers = bytes.indexOf(10, start) + 1;
    const message = bytes.subarray(headers === 0 ? bytes.length : headers, starts[index + 1] ?? bytes.length);
    return unquote(message);
  });
}

/** A separator is the first line, or follows an empty one. */
function* findSeparators(bytes: Buffer): Generator<number, void, undefined> {
  yield 0;
  for (let at = bytes.indexOf('\nFrom '); at !== -1; at = bytes.indexOf('\nFrom ', at + 1)) {
    const isAfterEmpty = bytes[at - 1] === 10 || (bytes[at - 1] === 13 && bytes[at - 2] === 10);
    const end = bytes.indexOf(10, at + 1);
    const line = bytes
      .subarray(at + 1, Math.min(end === -1 ? bytes.length : end, at + 300))
      .toString('latin1');
    if (isAfterEmpty && isSeparator(line)) yield at + 1;
  }
}

const quoteMark = 62;

/** Lines of text that begin with From are quoted in an mbox. Byte by byte: an e-mail may consist of such lines. */
function unquote(message: Buffer): Buffer {
  const text = Buffer.allocUnsafe(message.length);
  let length = 0;
  for (let at = 0; at < message.length; at += 1) {
    const isStart = at === 0 || message[at - 1] === 10;
    if (isStart && isQuotedFrom(message, at)) continue;
    text[length] = message[at] ?? 0;
    length += 1;
  }
  return text.subarray(0, length);
}

function isQuotedFrom(message: Buffer, start: number): boolean {
  let at = start;
  while (message[at] === quoteMark) at += 1;
  return at > start && message.subarray(at, at + fromLine.length).equals(fromLine);
}

/**
 * The checksum by which an e-mail is known again; a copy may have other line ends. Byte by byte: an e-mail may consist of them.
 */
export function identifyMail(bytes: Buffer): string {
  const plain = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at] === 13 && bytes[at + 1] === 10) continue;
    plain[length] = bytes[at] ?? 0;
    length += 1;
  }
  return createHash('sha256').update(plain.subarray(0, length)).digest('hex');
}
