import { isUtf8 } from 'node:buffer';
import PostalMime, { type Attachment, type Email } from 'postal-mime';
import { createHeadings, type Headings, type VerdictWords } from './headings.js';
import { isBinary, isBlank, isDocument, looksLikeMail, maxMailBytes } from './mail-bytes.js';
import { type MailRecord, mostLines, readDelimited, readHtml, readText, UnreadMailError } from './records.js';

/*
 * What an e-mail may hold: one that exceeds it is not read. Nothing in it is decompressed.
 */
/** Lines that may separate parts. */
const mostParts = 2_000;
/** Parts within parts. */
const deepestPart = 30;
/** E-mails within e-mails. */
const mostForwards = 8;
const mostRecords = 500_000;

/** What was read so far of an e-mail and those within it. */
interface Reading {
  readonly headings: Headings;
  readonly records: MailRecord[];
  /** Parts that were not read: whatever is not known to be text, a signature or a small picture of the text. */
  unreadAttachments: number;
}

/** Reads an e-mail, or a text that somebody saved from one, such as an attached CSV file. @throws UnreadMailError */
export async function readMail(bytes: Buffer, words: VerdictWords) {
  if (bytes.length > maxMailBytes) throw new UnreadMailError('too-large');
  if (isBlank(bytes) || isBinary(bytes)) throw new UnreadMailError('no-text');
  const reading: Reading = { headings: createHeadings(words), records: [], unreadAttachments: 0 };
  const email = looksLikeMail(bytes) ? await readMessage(bytes, reading, 0) : readSaved(bytes, reading);
  const { records, unreadAttachments } = reading;
  return {
    messageId: readMessageId(email?.messageId),
    receivedAt: email && readReceived(email),
    records,
    unreadAttachments,
  };
}

function add({ records }: Reading, found: readonly MailRecord[]): void {
  if (records.length + found.length > mostRecords) throw new UnreadMailError('too-many-rows');
  for (const record of found) records.push(record);
}

/** A file that was saved from an e-mail. */
function readSaved(bytes: Buffer, reading: Reading): undefined {
  const text = decodeText(bytes);
  const isHtml = /^\s*(?:<!doctype|<html|<table|<body|<div)/i.test(text.slice(0, 1_000));
  add(reading, (isHtml ? readHtml : readDelimited)(text, reading.headings));
  if (isSealed(text)) reading.unreadAttachments += 1;
}

async function readMessage(bytes: Buffer, reading: Reading, forwards: number): Promise<Email> {
  if (forwards > mostForwards) throw new UnreadMailError('too-deep');
  if (hasMore(bytes, '\n--', mostParts)) throw new UnreadMailError('too-many-parts');
  if (hasMore(bytes, '\n', mostLines)) throw new UnreadMailError('too-many-rows');
  const email = await parse(bytes);
  const { subject = '', html = '', text = '' } = email;
  add(reading, readText(subject, reading.headings));
  const before = reading.records.length;
  add(reading, readHtml(html, reading.headings));
  add(reading, readText(text, reading.headings));
  if (isSealed(html) || isSealed(text)) reading.unreadAttachments += 1;
  // A picture may be all there is.
  const isWritten = reading.records.length > before;
  for (const attachment of email.attachments) {
    const content = Buffer.from(attachment.content as ArrayBuffer);
    const isRead = await readPart(attachment, content, reading, forwards);
    const isLeft = isSignature(attachment, content) || (isWritten && isPicture(attachment, content));
    if (!isRead && !isLeft) reading.unreadAttachments += 1;
  }
  return email;
}

/** Whether it is an e-mail or text, and so was read. */
async function readPart(attachment: Attachment, content: Buffer, reading: Reading, forwards: number) {
  if (isBinary(content)) return false;
  if (isMessage(attachment)) {
    if (!looksLikeMail(content)) return false;
    await readMessage(content, reading, forwards + 1);
    return true;
  }
  // The words of RTF are among control words, which may break a reference.
  if (!isText(attachment) || content.toString('latin1', 0, 5) === '{\\rtf') return false;
  readSaved(content, reading);
  return true;
}

async function parse(bytes: Buffer): Promise<Email> {
  try {
    // E-mails within it are read like it, so that what is in them is known to be read.
    return await PostalMime.parse(bytes, { maxNestingDepth: deepestPart, forceRfc822Attachments: true });
  } catch (error) {
    const isDeep = error instanceof Error && error.message.includes('nesting depth');
    throw new UnreadMailError(isDeep ? 'too-deep' : 'unreadable');
  }
}

/** Whether a text occurs more often than that. */
function hasMore(bytes: Buffer, wanted: string, limit: number): boolean {
  let count = 0;
  for (let at = bytes.indexOf(wanted); at !== -1; at = bytes.indexOf(wanted, at + wanted.length)) {
    count += 1;
    if (count > limit) return true;
  }
  return false;
}

function isMessage({ mimeType, filename }: Attachment): boolean {
  return mimeType === 'message/rfc822' || /\.eml$/i.test(filename ?? '');
}

function isText({ mimeType, filename }: Attachment): boolean {
  // A part of a message, or a reference to one that is elsewhere, may have any name.
  if (mimeType.startsWith('message/'))
    return /^message\/(?:delivery-status|disposition-notification|feedback-report)$/.test(mimeType);
  return /^text\/|^application\/csv$/.test(mimeType) || /\.(?:csv|tsv|txt|html?)$/i.test(filename ?? '');
}

/** Neither a logo nor a signature is larger; a picture of a table is. */
const smallBytes = 100_000;

function isSmall(content: Buffer): boolean {
  return content.length < smallBytes && !isDocument(content);
}

/** Of the text, not beside it. */
function isPicture({ mimeType, disposition, related, contentId }: Attachment, content: Buffer): boolean {
  const isInline =
    disposition !== 'attachment' && (disposition === 'inline' || related || contentId !== undefined);
  return mimeType.startsWith('image/') && isInline && isSmall(content);
}

/** Of a text that is readable by itself. */
function isSignature({ mimeType }: Attachment, content: Buffer): boolean {
  return /^application\/(?:pgp|pkcs7|x-pkcs7)-signature$/.test(mimeType) && isSmall(content);
}

/** Something encrypted, or a file written into the text by uuencode, yEnc or BinHex. */
const sealed =
  /-----BEGIN (?:PGP MESSAGE|PKCS7|CMS)-----|\(This file must be converted with BinHex|^[> ]{0,20}(?:=ybegin |begin(?:-base64)? [0-7]{3,4} \S)/m;

/** No text has them, apart from spaces and the end of a file. */
const control = /[^\P{Cc}\s\b\cZ\u0080-\u009f]/u;

/** Whether something in a text can't be read; also a large picture in HTML itself. */
function isSealed(text: string): boolean {
  const [, ...embedded] = text.split(/data:(?:image|application)\//i);
  // In base64, four characters stand for three bytes.
  const isLarge = (data: string) => !/["'>)]/.test(data.slice(0, (smallBytes / 3) * 4));
  return sealed.test(text) || control.test(text) || embedded.some(isLarge);
}

/** Anything but a plain id is left out: the e-mail's checksum identifies it. */
function readMessageId(written = ''): string | undefined {
  const id = written.trim();
  return /^<[!-~]{1,250}>$/.test(id) ? id : undefined;
}

/** When the last server received it, or else when it was written: the newest line of `Received` comes first, and ends with the time. */
function readReceived({ headers, date }: Email): number | undefined {
  const received = headers.find(({ key }) => key === 'received')?.value;
  const stamps = [received?.slice(received.lastIndexOf(';') + 1), date];
  return stamps.map((stamp) => Date.parse(stamp ?? '')).find((at) => at > 0);
}

/** Decodes a text of unknown encoding: UTF-16 by its mark, UTF-8 where it is valid, or else windows-1252. */
function decodeText(bytes: Buffer): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  return new TextDecoder(isUtf8(bytes) ? 'utf-8' : 'windows-1252').decode(bytes);
}
