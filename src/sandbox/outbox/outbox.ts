import { randomUUID } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import type { TextProperty } from '../common/fields.js';
import type { World } from '../world/world.js';

/** A booking as submitted: fields it doesn't have are absent, dates are YYYY-MM-DD. (Spec 2.5.) */
export interface BookedHotel extends Readonly<Partial<Record<TextProperty, string>>> {
  readonly serviceId: number;
}

/** The content of an e-mail about a review. */
interface Notice {
  /** What was reviewed: "the request body of 14:03:07" or "VerifyMappings/112026/20112026.csv". */
  readonly about: string;
  /** The affected bookings, or at least the first `maxListedBookings` of them. */
  readonly incorrect: readonly BookedHotel[];
  /** The number of affected bookings, where `incorrect` doesn't have them all. */
  readonly count?: number;
}

/** All that an e-mail is made of: whoever posts it can't add headers. */
interface Email {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly attachments?: readonly Attachment[];
}

interface Attachment {
  readonly filename: string;
  readonly content: Buffer;
  readonly contentType: string;
}

/** An e-mail lists this many bookings and gives the number of the others. */
export const maxListedBookings = 1_000;

export type Outbox = ReturnType<typeof createOutbox>;

/**
 * Holds the e-mails that the service would have sent: nothing is ever sent. Names files by time and number,
 * `20261120T140307.123Z-0001.eml`, with mode 0600. Concurrent calls don't disturb each other.
 */
export function createOutbox({
  folder,
  from,
  to,
  world,
  clock,
}: {
  /** Created when missing, with mode 0700: e-mails name guests. */
  readonly folder: string;
  readonly from: string;
  /** Who gets the e-mails about reviews. */
  readonly to: string;
  readonly world: World;
  /** Epoch milliseconds. */
  readonly clock: () => number;
}) {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  let emails = 0;

  /**
   * Writes an e-mail as an `.eml` file, complete or not at all.
   *
   * @returns its path
   * @throws a system error when the folder can't be written
   */
  async function post(email: Email): Promise<string> {
    const { subject, text, attachments = [] } = email;
    const now = new Date(clock());
    const { message } = await transport.sendMail({
      from,
      to: email.to,
      subject,
      text,
      attachments: [...attachments],
      date: now,
      messageId: `<${randomUUID()}@sandbox.invalid>`,
      textEncoding: 'quoted-printable',
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    await mkdir(folder, { recursive: true, mode: 0o700 });
    emails += 1;
    const path = join(folder, `${stampOf(now)}-${String(emails).padStart(4, '0')}.eml`);
    const draft = join(folder, `.${randomUUID()}.part`);
    await writeFile(draft, message, { flag: 'wx', mode: 0o600 });
    await rename(draft, path);
    return path;
  }

  return {
    post,
    /** Posts an e-mail about a review. */
    notify: ({ about, incorrect, count = incorrect.length }: Notice) =>
      post({
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

/** 20261120T140307.123Z */
function stampOf(instant: Date): string {
  return instant.toISOString().replaceAll(/[-:]/g, '');
}
