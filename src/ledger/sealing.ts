import { createHmac, createSecretKey } from 'node:crypto';
import type { BatchStream } from '../booking/sending.js';
import { type DayKeys, KeyError } from '../storage/day-keys.js';
import { isSealed, openValue, sealValue } from '../storage/sealed-value.js';

/**
 * Creates the function that hashes texts under the setting `hashKey`, with HMAC-SHA-256, in hexadecimal. A reference and the
 * mark of a key have different hashes, even if their texts are equal.
 */
export function createKeyedHash(hashKey: string) {
  // A text would be converted to a key object for every hash, and a day has many bookings.
  const key = createSecretKey(hashKey, 'utf8');
  return (kind: 'reference' | 'key', text: string) =>
    createHmac('sha256', key).update(`${kind}\n${text}`).digest('hex');
}

/**
 * Encrypts what may hold guests' names on its way into the database, and decrypts it on its way out: the lines of
 * batches and their extra columns, the service's words, and what rejected records held. Nothing else in the ledger
 * knows about encryption. Without keys, things are stored as they are.
 */
export interface Sealing {
  sealLines(day: string, lines: Buffer, context: string): Buffer;
  /** Encrypts the lines if those that they replace were encrypted. */
  sealLike(replaced: Buffer, day: string, lines: Buffer, context: string): Buffer;
  /** @param stored as `Dialect.lines` selects them @throws KeyError */
  openLines(stored: unknown, context: string): Buffer;
  sealText(day: string, text: string | undefined, context: string): string | null;
  /** Returns the reason in place of a text that can't be read. */
  openText(stored: string | undefined, context: string): string | undefined;
  /** False without keys: then things are stored as they are. */
  readonly encrypts: boolean;
  /** The hash under the setting `hashKey`; undefined without it. */
  hashReference(reference: string): string | undefined;
}

/** Precedes encrypted bytes that are stored or selected as text, in base64. */
export const sealedMark = '\u0001';
const sealedText = `${sealedMark}sealed `;

/** @param keys undefined to store things as they are */
export function createSealing(keys: DayKeys | undefined, hashKey?: string): Sealing {
  const hash = hashKey === undefined ? undefined : createKeyedHash(hashKey);
  const sealLines: Sealing['sealLines'] = (day, lines, context) =>
    keys ? sealValue(keys, day, lines, context) : lines;
  return {
    sealLines,
    sealLike: (replaced, day, lines, context) =>
      isSealed(replaced) ? sealLines(day, lines, context) : lines,
    openLines: (stored, context) => openValue(keys, toBytes(stored), context),
    sealText(day, text, context) {
      if (text === undefined) return null;
      if (keys) return sealedText + sealValue(keys, day, Buffer.from(text), context).toString('base64');
      // A plain text must not look encrypted.
      return text.startsWith(sealedMark) ? text.slice(sealedMark.length) : text;
    },
    openText(stored, context) {
      if (!stored?.startsWith(sealedText)) return stored;
      try {
        return openValue(keys, Buffer.from(stored.slice(sealedText.length), 'base64'), context).toString();
      } catch (error) {
        if (error instanceof KeyError && isGone(error)) return `(${error.message})`;
        throw error;
      }
    },
    encrypts: keys !== undefined,
    hashReference: (reference) => hash?.('reference', reference),
  };
}

/** Whether an error concerns one day's key, not all keys. */
export function isGone({ code }: KeyError): boolean {
  return code === 'lost' || code === 'destroyed';
}

/** The context of a batch: what was encrypted for one can't be decrypted in another. */
export function contextOfBatch(run: number, stream: BatchStream, batch: number): string {
  return `${stream} batch ${batch} of the ledger's run ${run}`;
}

export function contextOfExtraColumns(run: number, stream: BatchStream, batch: number): string {
  return `the extra columns of ${contextOfBatch(run, stream, batch)}`;
}

export function contextOfAnswer(runId: string, step: string, attempt: number): string {
  return `the answer to attempt ${attempt} of ${step} in run ${runId}`;
}

export function contextOfReject(run: number, place: number): string {
  return `rejected record ${place} of the ledger's run ${run}`;
}

function toBytes(stored: unknown): Buffer {
  if (Buffer.isBuffer(stored)) return stored;
  const text = String(stored);
  return text.startsWith(sealedMark)
    ? Buffer.from(text.slice(sealedMark.length), 'base64')
    : Buffer.from(text);
}
