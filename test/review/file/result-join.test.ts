import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Booking } from '../../../src/booking/booking.js';
import type { StoredBatch } from '../../../src/ledger/batches.js';
import type { JoinRules } from '../../../src/review/file/join-result.js';
import type { StoredVerdict } from '../../../src/rules/review-file.js';
import { fileBooking, inBlocks, joinResult, linesOf, masterIdColumn, readRows } from './file-bookings.js';
import { modelJoin } from './model-join.js';

const columns = [
  'ServiceId',
  'BookingReferenceId',
  'ProviderName',
  'ProviderHotelId',
  'IsCorrectMapping',
] as const;
type Column = (typeof columns)[number];
type JudgedRow = readonly [booking: Booking, verdict: unknown];

const one = fileBooking({ bookingReferenceId: 'BR-1', providerHotelId: 'H1' });
const two = fileBooking({ bookingReferenceId: 'BR-2', providerHotelId: 'H2' });
const three = fileBooking({ bookingReferenceId: 'BR-3', providerHotelId: 'H3' });

/** Of one day: rooms and legs of one reference, and others on the same mapping. */
const anyDay = fc
  .array(
    fc.record({
      reference: fc.constantFrom('BR-1', 'BR-11', 'BR-2', 'br-2', '007', '7'),
      serviceId: fc.constantFrom(1, 11, 999),
      providerHotelId: fc.constantFrom('H1', 'H2'),
      providerName: fc.constantFrom('hotelbeds', 'Bedlink'),
    }),
    { maxLength: 8 },
  )
  .map((some) => some.map(({ reference, ...ids }) => fileBooking({ bookingReferenceId: reference, ...ids })));
const anyRow = fc.record({
  place: fc.nat(),
  verdict: fc.constantFrom<unknown>(true, false, true, false, 'perhaps', ''),
  change: fc.constantFrom<Partial<Record<keyof Booking, unknown>>>(
    ...[{}, {}, {}, { serviceId: 999 }, { providerHotelId: 'H9' }, { bookingReferenceId: 'XX' }],
    ...[{ bookingReferenceId: ' Br-2' }, { bookingReferenceId: '0007', serviceId: 12 }],
    ...[{ bookingReferenceId: '' }, { bookingReferenceId: '', serviceId: '', providerHotelId: '' }],
  ),
});
const anyColumns = fc.oneof(
  fc.constant(columns),
  fc.shuffledSubarray([...columns], { minLength: 1 }),
  fc.constantFrom<readonly Column[]>(
    ['BookingReferenceId', 'IsCorrectMapping'],
    ['ServiceId', 'ProviderName', 'ProviderHotelId', 'IsCorrectMapping'],
  ),
);

describe('a result and the bookings that were sent', () => {
  it('are joined as the model says, whatever columns and rows it has, in any order', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyDay,
        fc.array(anyRow, { maxLength: 10 }),
        anyColumns,
        fc.integer({ min: 1, max: 4 }),
        async (bookings, rows, kept, batchSize) => {
          const judged = rows.map(({ place, verdict, change }): JudgedRow => {
            const about = bookings[place % bookings.length] ?? one;
            return [{ ...about, ...change } as Booking, verdict];
          });
          const result = Buffer.from(writeResult(judged, kept));
          const readBytes = () => inBlocks(result, 200);
          const { judged: found, ...totals } = await joinResult({
            readBytes,
            readSent: () => toBatches(bookings, batchSize),
          });
          const model = await modelJoin(await readRows(readBytes()), bookings, batchSize);
          expect({ totals, judged: found }).toEqual(model);
        },
      ),
      { numRuns: 400 },
    );
  });

  it('match where fields are missing: an empty cell is written as it was, quoted or as NULL', async () => {
    const sparse: Booking = { serviceId: 7, bookingReferenceId: 'BR-7', checkInDate: '2026-11-20' };
    const bare: Booking = { serviceId: 8 };
    const sent = linesOf([sparse, bare, one]).toString().split('\n').slice(0, -1);
    const asSent = sent.map((line) => `${line},False\n`).join('');
    for (const rows of [asSent, asSent.replaceAll(',,', ',"",'), asSent.replaceAll(',,', ',NULL,')]) {
      const joined = await join(
        [sparse, bare, one],
        `${masterIdColumn},BookingReferenceId,BookingClientName,ProviderName,ProviderHotelId,CheckInDate,CheckOutDate,IsCorrectMapping\n${rows}`,
      );
      expect(joined).toMatchObject({ sent: 3, unanswered: 0, foreign: 0 });
      expect(joined.affected).toHaveLength(3);
    }
  });

  it('match by the other ids where a reference was erased since it was sent', async () => {
    const { bookingReferenceId: _, ...erased } = two;
    const result = writeResult([
      [one, true],
      [two, false],
      [three, false],
    ]);
    expect(await join([one, erased], result, { hasErased: true })).toMatchObject({
      ...{ unanswered: 0, foreign: 1, affected: [{ row: 1 }] },
    });
    expect(await join([one, erased], result)).toMatchObject({ unanswered: 1, foreign: 2 });
  });
});

describe('a row about no booking', () => {
  const usual = writeResult([
    [one, false],
    [two, true],
  ]);

  it.each([
    ['a line of totals', 'Total,6,,,2\n'],
    ['a line of totals with a verdict that can be read', 'Grand total,6,,,1\n'],
    ['a line of totals with fewer cells', '"Summe: 2"\n'],
    ['a repeated header', `${usual.slice(0, usual.indexOf('\n'))}\n`],
  ])('is counted for neither side: %s', async (_, row) => {
    expect(await join([one, two], `${usual}${row}`)).toMatchObject({
      foreign: 0,
      unidentified: 1,
      summaries: 1,
      unanswered: 0,
      end: { rows: 3, malformed: 0 },
      affected: [{ row: 0 }],
    });
  });

  it('is no row about a booking whose reference looks like one', async () => {
    const total = fileBooking({ bookingReferenceId: 'Total' });
    const counted = fileBooking({ bookingReferenceId: 'COUNT-1' });
    const kept = ['BookingReferenceId', 'IsCorrectMapping'] as const;
    const rows: JudgedRow[] = [
      [total, false],
      [counted, 'perhaps'],
    ];
    expect(await join([total, counted], writeResult(rows, kept))).toMatchObject({
      summaries: 0,
      unanswered: 0,
      affected: [{ row: 0 }],
      unclear: [1],
    });
  });
});

it.each([
  ['in small letters', 'BR-1', 'br-1'],
  ['without its leading zeros', '000123', '123'],
  ['with an apostrophe', '000123', "'000123"],
  ['with a formula around it', '000123', '="000123"'],
  ['with invisible characters', 'BR-1', '\u200bBR-1\u200b'],
  ['padded with zeros and blanks', '77', ' 00077\u00a0'],
])(
  'a reference in another spelling belongs to the booking that it can mean: %s',
  async (_, reference, written) => {
    const spelled = (bookingReferenceId: string) => ({ ...one, bookingReferenceId });
    const rows: JudgedRow[] = [
      [spelled(written), true],
      [two, false],
    ];
    for (const kept of [columns, ['BookingReferenceId', 'IsCorrectMapping'] as const])
      expect(await join([two, spelled(reference)], writeResult(rows, kept))).toMatchObject({
        ...{ foreign: 0, missing: [], unclear: [], affected: [{ row: 0 }] },
      });
  },
);

it('a result says incorrect by naming a booking if it names incorrect ones only and has no column of verdicts', async () => {
  const kept = ['BookingReferenceId'] as const;
  const result = `${writeResult([[one, '']], kept)}Total: 1\n`;
  const joined = await join([one, two], result, { resultNames: 'incorrect' });
  expect(joined).toMatchObject({ judging: 1, summaries: 1, affected: [{ row: 0 }], missing: [1] });
  expect(await join([one, two], result)).toMatchObject({ judging: 0, affected: [], unclear: [0] });
  // With such a column, only what it says counts.
  const unclear = writeResult([[one, 'perhaps']]);
  const twice = 'BookingReferenceId,IsCorrectMapping,isCorrectMapping\nBR-1,False,True\n';
  for (const other of [unclear, twice])
    expect(await join([one, two], other, { resultNames: 'incorrect' })).toMatchObject({
      ...{ affected: [], unclear: [0], missing: [1] },
    });
});

it('distinguishes thousands of similar keys', async () => {
  const bookings = Array.from({ length: 6_000 }, (_, index) =>
    fileBooking({
      bookingReferenceId: `BR-${index % 3_000}`,
      serviceId: 1_000_000 + (index >> 4),
      providerHotelId: String(index).padStart(7, '0'),
    }),
  );
  const judged = bookings.map((booking, index): JudgedRow => [booking, index % 1000 !== 0]);
  const joined = await join(bookings, writeResult(judged.reverse()), { batchSize: 500 });
  expect(joined).toMatchObject({ unanswered: 0, foreign: 0 });
  const places = joined.affected.map(({ batch, row }) => 500 * batch + row);
  expect(places).toEqual([0, 1_000, 2_000, 3_000, 4_000, 5_000]);
});

async function join(
  bookings: readonly Booking[],
  result: string,
  { batchSize = 10, ...rules }: Partial<JoinRules> & { readonly batchSize?: number } = {},
) {
  const { judged: found, ...totals } = await joinResult(
    {
      readBytes: () => inBlocks(Buffer.from(result)),
      readSent: () => toBatches(bookings, batchSize),
    },
    rules,
  );
  const affected = [];
  const positions: Record<StoredVerdict, number[]> = {
    incorrect: [],
    'not-in-result': [],
    unclear: [],
    cleared: [],
  };
  for (const { batch, judged, rows } of found)
    for (const row of rows) {
      const position = batch * batchSize + row;
      positions[judged].push(position);
      if (judged === 'incorrect')
        affected.push({ batch, row, bookingReferenceId: bookings[position]?.bookingReferenceId });
    }
  return { ...totals, affected, missing: positions['not-in-result'], unclear: positions.unclear };
}

async function* toBatches(bookings: readonly Booking[], batchSize: number): AsyncGenerator<StoredBatch> {
  for (let first = 0; first < bookings.length; first += batchSize)
    yield { batch: first / batchSize, lines: linesOf(bookings.slice(first, first + batchSize)) };
}

function writeResult(judged: readonly JudgedRow[], kept: readonly Column[] = columns): string {
  const rows = judged.map(([booking, verdict]) => {
    const cells: Record<Column, unknown> = {
      ServiceId: booking.serviceId,
      BookingReferenceId: booking.bookingReferenceId,
      ProviderName: booking.providerName,
      ProviderHotelId: booking.providerHotelId,
      IsCorrectMapping: verdict,
    };
    return kept.map((column) => `"${String(cells[column]).replaceAll('"', '""')}"`);
  });
  return [kept, ...rows].map((cells) => `${cells.join(',')}\n`).join('');
}
