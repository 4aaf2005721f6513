import type { MappingRow } from '../../src/ledger/mappings.js';
import { type MadeBooking, makeBookings } from '../support/made-bookings.js';
import { type BroughtRows, mappingOf } from '../support/mapping-truth.js';

const dayMs = 86_400_000;
export const guest = 'Canaria Zwitscherfink';

/** What is reported of a suspect. */
export interface ReportedSuspect {
  readonly BookingReferenceId: string;
  readonly ServiceId: number;
  readonly ProviderName: string;
  readonly ProviderHotelId: string;
  readonly CheckInDate: string;
  readonly CheckOutDate: string;
  readonly reason: string;
  readonly copyServiceId: number | null;
  readonly copy: 'mapped' | 'unmapped';
  readonly movedAt: string | null;
}

/** The states that the local copy can have for a booking's hotel, in rotation. */
const histories = [
  'never seen',
  'another master',
  'moved lately',
  'moved long ago',
  'deleted lately',
  'deleted long ago',
  'moved lately to another master',
  'as booked',
  'as booked',
  'as booked',
] as const;

/** Bookings of one guest whose hotels are in all these states in the local copy, and which of them are suspects. */
export function makeDoubtedBookings(count: number, now: number) {
  const bookings = makeBookings(count).map((booking) => ({ ...booking, BookingClientName: guest }));
  const [first, longAgo, lately] = [now - 100 * dayMs, now - 50 * dayMs, now - 2 * dayMs];
  const movedAt = new Date(lately).toISOString();
  const rows: readonly [MappingRow[], MappingRow[], MappingRow[]] = [[], [], []];
  const suspects: ReportedSuspect[] = [];

  const suspect = (
    booking: MadeBooking,
    doubt: Pick<ReportedSuspect, 'reason' | 'copyServiceId' | 'movedAt'>,
  ) => {
    const { BookingClientName: _, ...reported } = booking;
    const copy = doubt.copyServiceId === null ? 'unmapped' : 'mapped';
    suspects.push({ ...reported, ...doubt, copy });
  };

  for (const [index, booking] of bookings.entries()) {
    const asBooked = mappingOf(booking);
    const elsewhere = (serviceId: number) => ({ ...asBooked, serviceId });
    const history = histories[index % histories.length] ?? 'as booked';
    switch (history) {
      case 'never seen':
        break;
      case 'another master':
        rows[0].push(elsewhere(1));
        suspect(booking, { reason: 'other-master', copyServiceId: 1, movedAt: null });
        break;
      case 'moved lately':
        rows[0].push(elsewhere(1));
        rows[2].push(asBooked);
        suspect(booking, { reason: 'moved', copyServiceId: booking.ServiceId, movedAt });
        break;
      case 'moved long ago':
        rows[0].push(elsewhere(1));
        rows[1].push(asBooked);
        break;
      case 'deleted lately':
        rows[0].push(asBooked);
        rows[2].push({ ...asBooked, isDeleted: true });
        suspect(booking, { reason: 'moved', copyServiceId: null, movedAt });
        break;
      case 'deleted long ago':
        rows[0].push(asBooked);
        rows[1].push({ ...asBooked, isDeleted: true });
        break;
      case 'moved lately to another master':
        rows[0].push(asBooked);
        rows[2].push(elsewhere(2));
        suspect(booking, { reason: 'other-master', copyServiceId: 2, movedAt });
        break;
      case 'as booked':
        rows[0].push(asBooked);
        break;
    }
  }
  const brought: BroughtRows[] = [
    { at: first, rows: rows[0] },
    { at: longAgo, rows: rows[1] },
    { at: lately, rows: rows[2] },
  ];
  return { bookings, brought, suspects };
}
