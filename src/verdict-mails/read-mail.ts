import PostalMime, { type Attachment, type Email } from 'postal-mime';
import { createHeadings, type Headings, type VerdictWords } from './headings.js';
import { readHtml } from './html-records.js';
import type { MailRecord } from './mail-record.js';
import { decodeText, isBinary, isDocument, looksLikeMail } from './mail-text.js';
import { readDelimited, readText } from './text-records.js';
import { UnreadableMailError } from './unreadable-mail.js';

/** What an e-mail may hold: one that exceeds it is not read. Nothing in it is decompressed. */
export interface MailLimits {
  readonly maxBytes: number;
  /** Lines that may separate parts. */
  readonly maxParts: number;
  /** Parts within parts. */
  readonly maxDepth: number;
  /** E-mails within e-mails. */
  readonly maxForwards: number;
  readonly maxRecords: number;
  /** As written: an attachment of the largest size in base64 has fewer. */
  readonly maxLines: number;
}

export const defaultLimits: MailLimits = {
  maxBytes: 25 * 1024 * 1024,
  maxParts: 2_000,
  maxDepth: 30,
  maxForwards: 8,
  maxRecords: 500_000,
  maxLines: 500_000,
};

export interface ReadMail {
  readonly messageId?: string | undefined;
  /** When the last server received it, or else when it was written, in epoch milliseconds. */
  readonly receivedAt?: number | undefined;
  readonly records: readonly MailRecord[];
  /** Parts that were not read: whatever is not known to be text, a signature or a small picture of the text. */
  readonly unreadAttachments: number;
}

export type ReadBytes = (bytes: Buffer) => Promise<ReadMail>;

/** Reads e-mails, and texts that somebody saved from one, such as an attached CSV file. */
export function createMailReader(words: VerdictWords, limits: MailLimits = defaultLimits): ReadBytes {
  const headings = createHeadings(words);
  return async (bytes) => {
    if (bytes.length > limits.maxBytes) throw new UnreadableMailError('too-large');
    if (isBinary(bytes)) throw new UnreadableMailError('no-text');
    const read = looksLikeMail(bytes)
      ? await readMessage(bytes, headings, limits, 0)
      : readSaved(bytes, headings);
    if (read.records.length > limits.maxRecords) throw new UnreadableMailError('too-many-rows');
    return read;
  };
}

/** A file that was saved from an e-mail. */
function readSaved(bytes: Buffer, headings: Headings): ReadMail {
  const text = decodeText(bytes);
  const isHtml = /^\s*(?:<!doctype|<html|<table|<body|<div)/i.test(text.slice(0, 1_000));
  const records = isHtml ? readHtml(text, headings) : readDelimited(text, headings);
  return { records, unreadAttachments: countSealed([text]) };
}

async function readMessage(
  bytes: Uint8Array,
  headings: Headings,
  limits: MailLimits,
  forwards: number,
): Promise<ReadMail> {
  if (forwards > limits.maxForwards) throw new UnreadableMailError('too-deep');
  if (hasMore(bytes, '\n--', limits.maxParts)) throw new UnreadableMailError('too-many-parts');
  if (hasMore(bytes, '\n', limits.maxLines)) throw new UnreadableMailError('too-many-rows');
  const email = await parse(bytes, limits);
  const records = [
    readText(email.subject ?? '', headings),
    readHtml(email.html ?? '', headings),
    readText(email.text ?? '', headings),
  ].flat();
  let unreadAttachments = countSealed([email.html, email.text]);
  let pictures = 0;
  for (const attachment of email.attachments) {
    const content = Buffer.from(attachment.content as ArrayBuffer);
    const inner = await readPart(attachment, content, headings, limits, forwards);
    if (inner) {
      for (const record of inner.records) records.push(record);
      unreadAttachments += inner.unreadAttachments;
    } else if (isPicture(attachment, content)) pictures += 1;
    else if (!isSignature(attachment, content)) unreadAttachments += 1;
    if (records.length > limits.maxRecords) throw new UnreadableMailError('too-many-rows');
  }
  // A picture may be all there is.
  const isWritten = [email.html, email.text].some((text) => readText(text ?? '', headings).length > 0);
  return {
    messageId: readMessageId(email.messageId),
    receivedAt: readReceived(email),
    records,
    unreadAttachments: unreadAttachments + (isWritten ? 0 : pictures),
  };
}

/** Undefined for what is neither an e-mail nor text. */
async function readPart(
  attachment: Attachment,
  content: Buffer,
  headings: Headings,
  limits: MailLimits,
  forwards: number,
): Promise<ReadMail | undefined> {
  if (isBinary(content)) return undefined;
  if (isMessage(attachment))
    return looksLikeMail(content) ? readMessage(content, headings, limits, forwards + 1) : undefined;
  return isText(attachment) && !isRichText(content) ? readSaved(content, headings) : undefined;
}

async function parse(bytes: Uint8Array, { maxDepth }: MailLimits): Promise<Email> {
  try {
    // E-mails within it are read like it, so that what is in them is known to be read.
    return await PostalMime.parse(bytes, { maxNestingDepth: maxDepth, forceRfc822Attachments: true });
  } catch (error) {
    const isDeep = error instanceof Error && error.message.includes('nesting depth');
    throw new UnreadableMailError(isDeep ? 'too-deep' : 'unreadable');
  }
}

/** Whether a text occurs more often than that. */
function hasMore(bytes: Uint8Array, wanted: string, limit: number): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let count = 0;
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) {
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

/** Its words are among control words, which may break a reference. */
function isRichText(content: Buffer): boolean {
  return content.subarray(0, 5).toString('latin1') === '{\\rtf';
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
  return mimeType.startsWith('image/') && isInline === true && isSmall(content);
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

/** A large picture in HTML itself. In base64, four characters stand for three bytes. */
function hasEmbedded(text: string): boolean {
  const [, ...embedded] = text.split(/data:(?:image|application)\//i);
  return embedded.some((data) => !/["'>)]/.test(data.slice(0, (smallBytes / 3) * 4)));
}

function countSealed(texts: readonly (string | undefined)[]): number {
  const isSealed = (text: string) => sealed.test(text) || control.test(text) || hasEmbedded(text);
  return texts.some((text) => text !== undefined && isSealed(text)) ? 1 : 0;
}

/** Anything but a plain id is left out: the e-mail's checksum identifies it. */
function readMessageId(written: string | undefined): string | undefined {
  const id = written?.trim();
  return id !== undefined && /^<[!-~]{1,250}>$/.test(id) ? id : undefined;
}

/** The newest line of `Received` comes first, and ends with the time. */
function readReceived({ headers, date }: Email): number | undefined {
  const received = headers.find(({ key }) => key === 'received')?.value;
  const stamps = [received?.slice(received.lastIndexOf(';') + 1), date];
  return stamps.map((stamp) => Date.parse(stamp ?? '')).find((at) => at > 0);
}
