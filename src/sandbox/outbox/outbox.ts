import type { TextProperty } from '../common/fields.js';
import type { World } from '../world/world.js';
import { createMailer, type MailerOptions } from './mailer.js';

/** A booking as submitted: fields it doesn't have are absent, dates are YYYY-MM-DD. (Spec 2.5.) */
export interface BookedHotel extends Readonly<Partial<Record<TextProperty, string>>> {
  readonly serviceId: number;
}

/** The content of an e-mail about a review. */
export interface Notice {
  /** What was reviewed: "the request body of 14:03:07" or "VerifyMappings/112026/20112026.csv". */
  readonly about: string;
  /** The affected bookings, or at least the first `maxListedBookings` of them. */
  readonly incorrect: readonly BookedHotel[];
  /** The number of affected bookings, where `incorrect` doesn't have them all. */
  readonly count?: number;
}

/** An e-mail lists this many bookings and gives the number of the others. */
export const maxListedBookings = 1_000;

/** Holds the e-mails about reviews that the service would have sent. */
export interface Outbox {
  /** Like `post` of the mailer, whose path it returns. */
  notify(notice: Notice): Promise<string>;
}

export function createOutbox({
  to,
  world,
  ...options
}: MailerOptions & { readonly to: string; readonly world: World }): Outbox {
  const mailer = createMailer(options);
  return {
    notify: ({ about, incorrect, count = incorrect.length }) =>
      mailer.post({
        to,
        subject: `Incorrect hotel mappings: ${count === 1 ? '1 booking is' : `${count} bookings are`} affected`,
        // Data of bookings goes into the content only, so it can't inject headers.
        text: renderNotice({ about, incorrect, count }, world),
      }),
  };
}

function renderNotice({ about, incorrect, count }: Required<Notice>, world: World): string {
  const listed = incorrect.slice(0, maxListedBookings).map((booking) => describe(booking, world));
  const found = count === 1 ? '1 booking' : `${count} bookings`;
  const introduction =
    `The review of ${toOneLine(about)} found ${found} whose provider hotel is not the hotel that was booked. ` +
    'Please look after the guests before they arrive.';
  const more = count > listed.length ? [`… and ${count - listed.length} more.`] : [];
  return `${[introduction, ...listed, ...more].join('\n\n')}\n`;
}

const widestTitle = 'Really is:'.length;

function describe(booking: BookedHotel, world: World): string {
  const { serviceId, providerName, providerHotelId, checkInDate, checkOutDate } = booking;
  const actual =
    providerName !== undefined && providerHotelId !== undefined
      ? world.serviceIdOf(providerName, providerHotelId)
      : undefined;
  const lines = {
    Guest: toOneLine(booking.bookingClientName),
    Stay: `${toOneLine(checkInDate)} to ${toOneLine(checkOutDate)}`,
    Provider: `${toOneLine(providerName)}, hotel ${toOneLine(providerHotelId)}`,
    Booked: renderHotel(serviceId, world),
    'Really is': actual === undefined ? 'a hotel that the service does not know' : renderHotel(actual, world),
  };
  return [
    toOneLine(booking.bookingReferenceId, '(no reference)'),
    ...Object.entries(lines).map(([title, text]) => `  ${`${title}:`.padEnd(widestTitle)} ${text}`),
  ].join('\n');
}

function renderHotel(serviceId: number, world: World): string {
  const hotel = world.hotelOf(serviceId);
  if (!hotel) return `${serviceId}, a hotel that the service does not know`;
  return `${serviceId}, ${hotel.name} (${hotel.country})`;
}

const unprintable = /[\p{Cc}\u2028\u2029]+/gu;

function toOneLine(text: string | undefined, absent = '(not given)'): string {
  return text === undefined ? absent : text.replace(unprintable, ' ');
}
