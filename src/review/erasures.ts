import type { Booking } from '../booking/booking.js';
import { hashReference } from '../booking/reference-hash.js';
import type { ReadOnlyLedger } from '../ledger/ledger.js';
import { UsageError } from '../text/usage-error.js';
import { createKeyedHash, foldName, keyIdOf } from './hash-key.js';
import type { BookingForm } from './step.js';

/** What is remembered of an erased guest: nothing that reveals reference or name. */
export interface ErasedGuest {
  readonly kind: 'reference' | 'name';
  /** Keyed, in hexadecimal. */
  readonly hash: string;
  /** Identifies that key, to check that the same one is configured. */
  readonly keyId: string;
  /** A few bits of the reference's hash, so that most bookings need no keyed hash; 0 for a name. */
  readonly bits: number;
  readonly at: number;
}

/** A file, or a run's bookings in the ledger, that an erasure has changed; checksums in hexadecimal. */
export interface ErasedContent {
  readonly place: 'ledger' | 'archive' | 'sftp';
  /** The file's name; of a batch in the ledger, its form and number. */
  readonly name: string;
  readonly before: string;
  readonly after: string;
  readonly at: number;
}

export type EraseLines = (
  lines: Buffer,
  batch: { readonly form: BookingForm; readonly batch: number },
) => ErasedLines | undefined;

export interface ErasedLines {
  /** The erased guest's bookings: their kept columns go, whether or not the lines change. */
  readonly places: readonly number[];
  /** Absent if the lines stay as they are. */
  readonly changed?: {
    readonly lines: Buffer;
    readonly content: ErasedContent;
    /** Bookings whose stay was erased, by their place in the batch: nobody finds them by their hotel any more. */
    readonly stays?: readonly { readonly place: number; readonly hotelHash: number }[];
  };
}

/** One in 4,096 other references has the same bits: too few bits to tell whose they are. */
const bitMask = 0xfff;

export function rememberReference(reference: string, hashKey: string, at: number): ErasedGuest {
  const hash = createKeyedHash(hashKey)('reference', reference);
  return { kind: 'reference', hash, keyId: keyIdOf(hashKey), bits: hashReference(reference) & bitMask, at };
}

/** The erased guests, as reading a day needs them. Plain data that can be sent to another thread. */
export interface ErasedGuests {
  readonly hashKey: string;
  readonly bits: ReadonlySet<number>;
  readonly references: ReadonlySet<string>;
  readonly names: ReadonlySet<string>;
}

/**
 * Undefined if nobody was erased.
 *
 * @throws UsageError if the key with which guests were remembered is not configured: they could not be recognised
 */
export async function readErasedGuests(
  ledger: ReadOnlyLedger,
  hashKey: string | undefined,
): Promise<ErasedGuests | undefined> {
  const guests = await ledger.guests.listErased();
  if (guests.length === 0) return undefined;
  if (hashKey === undefined || guests.some(({ keyId }) => keyId !== keyIdOf(hashKey)))
    throw new UsageError(
      `guests were erased, and can only be recognised with the key of that time: set hashKey to that key${hashKey === undefined ? '' : '; it is a different one now'}`,
    );
  const hashesOf = (kind: ErasedGuest['kind']) =>
    new Set(guests.filter((guest) => guest.kind === kind).map(({ hash }) => hash));
  const references = hashesOf('reference');
  const bits = new Set(guests.filter(({ kind }) => kind === 'reference').map((guest) => guest.bits));
  return { hashKey, bits, references, names: hashesOf('name') };
}

/** Recognises the bookings of erased guests. */
export function createErasedTest({ hashKey, bits, references, names }: ErasedGuests) {
  const hash = createKeyedHash(hashKey);
  /** False if a booking with a reference of that hash is certainly not erased by its reference. */
  const mayBe = (referenceHash: number) => bits.has(referenceHash & bitMask);
  return {
    /** True if a booking can't be judged by its reference alone. */
    asksForName: names.size > 0,
    mayBe,
    is({ bookingReferenceId, bookingClientName }: Booking): boolean {
      if (bookingReferenceId !== undefined && bits.has(hashReference(bookingReferenceId) & bitMask))
        if (references.has(hash('reference', bookingReferenceId))) return true;
      if (names.size === 0 || bookingClientName === undefined) return false;
      return names.has(hash('name', foldName(bookingClientName)));
    },
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
