import type { HotelDirectory } from '../world/world.js';
import { createMailer, type MailerOptions } from './mailer.js';

/** A booking whose provider hotel is not the master hotel that was booked; what it did not say is absent. */
export interface IncorrectMapping {
  readonly serviceId: number;
  readonly bookingReferenceId?: string;
  readonly bookingClientName?: string;
  readonly providerName?: string;
  readonly providerHotelId?: string;
  /** YYYY-MM-DD */
  readonly checkInDate?: string;
  /** YYYY-MM-DD */
  readonly checkOutDate?: string;
}

export interface SentEmail {
  readonly path: string;
  readonly about: string;
}

/** What an e-mail tells. */
export interface Notice {
  /** What was reviewed: "the request body of 14:03:07" or "VerifyMappings/112026/20112026.csv". */
  readonly about: string;
  /** The affected bookings, or at least the first `listedBookings` of them. */
  readonly incorrect: readonly IncorrectMapping[];
  /** How many there are, where not all of them are given. */
  readonly count?: number;
}

/** Where the e-mails lie that the service would have sent. */
export interface Outbox {
  /**
   * Writes an e-mail as an `.eml` file, whole or not at all. Emails that are written at once don't disturb each other.
   *
   * @throws the system's error when the folder can't be written
   */
  notify(notice: Notice): Promise<SentEmail>;
}

export interface OutboxOptions extends MailerOptions {
  readonly to: string;
  readonly world: HotelDirectory;
}

export function createOutbox({ to, world, ...options }: OutboxOptions): Outbox {
  const emails = createMailer(options);
  const writeText = createEmailWriter(world);
  return {
    async notify({ about, incorrect, count = incorrect.length }) {
      const path = await emails.post({
        to,
        subject: `Incorrect hotel mappings: ${count === 1 ? '1 booking is' : `${count} bookings are`} affected`,
        // What bookings say stands in the text alone, so there is no header that they could reach.
        text: writeText({ about, incorrect, count }),
      });
      return { path, about };
    },
  };
}

/** An e-mail lists so many bookings, and counts the others. */
export const listedBookings = 1_000;

const unprintable = /[\p{Cc}\u2028\u2029]+/gu;

/** Creates the writer of the e-mails' text: what was reviewed, and each affected booking with what it really is. */
export function createEmailWriter(world: HotelDirectory): (notice: Required<Notice>) => string {
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
