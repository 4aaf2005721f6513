import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Booking } from '../../../src/booking/booking.js';
import type { StoredBatch } from '../../../src/ledger/batches.js';
import type { JoinRules } from '../../../src/review/file/join-result.js';
import type { StoredVerdict } from '../../../src/rules/review-file.js';
import {
  anyFileBooking,
  fileBooking,
  inBlocks,
  joinResult,
  linesOf,
  masterIdColumn,
} from './file-bookings.js';

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

describe('a result and the bookings that were sent', () => {
  it('match if every booking has its row', async () => {
    const joined = await join(
      [one, two, three],
      writeResult([
        [one, true],
        [two, false],
        [three, true],
      ]),
    );
    expect(joined).toMatchObject({
      sent: 3,
      unanswered: 0,
      foreign: 0,
      unidentified: 0,
      end: { rows: 3, isWhole: true },
      affected: [{ batch: 0, row: 1, bookingReferenceId: 'BR-2' }],
    });
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

  it('yield the affected bookings, in any order, batch by batch', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(anyFileBooking, { selector: identify, maxLength: 30 }),
        fc.infiniteStream(fc.boolean()),
        fc.integer({ min: 1, max: 7 }),
        fc.func(fc.nat()),
        async (bookings, verdicts, batchSize, rank) => {
          const judged = bookings.map((booking): JudgedRow => [booking, verdicts.next().value ?? true]);
          const shuffled = judged.toSorted(([a], [b]) => rank(identify(a)) - rank(identify(b)));
          const joined = await join(bookings, writeResult(shuffled), { batchSize });
          const wrong = judged.flatMap(([booking, isCorrect], position) =>
            isCorrect === false
              ? [
                  {
                    batch: Math.floor(position / batchSize),
                    row: position % batchSize,
                    bookingReferenceId: booking.bookingReferenceId,
                  },
                ]
              : [],
          );
          expect(joined).toMatchObject({ unanswered: 0, foreign: 0, affected: wrong });
        },
      ),
      { numRuns: 300 },
    );
  });

  it('do not match if a row names a booking that was not sent', async () => {
    const joined = await join(
      [one, two],
      writeResult([
        [one, true],
        [three, false],
        [three, true],
      ]),
    );
    expect(joined).toMatchObject({ foreign: 2, unanswered: 1, affected: [] });
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

  it('leave bookings without a verdict if the result has fewer rows', async () => {
    const joined = await join([one, two, three], writeResult([[two, false]]));
    expect(joined).toMatchObject({ unanswered: 2, foreign: 0, affected: [{ row: 1 }], missing: [0, 2] });
  });

  it('share a verdict if they share the mapping: two rooms of one booking', async () => {
    const other = { ...one, bookingClientName: 'Somebody Else' };
    const joined = await join(
      [one, other, two],
      writeResult([
        [one, false],
        [two, true],
      ]),
    );
    expect(joined).toMatchObject({ unanswered: 0, affected: [{ row: 0 }, { row: 1 }] });
  });

  it('count as incorrect if rows contradict each other', async () => {
    const joined = await join(
      [one],
      writeResult([
        [one, true],
        [one, false],
        [one, true],
      ]),
    );
    expect(joined).toMatchObject({ affected: [{ row: 0 }] });
  });

  it('count unreadable verdicts', async () => {
    const joined = await join(
      [one, two],
      writeResult([
        [one, 'perhaps'],
        [two, ''],
      ]),
    );
    expect(joined).toMatchObject({ judging: 0, unanswered: 0, affected: [], unclear: [0, 1] });
  });

  it('are judged by the readable rows if there are any: "incorrect" wins over "correct", and both over the rest', async () => {
    const joined = await join(
      [one, two, three],
      writeResult([
        [one, 'perhaps'],
        [one, true],
        [two, 'perhaps'],
        [two, false],
        [three, 'perhaps'],
      ]),
    );
    expect(joined).toMatchObject({ judging: 2, unclear: [2], affected: [{ row: 1 }], missing: [] });
  });

  it('are distinguished if only their concatenated fields are equal', async () => {
    const near = { ...one, bookingReferenceId: 'BR-1', serviceId: 11 };
    const far = { ...one, bookingReferenceId: 'BR-11', serviceId: 1 };
    const joined = await join(
      [near, far],
      writeResult([
        [near, false],
        [far, true],
      ]),
    );
    expect(joined.affected).toEqual([{ batch: 0, row: 0, bookingReferenceId: 'BR-1' }]);
  });

  it('do not mistake a line of totals for an unknown booking', async () => {
    const result = `${writeResult([[one, false]])}Total: 1,,,,\n`;
    expect(await join([one], result)).toMatchObject({
      unidentified: 1,
      foreign: 0,
      affected: [{ row: 0 }],
    });
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

  it('is no row about a booking of a provider that is called like one', async () => {
    const stay = fileBooking({ bookingReferenceId: 'BK-3', providerName: 'Total Stay' });
    const result = 'ProviderName,BookingReferenceId\nTotal Stay,BK-3\nTotal Stay,1.2E+11\n';
    expect(await join([stay], result)).toMatchObject({ summaries: 0, foreign: 1, unclear: [0] });
  });
});

describe('a reference that is written in another way', () => {
  const spelled = (booking: Booking, bookingReferenceId: string) => ({ ...booking, bookingReferenceId });
  const numbered = spelled(one, '000123');

  it.each([
    ['in small letters', one, 'br-1'],
    ['without its leading zeros', numbered, '123'],
    ['with an apostrophe', numbered, "'000123"],
    ['with a formula around it', numbered, '="000123"'],
    ['with invisible characters', one, '\u200bBR-1\u200b'],
    ['padded with zeros and blanks', spelled(one, '77'), ' 00077\u00a0'],
  ])('belongs to the only booking that it can mean: %s', async (_, booking, written) => {
    for (const kept of [columns, ['BookingReferenceId', 'IsCorrectMapping'] as const]) {
      const wrong: JudgedRow[] = [
        [spelled(booking, written), false],
        [two, true],
      ];
      expect(await join([two, booking], writeResult(wrong, kept))).toMatchObject({
        foreign: 0,
        unanswered: 0,
        affected: [{ row: 1 }],
      });
      const right: JudgedRow[] = [
        [spelled(booking, written), true],
        [two, false],
      ];
      expect(await join([two, booking], writeResult(right, kept))).toMatchObject({
        foreign: 0,
        missing: [],
        unclear: [],
        affected: [{ row: 0 }],
      });
    }
  });

  it('calls only its own master hotel correct', async () => {
    const moved = { ...spelled(one, 'br-1'), serviceId: 999 };
    expect(await join([one], writeResult([[moved, true]]))).toMatchObject({ foreign: 0, unclear: [0] });
  });

  it('belongs to both rooms of a booking', async () => {
    const other = { ...one, providerHotelId: 'H9' };
    const joined = await join([one, two, other], writeResult([[spelled(one, 'br-1'), false]]));
    expect(joined).toMatchObject({ foreign: 0, missing: [1], affected: [{ row: 0 }, { row: 2 }] });
  });

  it('belongs to none if two bookings differ only in that', async () => {
    const small = spelled(two, 'br-1');
    const joined = await join([one, small], writeResult([[spelled(one, 'Br-1'), false]]));
    expect(joined).toMatchObject({ foreign: 1, missing: [0, 1], affected: [] });
  });

  it('belongs to the booking that has exactly this reference', async () => {
    const small = spelled(two, 'br-1');
    const rows: JudgedRow[] = [
      [one, true],
      [small, false],
    ];
    const kept = ['BookingReferenceId', 'IsCorrectMapping'] as const;
    expect(await join([one, small], writeResult(rows, kept))).toMatchObject({
      foreign: 0,
      affected: [{ row: 1 }],
      missing: [],
    });
  });
});

describe('a row that matches only by booking reference', () => {
  const moved = (booking: Booking) => ({ ...booking, serviceId: 999 });

  it('belongs to the booking of that reference', async () => {
    const joined = await join(
      [one, two],
      writeResult([
        [moved(one), false],
        [two, true],
      ]),
    );
    expect(joined).toMatchObject({
      foreign: 0,
      unanswered: 0,
      affected: [{ row: 0, bookingReferenceId: 'BR-1' }],
    });
  });

  it('calls only its own master hotel correct', async () => {
    const rows: JudgedRow[] = [
      [moved(one), true],
      [{ ...two, providerHotelId: '0' }, true],
    ];
    expect(await join([one, two], writeResult(rows))).toMatchObject({
      foreign: 0,
      unanswered: 0,
      affected: [],
      unclear: [0],
    });
    const withoutIds = ['BookingReferenceId', 'ProviderHotelId', 'IsCorrectMapping'] as const;
    expect(await join([one, two], writeResult(rows, withoutIds))).toMatchObject({ unclear: [] });
  });

  it('belongs to those without an exact match, whichever comes first', async () => {
    const other = fileBooking({ bookingReferenceId: 'BR-1', providerHotelId: 'H9' });
    for (const bookings of [
      [one, other],
      [other, one],
    ]) {
      const joined = await join(
        bookings,
        writeResult([
          [one, true],
          [moved(other), false],
        ]),
      );
      expect(joined.affected).toEqual([
        { batch: 0, row: bookings.indexOf(other), bookingReferenceId: 'BR-1' },
      ]);
      expect(joined).toMatchObject({ unanswered: 0 });
    }
  });

  it('belongs to all of that reference if each has an exact match', async () => {
    const joined = await join(
      [one, two],
      writeResult([
        [one, true],
        [two, true],
        [moved(one), false],
      ]),
    );
    expect(joined).toMatchObject({ foreign: 0, affected: [{ row: 0 }] });
  });

  it('has no other effect: another booking of the reference is affected by its own row only', async () => {
    const other = fileBooking({ bookingReferenceId: 'BR-1', providerHotelId: 'H9' });
    const joined = await join([one, other], writeResult([[one, false]]));
    expect(joined).toMatchObject({ unanswered: 1, affected: [{ row: 0 }] });
  });
});

describe('a result with fewer columns', () => {
  it('is joined by the columns that it has', async () => {
    const judged: JudgedRow[] = [
      [one, false],
      [two, true],
    ];
    for (const kept of [
      ['BookingReferenceId', 'IsCorrectMapping'],
      ['ProviderHotelId', 'ProviderName', 'IsCorrectMapping'],
      ['IsCorrectMapping', 'ProviderHotelId', 'ServiceId'],
    ] as const) {
      const joined = await join([one, two, three], writeResult(judged, kept));
      expect(joined).toMatchObject({ foreign: 0, unanswered: 1, affected: [{ row: 0 }] });
    }
  });

  it('without references marks every booking of an incorrect mapping', async () => {
    const same = { ...one, bookingReferenceId: 'BR-9' };
    const kept = ['ServiceId', 'ProviderName', 'ProviderHotelId', 'IsCorrectMapping'] as const;
    const joined = await join([one, two, same], writeResult([[one, false]], kept));
    expect(joined.affected.map(({ bookingReferenceId }) => bookingReferenceId)).toEqual(['BR-1', 'BR-9']);
  });

  it('says incorrect by naming a booking if it names incorrect ones only and has no column of verdicts', async () => {
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

  it('identifies no booking by a provider alone, nor by unknown columns', async () => {
    for (const kept of [['ProviderName', 'IsCorrectMapping'], ['IsCorrectMapping']] as const) {
      const joined = await join([one], writeResult([[one, false]], kept));
      expect(joined).toMatchObject({ unidentified: 1, unanswered: 1, foreign: 0, affected: [] });
    }
    expect(await join([one], 'a,b\n1,2\n')).toMatchObject({ fields: [], unidentified: 1, unanswered: 1 });
  });

  it('yields nothing when it is empty', async () => {
    expect(await join([one], '')).toMatchObject({ fields: [], sent: 1, unanswered: 1, affected: [] });
  });
});

it('distinguishes a hundred thousand similar keys', async () => {
  const bookings = Array.from({ length: 100_000 }, (_, index) =>
    fileBooking({
      bookingReferenceId: `BR-${index % 50_000}`,
      serviceId: 1_000_000 + (index >> 4),
      providerHotelId: String(index).padStart(7, '0'),
    }),
  );
  const judged = bookings.map((booking, index): JudgedRow => [booking, index % 1000 !== 0]);
  const joined = await join(bookings, writeResult(judged.reverse()), { batchSize: 500 });
  expect(joined).toMatchObject({ unanswered: 0, foreign: 0 });
  expect(joined.affected.map(({ batch, row }) => 500 * batch + row)).toEqual(
    Array.from({ length: 100 }, (_, index) => 1000 * index),
  );
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

function identify({ bookingReferenceId, serviceId, providerName, providerHotelId }: Booking): string {
  return JSON.stringify([bookingReferenceId, serviceId, providerName, providerHotelId]);
}
