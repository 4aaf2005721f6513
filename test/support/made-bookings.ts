import type { Booking } from '../../src/booking/booking.js';
import { createLineBuffer, type LineBuffer, renderLine } from '../../src/booking/render-line.js';

/** A booking as the source writes it and as the service should receive it: already clean. */
export interface MadeBooking {
  readonly ServiceId: number;
  readonly BookingReferenceId: string;
  readonly BookingClientName: string;
  readonly ProviderName: string;
  readonly ProviderHotelId: string;
  readonly CheckInDate: string;
  readonly CheckOutDate: string;
}

interface MadeStays {
  /** The number of the first reference. */
  readonly first?: number;
  /** YYYY-MM-DD */
  readonly checkIn?: string;
  readonly checkOut?: string;
}

/** References are BR-1, BR-2, … unless they start later. */
export function makeBookings(
  count: number,
  { first = 1, checkIn = '2026-12-01', checkOut = '2026-12-08' }: MadeStays = {},
): MadeBooking[] {
  return Array.from({ length: count }, (_, index) => {
    const number = first + index;
    return {
      ServiceId: 100_000 + number,
      BookingReferenceId: `BR-${number}`,
      BookingClientName: `Guest ${number}`,
      ProviderName: number % 2 === 0 ? 'Hotelbeds' : 'Expedia',
      ProviderHotelId: `00${number}A`,
      CheckInDate: checkIn,
      CheckOutDate: checkOut,
    };
  });
}

export const bookingsHeader =
  'ServiceId,BookingReferenceId,BookingClientName,ProviderName,ProviderHotelId,CheckInDate,CheckOutDate';

/** The bookings as a CSV file; the values must need no quotes. */
export function toCsv(bookings: readonly MadeBooking[]): string {
  return [bookingsHeader, ...bookings.map((booking) => Object.values(booking).join(','))]
    .join('\n')
    .concat('\n');
}

/** `count` bookings as a CSV file. */
export const csvOf = (count: number): string => toCsv(makeBookings(count));

/** The business day of the tests. */
export const day = '2026-11-20';

/** What is rendered as one line, as text; the buffer is too small for it and has to grow. */
export function renderedLine(render: (line: LineBuffer) => void): string {
  const line = createLineBuffer(8);
  render(line);
  return line.handOver().toString();
}

/** A booking as it is stored, without a line end. */
export const lineOfBooking = (booking: Booking): string => renderedLine((line) => renderLine(booking, line));
