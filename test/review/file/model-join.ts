import type { Booking } from '../../../src/booking/booking.js';
import type { ResultEnd, ResultField, ResultPart, ResultRow } from '../../../src/review/file/result.js';

const namingFields = ['bookingReferenceId', 'serviceId', 'providerHotelId'] as const;
const keyFields = [...namingFields, 'providerName'] as const;

/** The model of joinResult that tests compare with: every row against every booking, however slow. */
export async function modelJoin(
  parts: AsyncIterable<ResultPart>,
  bookings: readonly Booking[],
  batchSize: number,
) {
  let fields: readonly ResultField[] = [];
  let end: ResultEnd | undefined;
  const rows: ResultRow[] = [];
  for await (const part of parts) {
    if (part.kind === 'header') ({ fields } = part);
    else if (part.kind === 'rows') rows.push(...part.rows);
    else ({ end } = part);
  }
  const key = namingFields.some((field) => fields.includes(field))
    ? keyFields.filter((field) => fields.includes(field))
    : [];
  const fits = (row: ResultRow, booking: Booking) => key.every((field) => row[field] === booking[field]);
  const fitsByReference = (row: ResultRow, booking: Booking) =>
    row.bookingReferenceId !== undefined && row.bookingReferenceId === booking.bookingReferenceId;

  const naming = rows.filter((row) => key.some((field) => row[field] !== undefined));
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

  const affected: { readonly batch: number; readonly judged: 'incorrect'; readonly places: number[] }[] = [];
  bookings.forEach((booking, position) => {
    if (!rowsOf(booking).some(({ isCorrect }) => isCorrect === false)) return;
    const batch = Math.floor(position / batchSize);
    if (affected.at(-1)?.batch !== batch) affected.push({ batch, judged: 'incorrect', places: [] });
    affected.at(-1)?.places.push(position % batchSize);
  });
  return {
    totals: {
      fields,
      end,
      sent: bookings.length,
      unanswered: bookings.filter((booking) => rowsOf(booking).length === 0).length,
      foreign: unfitted.length - loose.length,
      loose: loose.length,
      unidentified: rows.length - naming.length,
      incorrect: rows.filter(({ isCorrect }) => isCorrect === false).length,
      unclear: rows.filter(({ isCorrect }) => isCorrect === undefined).length,
    },
    affected,
  };
}
