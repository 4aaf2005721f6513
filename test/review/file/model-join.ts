import type { Booking } from '../../../src/booking/booking.js';
import { foldReference } from '../../../src/review/file/join-result.js';
import type { ResultRow } from '../../../src/review/file/result.js';
import type { Judged, JudgedRows } from '../../../src/rules/review-file.js';
import type { readRows } from './file-bookings.js';

const namingFields = ['bookingReferenceId', 'serviceId', 'providerHotelId'] as const;
const keyFields = [...namingFields, 'providerName'] as const;

/** The model of joinResult that tests compare with: every row against every booking, however slow. */
export async function modelJoin(
  result: Awaited<ReturnType<typeof readRows>>,
  bookings: readonly Booking[],
  batchSize: number,
) {
  const { rows, ...table } = result;
  const { fields } = table;
  const key = namingFields.some((field) => fields.includes(field))
    ? keyFields.filter((field) => fields.includes(field))
    : [];
  const fits = (row: ResultRow, booking: Booking) => key.every((field) => row[field] === booking[field]);
  const references = new Set(bookings.flatMap(({ bookingReferenceId }) => bookingReferenceId ?? []));
  const meantBy = (reference: string) => {
    if (references.has(reference)) return reference;
    const alike = [...references].filter((one) => foldReference(one) === foldReference(reference));
    return alike.length === 1 && foldReference(reference) !== '' ? alike[0] : undefined;
  };
  const fitsByReference = (row: ResultRow, { bookingReferenceId }: Booking) =>
    row.bookingReferenceId !== undefined &&
    bookingReferenceId !== undefined &&
    meantBy(row.bookingReferenceId) === bookingReferenceId;

  const telling = rows.filter(({ isSummary }) => !isSummary);
  const naming = telling.filter((row) => key.some((field) => row[field] !== undefined));
  const unfitted = naming.filter((row) => !bookings.some((booking) => fits(row, booking)));
  const loose = unfitted.filter((row) => bookings.some((booking) => fitsByReference(row, booking)));
  const isFitted = (booking: Booking) => naming.some((row) => fits(row, booking));
  const isLoosest = (booking: Booking) =>
    !isFitted(booking) ||
    bookings
      .filter(({ bookingReferenceId }) => bookingReferenceId === booking.bookingReferenceId)
      .every(isFitted);
  const rowsOf = (booking: Booking) => [
    ...naming.filter((row) => fits(row, booking)),
    ...(isLoosest(booking) ? loose.filter((row) => fitsByReference(row, booking)) : []),
  ];

  const verdicts = bookings.map((booking) =>
    judge(rowsOf(booking).map((row) => aboutMasterId(row, booking))),
  );
  const judged: JudgedRows[] = [];
  for (let first = 0; first < bookings.length; first += batchSize) {
    const ofBatch = verdicts.slice(first, first + batchSize);
    for (const verdict of ['incorrect', 'not-in-result', 'unclear'] as const) {
      const judgedRows = ofBatch.flatMap((one, row) => (one === verdict ? row : []));
      if (judgedRows.length > 0) judged.push({ batch: first / batchSize, judged: verdict, rows: judgedRows });
    }
  }
  return {
    totals: {
      ...table,
      sent: bookings.length,
      unanswered: verdicts.filter((verdict) => verdict === 'not-in-result').length,
      foreign: unfitted.length - loose.length,
      unidentified: rows.length - naming.length,
      summaries: rows.length - telling.length,
      judging: telling.filter(({ isCorrect }) => isCorrect !== undefined).length,
    },
    judged,
  };
}

/** A row that calls another master hotel correct says nothing about the one that was sent. */
function aboutMasterId(row: ResultRow, { serviceId }: Booking): ResultRow {
  const isOther = row.serviceId !== undefined && row.serviceId !== serviceId;
  return row.isCorrect && isOther ? { ...row, isCorrect: undefined } : row;
}

function judge(rows: readonly ResultRow[]): Judged | 'correct' {
  if (rows.length === 0) return 'not-in-result';
  if (rows.some(({ isCorrect }) => isCorrect === false)) return 'incorrect';
  return rows.some(({ isCorrect }) => isCorrect) ? 'correct' : 'unclear';
}
