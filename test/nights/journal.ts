import type { DeliveryKind } from '../../src/ledger/run.js';
import { allGuests, type Booked, findBooked, type Guest } from './history.js';

/** What the outside knows of a day, in order: what lay in the source, what the service got, and what came back. */
export type Entry =
  | {
      readonly kind: 'collected';
      readonly run: string;
      readonly by: DeliveryKind;
      readonly source: readonly Guest[];
    }
  | {
      readonly kind: 'sent';
      readonly run: string;
      readonly by: DeliveryKind;
      readonly bookings: readonly Booked[];
    }
  /** A result that the run has looked at. */
  | ({ readonly kind: 'result'; readonly run: string } & Result)
  | { readonly kind: 'mail'; readonly names: readonly Guest[] }
  /** Somebody accepted the affected bookings of the day as they were. */
  | { readonly kind: 'accepted' };

export interface Result {
  readonly name: string;
  /** When it was written, as servers keep times. */
  readonly second: number;
  /** Those about bookings of ours; empty if it is about another file. */
  readonly rows: readonly Row[];
  readonly isForeign: boolean;
}

interface Row {
  readonly booking: string;
  readonly isCorrect: boolean;
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

const guests = new Map<string, Guest>();
for (const guest of allGuests) {
  const booking = bookingOf(guest);
  if (!guests.has(booking)) guests.set(booking, guest);
}

/** For people: whose booking it is; of two that are equal but for the name, the first. */
export function nameOf(booking: string): string {
  return guests.get(booking) ?? booking;
}

export function bookingOf(guest: Guest): string {
  return identify(findBooked(guest));
}
