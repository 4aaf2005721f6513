import type { Booking } from '../../booking/booking.js';

/**
 * Renders a booking as an element of `Hotels` (spec 2.5), compact, a missing field left out. Normalised text holds no
 * line end, so that one item is one line.
 */
export function renderBookingItem(booking: Booking, masterIdName: string): string {
  return JSON.stringify({
    [masterIdName]: booking.serviceId,
    BookingReferenceId: booking.bookingReferenceId,
    BookingClientName: booking.bookingClientName,
    ProviderName: booking.providerName,
    ProviderHotelId: booking.providerHotelId,
    CheckInDate: booking.checkInDate,
    CheckOutDate: booking.checkOutDate,
  });
}

/** The reference of a rendered item, read back. */
export function readReference(line: string): string | undefined {
  const { BookingReferenceId } = JSON.parse(line) as { BookingReferenceId?: string };
  return BookingReferenceId;
}

/** The same items without the guests' names. */
export function blankNames(lines: Buffer): Buffer {
  const items = lines.toString().split('\n').slice(0, -1);
  return Buffer.from(items.map((item) => `${blankName(item)}\n`).join(''));
}

function blankName(line: string): string {
  const { BookingClientName: _, ...rest } = JSON.parse(line) as Record<string, unknown>;
  return JSON.stringify(rest);
}
