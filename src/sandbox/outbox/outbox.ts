import type { TextProperty } from '../common/fields.js';
import type { HotelDirectory } from '../world/world.js';
import { createMailer, type MailerOptions } from './mailer.js';

/**
 * A booking whose provider hotel is not the master hotel that was booked. Fields it didn't have are absent; dates are
 * YYYY-MM-DD.
 */
export interface IncorrectMapping extends Readonly<Partial<Record<TextProperty, string>>> {
  readonly serviceId: number;
}

/** The content of an e-mail about a review. */
export interface Notice {
  /** What was reviewed: "the request body of 14:03:07" or "VerifyMappings/112026/20112026.csv". */
  readonly about: string;
  /** The affected bookings, or at least the first `maxListedBookings` of them. */
  readonly incorrect: readonly IncorrectMapping[];
  /** The number of affected bookings, where `incorrect` doesn't have them all. */
  readonly count?: number;
}

/** Holds the e-mails about reviews that the service would have sent. */
export interface Outbox {
  /**
   * Writes an e-mail as an `.eml` file, complete or not at all. Concurrent calls don't disturb each other.
   *
   * @returns its path
   * @throws a system error when the folder can't be written
   */
  notify(notice: Notice): Promise<string>;
}

export interface OutboxOptions extends MailerOptions {
  readonly to: string;
  readonly world: HotelDirectory;
}

/** An e-mail lists this many bookings and gives the number of the others. */
export const maxListedBookings = 1_000;

const unprintable = /[\p{Cc}\u2028\u2029]+/gu;

export function createOutbox({ to, world, ...options }: OutboxOptions): Outbox {
  const mailer = createMailer(options);
  return {
    notify: ({ about, incorrect, count = incorrect.length }) =>
      mailer.post({
        to,
        subject: `Incorrect hotel mappings: ${count === 1 ? '1 booking is' : `${count} bookings are`} affected`,
        // Data of bookings goes into the text only, so it can't inject headers.
        text: renderText({ about, incorrect, count }, world),
      }),
  };
}

function renderText({ about, incorrect, count }: Required<Notice>, world: HotelDirectory): string {
  const listed = incorrect.slice(0, maxListedBookings);
  const found = count === 1 ? '1 booking' : `${count} bookings`;
  const paragraphs = [
    `The review of ${toOneLine(about)} found ${found} whose provider hotel is not the hotel that was booked. ` +
      'Please look after the guests before they arrive.',
    ...listed.map((booking) => renderBooking(booking, world)),
    ...(count > listed.length ? [`… and ${count - listed.length} more.`] : []),
  ];
  return `${paragraphs.join('\n\n')}\n`;
}

function renderBooking(booking: IncorrectMapping, world: HotelDirectory): string {
  const { serviceId, providerName, providerHotelId, checkInDate, checkOutDate } = booking;
  const actual =
    providerName !== undefined && providerHotelId !== undefined
      ? world.serviceIdOf(providerName, providerHotelId)
      : undefined;
  return [
    toOneLine(booking.bookingReferenceId, '(no reference)'),
    `  Guest:     ${toOneLine(booking.bookingClientName)}`,
    `  Stay:      ${toOneLine(checkInDate)} to ${toOneLine(checkOutDate)}`,
    `  Provider:  ${toOneLine(providerName)}, hotel ${toOneLine(providerHotelId)}`,
    `  Booked:    ${renderHotel(serviceId, world)}`,
    `  Really is: ${actual === undefined ? 'a hotel that the service does not know' : renderHotel(actual, world)}`,
  ].join('\n');
}

function renderHotel(serviceId: number, world: HotelDirectory): string {
  const hotel = world.hotelOf(serviceId);
  if (!hotel) return `${serviceId}, a hotel that the service does not know`;
  return `${serviceId}, ${hotel.name} (${hotel.country})`;
}

function toOneLine(text: string | undefined, absent = '(not given)'): string {
  return text === undefined ? absent : text.replace(unprintable, ' ');
}
