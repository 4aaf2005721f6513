import PostalMime, { type Attachment, type Email } from 'postal-mime';
import { createHeadings, type Headings, type VerdictWords } from './headings.js';
import { readHtml } from './html-records.js';
import type { MailRecord } from './mail-record.js';
import { decodeText, isBinary, looksLikeMail } from './mail-text.js';
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
  /** Attachments that are not text, such as spreadsheets: they are not read. */
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
      : { records: readSaved(bytes, headings), unreadAttachments: 0 };
    if (read.records.length > limits.maxRecords) throw new UnreadableMailError('too-many-rows');
    return read;
  };
}

/** A file that was saved from an e-mail. */
function readSaved(bytes: Buffer, headings: Headings): MailRecord[] {
  const text = decodeText(bytes);
  const isHtml = /^\s*(?:<!doctype|<html|<table|<body|<div)/i.test(text.slice(0, 1_000));
  return isHtml ? readHtml(text, headings) : readDelimited(text, headings);
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
  let unreadAttachments = 0;
  for (const attachment of email.attachments) {
    const content = Buffer.from(attachment.content as ArrayBuffer);
    if (isMessage(attachment)) {
      const inner = await readMessage(content, headings, limits, forwards + 1);
      for (const record of inner.records) records.push(record);
      unreadAttachments += inner.unreadAttachments;
    } else if (isText(attachment) && !isBinary(content)) {
      for (const record of readSaved(content, headings)) records.push(record);
    } else if (!isDecoration(attachment)) unreadAttachments += 1;
    if (records.length > limits.maxRecords) throw new UnreadableMailError('too-many-rows');
  }
  return {
    messageId: readMessageId(email.messageId),
    receivedAt: readReceived(email),
    records,
    unreadAttachments,
  };
}

async function parse(bytes: Uint8Array, { maxDepth, maxForwards }: MailLimits): Promise<Email> {
  try {
    return await PostalMime.parse(bytes, { maxNestingDepth: maxDepth, maxRfc822NestingDepth: maxForwards });
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
  if (mimeType === 'text/calendar') return false;
  return /^text\/|^application\/csv$/.test(mimeType) || /\.(?:csv|tsv|txt|html?)$/i.test(filename ?? '');
}

/** Logos, signatures and reports of delivery. */
function isDecoration({ mimeType, related }: Attachment): boolean {
  return (
    related === true ||
    /^image\/|^application\/(?:pgp|pkcs7|x-pkcs7)|^message\/|^text\/calendar$/.test(mimeType)
  );
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
