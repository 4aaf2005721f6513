import { createHmac, createSecretKey } from 'node:crypto';
import type { Booking } from '../booking/booking.js';
import { hashReference } from '../booking/booking-keys.js';
import type { ErasedContent, ErasedGuest } from '../ledger/erasing.js';
import type { ReadOnlyLedger } from '../ledger/ledger.js';
import { UsageError } from '../text/usage-error.js';

/**
 * Creates the function that hashes texts under the setting `hashKey`, with HMAC-SHA-256, in hexadecimal. A reference and the
 * mark of a key have different hashes, even if their texts are equal.
 */
function createKeyedHash(hashKey: string) {
  // A text would be converted to a key object for every hash, and a day has many bookings.
  const key = createSecretKey(hashKey, 'utf8');
  return (kind: 'reference' | 'key', text: string) =>
    createHmac('sha256', key).update(`${kind}\n${text}`).digest('hex');
}

/** Tells keys apart without revealing anything about them. */
function keyIdOf(hashKey: string): string {
  return createKeyedHash(hashKey)('key', '').slice(0, 16);
}

/** One in 4,096 other references has the same bits: too few bits to tell whose they are. */
const bitMask = 0xfff;

export function rememberReference(reference: string, hashKey: string, at: number): ErasedGuest {
  const hash = createKeyedHash(hashKey)('reference', reference);
  return { hash, keyId: keyIdOf(hashKey), bits: hashReference(reference) & bitMask, at };
}

export type ErasedGuests = NonNullable<Awaited<ReturnType<typeof readErasedGuests>>>;

/**
 * The erased guests, as reading a day needs them: plain data that can be sent to another thread. Undefined if nobody was erased.
 *
 * @throws UsageError if the key with which guests were remembered is not configured: they could not be recognised
 */
export async function readErasedGuests(ledger: ReadOnlyLedger, hashKey: string | undefined) {
  const guests = await ledger.guests.listErased();
  if (guests.length === 0) return undefined;
  if (hashKey === undefined || guests.some(({ keyId }) => keyId !== keyIdOf(hashKey)))
    throw new UsageError(
      `guests were erased, and can only be recognised with the key of that time: set hashKey to that key${hashKey === undefined ? '' : '; it is a different one now'}`,
    );
  return {
    hashKey,
    bits: new Set(guests.map(({ bits }) => bits)),
    references: new Set(guests.map(({ hash }) => hash)),
  };
}

/** Recognises the bookings of erased guests. */
export function createErasedTest({ hashKey, bits, references }: ErasedGuests) {
  const hash = createKeyedHash(hashKey);
  /** False if a booking with a reference of that hash is certainly not erased. */
  const mayBe = (referenceHash: number) => bits.has(referenceHash & bitMask);
  return {
    mayBe,
    is: ({ bookingReferenceId }: Booking) =>
      bookingReferenceId !== undefined &&
      mayBe(hashReference(bookingReferenceId)) &&
      references.has(hash('reference', bookingReferenceId)),
  };
}

/** The checksum that content has now, after all erasures that changed it. */
export function followErasures(
  erased: readonly ErasedContent[],
  place: ErasedContent['place'],
  { name, sha256 }: { readonly name: string; readonly sha256: string },
): string {
  let current = sha256;
  for (const content of erased)
    if (content.place === place && content.name === name && content.before === current)
      current = content.after;
  return current;
}
