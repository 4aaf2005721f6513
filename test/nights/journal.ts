import type { DeliveryKind } from '../../src/rules/run.js';
import type { ChannelMode } from './channels.js';
import { allGuests, type Booked, findBooked, type Guest } from './guests.js';

/** What the outside knows, in order: what lay in the source, what the service got, and what came back. */
export type Entry = {
  /** The number of the business day that it is about. */
  readonly day: number;
} & (
  | {
      readonly kind: 'collected';
      readonly run: string;
      readonly by: DeliveryKind;
      readonly source: readonly Guest[];
      /** Before the day was over: it does not make the day good. */
      readonly isEarly: boolean;
      /** It holds only what was not delivered before. */
      readonly topsUp: boolean;
      /** Its bookings are compared with the mappings as of then. */
      readonly comparedAt: number;
      readonly today: string;
    }
  /** A run that could not be collected, or not yet. */
  | { readonly kind: 'uncollected'; readonly run: string }
  | {
      readonly kind: 'sent';
      readonly run: string;
      readonly by: DeliveryKind;
      readonly bookings: readonly Booked[];
      /** The run sent exactly this before: after a call whose answer was lost, for example. */
      readonly isRepeated: boolean;
    }
  /** A result that the run has looked at. */
  | ({
      readonly kind: 'result';
      readonly run: string;
      readonly today: string;
      /** The same object for the same file. */
      readonly written: object;
    } & Result)
  | { readonly kind: 'mail'; readonly names: readonly Guest[]; readonly today: string }
  /** It named the hotels of these guests, and no bookings. */
  | {
      readonly kind: 'mail of pairs';
      readonly names: readonly Guest[];
      readonly today: string;
      /** Epoch milliseconds. */
      readonly at: number;
    }
  /** The service told the copy of its mappings about these changes, in this order. */
  | {
      readonly kind: 'told';
      readonly today: string;
      readonly at: number;
      readonly rows: readonly Told[];
      /** There was nothing more to tell: the copy should be this by now. */
      readonly all?: ReadonlyMap<string, number | undefined>;
    }
  /** A sync is over, or nobody repeats it. */
  | {
      readonly kind: 'synced';
      readonly today: string;
      /** What it was told was compared with the bookings. */
      readonly isWatched: boolean;
    }
  /** Somebody worked on the case of a mapping. */
  | {
      readonly kind: 'helped';
      readonly pair: string;
      readonly action: 'report' | 'dismiss' | 'reopen' | 'resolve';
      readonly reference: string;
      readonly at: number;
    }
  /** Somebody accepted the affected bookings of the day as they were. */
  | { readonly kind: 'accepted' }
  /** Nothing of the name is left, said the receipt. */
  | { readonly kind: 'erased'; readonly guest: Guest }
  /** Names that were due were removed. */
  | { readonly kind: 'purged' }
  /** How the second channel takes messages from then on. */
  | { readonly kind: 'channel'; readonly mode: ChannelMode }
  /** An export of the mappings, at that instant. */
  | { readonly kind: 'export'; readonly what: 'requested' | 'arrives'; readonly at: number }
  /** The ledger is a copy that knows so many of the entries before, or there is none any more. */
  | {
      readonly kind: 'restored';
      readonly entries: number;
      readonly isGone: boolean;
      /** It is what the ledger was. */
      readonly isLatest: boolean;
    }
  /** What was said of such a ledger, after somebody tried to work with it. */
  | {
      readonly kind: 'warned';
      /** When everybody had done their work. */
      readonly at: number;
      readonly hasProblem: boolean;
      /** Before that. */
      readonly hasSent: boolean;
      /** The runs whose files in the archive were named, and those that had some there then, and once everybody had done their work. */
      readonly named: readonly string[];
      readonly archived: readonly string[];
      readonly leftOf: readonly string[];
    }
  /** Then a day without a run, or with one that failed, was reviewed again: it was sent, unless nothing of it could be. */
  | { readonly kind: 'replayed'; readonly isSent: boolean }
);

/** What a provider's hotel is mapped to by now; without `to` it is not mapped, neither to what it has `left` nor to anything else. */
export interface Told {
  readonly hotel: string;
  readonly to?: number | undefined;
  readonly left?: number | undefined;
}

export interface Result {
  readonly name: string;
  /** When it was written, as servers keep times. */
  readonly second: number;
  /** Those about bookings of ours; empty if it is about another file. */
  readonly rows: readonly Row[];
  readonly isForeign: boolean;
  /** Ours, but nobody can tell what it says: it has two columns of verdicts. */
  readonly isUnreadable: boolean;
}

interface Row {
  readonly booking: string;
  readonly isCorrect: boolean;
}

/** What the ledger can know: a copy of it that was restored knows nothing that happened after it was made. */
export function recall(everything: readonly Entry[]): readonly Entry[] {
  const at = everything.findLastIndex(({ kind }) => kind === 'restored');
  const restored = everything[at];
  if (restored?.kind !== 'restored') return everything;
  return [...recall(everything.slice(0, restored.entries)), ...everything.slice(at)];
}

const identifying = [
  ...['BookingReferenceId', 'ProviderName', 'ProviderHotelId', 'ServiceId', 'CheckInDate', 'CheckOutDate'],
];

/** All that identifies a booking: its fields but the name, as the source has them and as every surface shows them. */
export function identify(fields: object): string {
  return identifying.map((name) => String(Reflect.get(fields, name) ?? '-')).join(' ');
}

/** The reference of what `identify` returned, if it has one. */
export function referenceIn(booking: string): string[] {
  const [reference = '-'] = booking.split(' ');
  return reference === '-' ? [] : [reference];
}

/** Its reference and its mapping: what cases and e-mails know a booking by, whatever its stay. */
export function onMapping(booking: string): string {
  return booking.split(' ').slice(0, 4).join(' ');
}

/** Its provider's hotel, and the master hotel that it is taken for: what e-mails may know a mapping by. */
export function hotelOf(booking: string): string {
  return booking.split(' ').slice(1, 4).join(' ');
}

export function bookingOf(guest: Guest, day: number): string {
  return identify(findBooked(guest, day));
}

/** By day. */
const guests = new Map<number, ReadonlyMap<string, Guest>>();

function namesOn(day: number): ReadonlyMap<string, Guest> {
  const known = guests.get(day);
  if (known) return known;
  // Of two that are equal but for the name, the first.
  const named = new Map(allGuests.toReversed().map((guest) => [bookingOf(guest, day), guest]));
  guests.set(day, named);
  return named;
}

/** For people: whose booking it is. */
export function nameOf(booking: string, day: number): string {
  return namesOn(day).get(booking) ?? booking;
}
