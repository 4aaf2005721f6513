import { createHmac, createSecretKey } from 'node:crypto';
import type { BatchStream } from '../booking/sending.js';
import { type DayKeys, KeyError } from '../storage/day-keys.js';
import { isSealed, openValue, sealValue } from '../storage/sealed.js';
import { toStorable } from './query.js';

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
export type Sealing = ReturnType<typeof createSealing>;

/** @param keys undefined to store things as they are */
export function createSealing(keys: DayKeys | undefined, hashKey?: string) {
  const hash = hashKey === undefined ? undefined : createKeyedHash(hashKey);
  const seal = (day: string, value: Buffer, context: string) =>
    keys ? sealValue(keys, day, value, context) : value;
  const open = (stored: Buffer, context: string) => openValue(keys, stored, context);
  return {
    seal,
    /** Encrypts the value if the one that it replaces was encrypted. */
    sealLike: (replaced: Buffer, day: string, value: Buffer, context: string) =>
      isSealed(replaced) ? seal(day, value, context) : value,
    /** @throws KeyError */
    open,
    /** Undefined where the day's key is gone. @throws KeyError for any other reason */
    openIfThere: (stored: Buffer, context: string) => unlessGone(() => open(stored, context)),
    sealText: (day: string, text: string | undefined, context: string) =>
      text === undefined ? undefined : seal(day, Buffer.from(toStorable(text)), context),
    /** Returns the reason in place of a text that can't be read. */
    openText: (stored: Buffer | undefined, context: string) =>
      stored &&
      unlessGone(
        () => open(stored, context).toString(),
        ({ message }) => `(${message})`,
      ),
    /** False without keys: then things are stored as they are. */
    encrypts: keys !== undefined,
    /** The hash under the setting `hashKey`; undefined without it. */
    hashReference: (reference: string) => hash?.('reference', reference),
  };
}

/** Where the error concerns one day's key, not all keys, there is something else instead. */
function unlessGone<Value>(
  open: () => Value,
  instead: (error: KeyError) => Value | undefined = () => undefined,
): Value | undefined {
  try {
    return open();
  } catch (error) {
    if (error instanceof KeyError && (error.code === 'lost' || error.code === 'destroyed'))
      return instead(error);
    throw error;
  }
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
