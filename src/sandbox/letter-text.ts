import type { IncorrectMapping, Notice } from './outbox.js';
import type { HotelDirectory } from './world.js';

/** A letter lists so many bookings, and counts the others. */
export const listedBookings = 1_000;

const unprintable = /[\p{Cc}\u2028\u2029]+/gu;

/** Creates the writer of the letters' text: what was reviewed, and each affected booking with what it really is. */
export function createLetterWriter(world: HotelDirectory): (notice: Required<Notice>) => string {
  function describeBooking(booking: IncorrectMapping): string {
    const { serviceId, providerName, providerHotelId, checkInDate, checkOutDate } = booking;
    const reallyIs =
      providerName !== undefined && providerHotelId !== undefined
        ? world.serviceIdOf(providerName, providerHotelId)
        : undefined;
    return [
      write(booking.bookingReferenceId, '(no reference)'),
      `  Guest:     ${write(booking.bookingClientName)}`,
      `  Stay:      ${write(checkInDate)} to ${write(checkOutDate)}`,
      `  Provider:  ${write(providerName)}, hotel ${write(providerHotelId)}`,
      `  Booked:    ${describeHotel(serviceId)}`,
      `  Really is: ${reallyIs === undefined ? 'a hotel that the service does not know' : describeHotel(reallyIs)}`,
    ].join('\n');
  }

  function describeHotel(serviceId: number): string {
    const hotel = world.hotelOf(serviceId);
    if (!hotel) return `${serviceId}, a hotel that the service does not know`;
    return `${serviceId}, ${hotel.name} (${hotel.country})`;
  }

  return ({ about, incorrect, count }) => {
    const listed = incorrect.slice(0, listedBookings);
    const found = count === 1 ? '1 booking' : `${count} bookings`;
    const paragraphs = [
      `The review of ${write(about)} found ${found} whose provider hotel is not the hotel that was booked. ` +
        'Please look after the guests before they arrive.',
      ...listed.map(describeBooking),
      ...(count > listed.length ? [`… and ${count - listed.length} more.`] : []),
    ];
    return `${paragraphs.join('\n\n')}\n`;
  };
}

/** On one line, whatever it holds. */
function write(text: string | undefined, absent = '(not given)'): string {
  return text === undefined ? absent : text.replace(unprintable, ' ');
}
