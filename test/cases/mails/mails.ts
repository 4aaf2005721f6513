import type { Booking } from '../../../src/booking/booking.js';
import { hashReference } from '../../../src/booking/booking.js';
import { type KnownBooking, openMail } from '../../../src/cases/mails/examine-mail.js';
import type { ExamineMail } from '../../../src/cases/mails/mail-process.js';

export const words = {
  resultColumn: 'IsCorrectMapping',
  resultValues: { correct: ['true', 'yes', '1', 'correct'], incorrect: ['false', 'no', '0', 'incorrect'] },
  masterIdColumn: 'Service Mappings Id',
};

/** Reads an e-mail in this process. */
export const examineHere: ExamineMail = async (bytes, lookUp) => {
  const { hashes, match } = await openMail(bytes, words);
  return match(await lookUp(hashes));
};

/** What an e-mail names, by reference, in a ledger that finds bookings by the hashes of their references. */
export async function readNames(bytes: Buffer | string, bookings: readonly Partial<Booking>[]) {
  let known: KnownBooking[] = [];
  const mail = await examineHere(Buffer.from(bytes), async (hashes) => {
    const asked = new Set(hashes);
    known = bookings
      .map(({ bookingReferenceId: reference = '', serviceId = 500_123, providerHotelId = 'H-77001' }) => ({
        ...{ reference, serviceId, providerHotelId },
      }))
      .filter(({ reference }) => asked.has(hashReference(reference)));
    return { bookings: known, canaries: [], providers: ['Alpha', 'Beta Beds'] };
  });
  const meant = mail.named.flatMap((place) => known[place] ?? []);
  return {
    named: meant.map(({ reference }) => reference).sort(),
    serviceIds: meant.map(({ serviceId }) => serviceId),
    correct: mail.correct,
    pairs: mail.pairs,
    mail,
  };
}

const headers = [
  'From: Mapping Service <noreply@service.example>',
  'To: reviews@agency.example',
  'Subject: Incorrect mappings found',
  'Date: Sat, 21 Nov 2026 05:10:00 +0000',
  'Message-ID: <m1@service.example>',
  'MIME-Version: 1.0',
];

/** One part, or several. */
export function mailOf(contentType: string, body: string, extra: readonly string[] = []): string {
  return [...headers, `Content-Type: ${contentType}`, ...extra, '', body].join('\r\n');
}

export interface Part {
  readonly type: string;
  readonly body: string;
  readonly headers?: readonly string[];
}

export function multipart(kind: string, parts: readonly Part[]): string {
  return mailOf(`multipart/${kind}; boundary="=_b"`, multipartBody('=_b', parts));
}

export function multipartBody(boundary: string, parts: readonly Part[]): string {
  const written = parts.map(({ type, body, headers: own = [] }) =>
    [`--${boundary}`, `Content-Type: ${type}`, ...own, '', body].join('\r\n'),
  );
  return [...written, `--${boundary}--`, ''].join('\r\n');
}

export function attachment(filename: string): readonly string[] {
  return [`Content-Disposition: attachment; filename="${filename}"`];
}

/** An HTML table, its first row as headings. */
export function htmlTable(rows: readonly (readonly string[])[]): string {
  const [head = [], ...body] = rows;
  const line = (cells: readonly string[], tag: string) =>
    `<tr>${cells.map((cell) => `<${tag} style="padding:2px">${cell}</${tag}>`).join('')}</tr>`;
  return `<table border="1">${line(head, 'th')}${body.map((cells) => line(cells, 'td')).join('')}</table>`;
}
