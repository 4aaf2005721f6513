import { stringify } from 'csv-stringify/sync';
import { textFields } from '../common/fields.js';
import type { HotelDirectory } from '../world/world.js';
import type { Email } from './mailer.js';
import { type IncorrectMapping, maxListedBookings, type Notice } from './notice.js';

/** The form of an e-mail about a review, which the description leaves open. */
export const emailForms = ['list', 'table', 'csv'] as const;

export type EmailForm = (typeof emailForms)[number];

type Content = Pick<Email, 'text' | 'html' | 'attachments'>;

export function renderNotice(form: EmailForm, notice: Required<Notice>, world: HotelDirectory): Content {
  const listed = notice.incorrect.slice(0, maxListedBookings).map((booking) => describe(booking, world));
  const more = notice.count > listed.length ? `… and ${notice.count - listed.length} more.` : undefined;
  switch (form) {
    case 'list':
      return { text: renderList(toIntroduction(notice), listed, more) };
    case 'table':
      return { html: renderTable(toIntroduction(notice), listed, more) };
    case 'csv':
      return {
        text: `${toIntroduction(notice)} They are in the attached file.\n${more === undefined ? '' : `\n${more}\n`}`,
        attachments: [
          {
            filename: 'incorrect-mappings.csv',
            content: Buffer.from(
              stringify(notice.incorrect.slice(0, maxListedBookings).map(toCells), { header: true }),
            ),
            contentType: 'text/csv; charset=utf-8',
          },
        ],
      };
  }
}

function toIntroduction({ about, count }: Required<Notice>): string {
  const found = count === 1 ? '1 booking' : `${count} bookings`;
  return (
    `The review of ${toOneLine(about)} found ${found} whose provider hotel is not the hotel that was booked. ` +
    'Please look after the guests before they arrive.'
  );
}

interface Described {
  readonly reference: string;
  readonly lines: Readonly<Record<string, string>>;
}

function describe(booking: IncorrectMapping, world: HotelDirectory): Described {
  const { serviceId, providerName, providerHotelId, checkInDate, checkOutDate } = booking;
  const actual =
    providerName !== undefined && providerHotelId !== undefined
      ? world.serviceIdOf(providerName, providerHotelId)
      : undefined;
  return {
    reference: toOneLine(booking.bookingReferenceId, '(no reference)'),
    lines: {
      Guest: toOneLine(booking.bookingClientName),
      Stay: `${toOneLine(checkInDate)} to ${toOneLine(checkOutDate)}`,
      Provider: `${toOneLine(providerName)}, hotel ${toOneLine(providerHotelId)}`,
      Booked: renderHotel(serviceId, world),
      'Really is':
        actual === undefined ? 'a hotel that the service does not know' : renderHotel(actual, world),
    },
  };
}

const widestTitle = 'Really is:'.length;

function renderList(introduction: string, listed: readonly Described[], more: string | undefined): string {
  const bookings = listed.map(({ reference, lines }) =>
    [
      reference,
      ...Object.entries(lines).map(([title, text]) => `  ${`${title}:`.padEnd(widestTitle)} ${text}`),
    ].join('\n'),
  );
  return `${[introduction, ...bookings, ...(more === undefined ? [] : [more])].join('\n\n')}\n`;
}

function renderTable(introduction: string, listed: readonly Described[], more: string | undefined): string {
  const titles = ['Booking', ...Object.keys(listed[0]?.lines ?? {})];
  const rows = listed.map(({ reference, lines }) => [reference, ...Object.values(lines)]);
  const toRow = (cells: readonly string[], tag: 'th' | 'td') =>
    `<tr>${cells.map((cell) => `<${tag}>${escapeHtml(cell)}</${tag}>`).join('')}</tr>\n`;
  return [
    `<!DOCTYPE html>\n<html><body>\n<p>${escapeHtml(introduction)}</p>\n<table border="1">\n`,
    toRow(titles, 'th'),
    ...rows.map((cells) => toRow(cells, 'td')),
    '</table>\n',
    more === undefined ? '' : `<p>${escapeHtml(more)}</p>\n`,
    '</body></html>\n',
  ].join('');
}

/** The fields as the description names them. (Spec 2.5.) */
function toCells(booking: IncorrectMapping): Readonly<Record<string, string>> {
  const texts = textFields.map(({ name, property }) => [name, booking[property] ?? '']);
  return { ServiceId: String(booking.serviceId), ...Object.fromEntries(texts) };
}

function renderHotel(serviceId: number, world: HotelDirectory): string {
  const hotel = world.hotelOf(serviceId);
  if (!hotel) return `${serviceId}, a hotel that the service does not know`;
  return `${serviceId}, ${hotel.name} (${hotel.country})`;
}

const unprintable = /[\p{Cc}\u2028\u2029]+/gu;

function toOneLine(text: string | undefined, absent = '(not given)'): string {
  return text === undefined ? absent : text.replace(unprintable, ' ');
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => entities[character] ?? character);
}
