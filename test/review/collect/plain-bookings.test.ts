import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hashReference, type RawBooking } from '../../../src/booking/booking.js';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import { createNormaliser, openNormaliser } from '../../../src/booking/normalise.js';
import { guestNameChoices, type Sending } from '../../../src/booking/sending.js';
import {
  type BookingSource,
  type SourceChunk,
  SourceError,
  type SourceRecord,
} from '../../../src/booking/source.js';
import type { InstantChoice } from '../../../src/booking/written-date.js';
import { rejectsListed } from '../../../src/ledger/rejects.js';
import {
  createDayReader,
  type RenderedChunk,
  readNormalised,
} from '../../../src/review/collect/day-reader.js';
import { createFilteredSource, type RowFilter } from '../../../src/sources/common/row-filter.js';
import { createCsvSource } from '../../../src/sources/csv/csv-source.js';
import { asText } from '../../sources/reading.js';
import { bookingsHeader } from '../../support/made-bookings.js';
import { createArraySource, readerOf } from '../array-source.js';

const day = createBusinessDay('2026-11-20', 'Europe/Madrid');
const { signal } = new AbortController();
const byFile: Sending = { kind: 'file', names: 'send' };

interface Reading {
  readonly sending?: Sending;
  readonly delimiter?: string;
  readonly dateFormat?: string;
  readonly instants?: InstantChoice;
  readonly blockBytes?: number;
  readonly where?: RowFilter;
  readonly change?: (record: SourceRecord) => SourceRecord;
}

/** Numbers and bytes as texts, which are compared much faster. */
function toComparable({ lines, ...chunk }: RenderedChunk) {
  const { bytes, ends, streams, referenceHashes, hotelHashes, lastDays, lacking, providers } = lines;
  const numbers = [ends, streams, referenceHashes, hotelHashes, lastDays, lacking].map(String);
  return { ...chunk, progress: null, lines: Buffer.from(bytes).toString('latin1'), numbers, providers };
}

/** Reads a day from these bytes; a fault as its message. */
async function read(bytes: Buffer, reading: Reading): Promise<unknown[] | string> {
  const { sending = byFile, blockBytes = 64, where = {}, change, delimiter = ',' } = reading;
  const csv = createCsvSource({
    file: {
      locate: () => 'day.csv',
      measure: async () => bytes.length,
      async *read() {
        for (let at = 0; at < bytes.length; at += blockBytes)
          yield { bytes: bytes.subarray(at, at + blockBytes), progress: { done: at, total: bytes.length } };
      },
    },
    delimiter,
    filterColumns: Object.keys(where),
  });
  const filtered = createFilteredSource(csv, where);
  const source: BookingSource = {
    ...filtered,
    async *read(...options) {
      for await (const chunk of filtered.read(...options))
        yield change ? { ...chunk, records: chunk.records.map(change) } : chunk;
    },
  };
  const { dateFormat, instants = 'auto' } = reading;
  const reader = createDayReader({
    source,
    normaliserFor: openNormaliser({
      ...{ dateFormat: dateFormat ?? 'yyyy-MM-dd', instants },
      missing: ['0', 'Sin dato', '00000000', '987'],
    }),
  });
  const chunks: unknown[] = [];
  try {
    for await (const chunk of reader.read(day, sending, { signal })) chunks.push(toComparable(chunk));
  } catch (error) {
    if (error instanceof SourceError) return error.message;
    throw error;
  }
  return chunks;
}

const ordinary = [
  ...['42', '00123', 'BR-1042', 'H9', 'Meridian', 'Ana Lovelace', 'a&b', '2026-12-01'],
  ...['Müller', 'Şule Çelik', '李 伟', 'さくら', 'Nguyễn Thị', '😀 Kai', 'Ελένη'],
];
const awkward = [
  ...['', ' ', ' Ana', 'Ana ', 'Null', 'none', 'NaN', 'nan', 'UNDEFINED', 'Noor', 'Ugo', 'D’Amico', '1e3'],
  ...['0', '007', '-1', '7 ', '７', '999999999999999', '1000000000000000', '9007199254740992'],
  ...['a"b', '"', 'García, Luis', 'x\ty', 'x\ry', 'x\\y', '\u007f', 'x\u0085y', 'x\u2028y', '\u00a0Ana'],
  ...['\u3000Ana', 'Ana\u3000', 'A\u3000na', '\u1680Ana', '\ufeffAna', 'Ana\ufeff', '\u2003Ana', '\u205fx'],
  ...'2026-02-29 2028-02-29 2026-13-01 2026-12-01T10:00 2026-12-01T23:30:00Z 2026-12-01T00:00:00Z'.split(' '),
  ...[
    '2026-12-01 10:00',
    '31/12/2026',
    "'00123",
    "00123'",
    '="00123"',
    '=cmd|calc',
    '\u200bBR-1',
    'BR-\u00ad1',
  ],
  ...'1.23457E+11 1.5e-308 1E+5 \\N \\n #N/A #REF! (NULL) <null> n/a - -- 00 00000000 987'.split(' '),
  ...['SIN DATO', 'sin dat'],
  ...['1900-01-01', '9999-12-31', '2024-11-19', '2024-11-20', '2031-11-20', '2031-11-21'],
  ...['N\ufffdrth', '\ufffd', 'ｱﾅ'],
  ...['x'.repeat(70), 'é'.repeat(40), 'Two\nlines', 'Two\r\nlines', 'a,'.repeat(9)],
];
const columns = [...bookingsHeader.split(','), 'State'];
const full = ['7', 'BR-1', 'Ana', 'Meridian', 'H1', '2026-12-01', '2026-12-05', 'OK'];

interface Style {
  readonly delimiter: string;
  readonly lineEnd: string;
  readonly bom: string;
  readonly endsWithLine: boolean;
}
const usualStyle: Style = { delimiter: ',', lineEnd: '\n', bom: '', endsWithLine: true };

function write(
  rows: readonly (readonly string[])[],
  { delimiter, lineEnd, bom, endsWithLine }: Style,
  quotes: 'needed' | 'all' = 'needed',
): Buffer {
  const isQuoted = (text: string) => quotes === 'all' || /^"|[\r\n]/.test(text) || text.includes(delimiter);
  const writeCell = (text: string) => (isQuoted(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = rows.map((row) => row.map(writeCell).join(delimiter));
  return Buffer.from(`${bom}${lines.join(lineEnd)}${endsWithLine ? lineEnd : ''}`);
}

/** With names and without: by body, and in each kind of file. */
const allSendings = guestNameChoices.flatMap((names): Sending[] => [
  { kind: 'body', names },
  ...(['post', 'reject', 'leave-empty'] as const).map((incomplete) => ({
    kind: 'file' as const,
    names,
    incomplete,
  })),
]);
const whole = { blockBytes: 1 << 20 };

function asTextWhole(record: SourceRecord): SourceRecord {
  return 'unreadable' in record ? record : { ...asText(record), whole: record.whole };
}

describe('bookings from plain cells', () => {
  it.each(allSendings)(
    'are read like their texts, whatever one of them holds: $kind, $names, $incomplete',
    async (sending) => {
      const rows = full.flatMap((_, at) => [...ordinary, ...awkward].map((text) => full.with(at, text)));
      const dateFormat = sending.incomplete === 'post' ? 'dd/MM/yyyy' : 'yyyy-MM-dd';
      const reading = { ...whole, sending, dateFormat };
      const plain = await read(write([columns, ...rows], usualStyle), reading);
      expect(plain).toEqual(await read(write([columns, ...rows], usualStyle, 'all'), reading));
    },
  );

  it('are read like their texts in files of any form', async () => {
    const cell = fc.oneof(fc.constantFrom(...ordinary), fc.constantFrom(...awkward));
    const rows = fc.array(
      fc.oneof(
        fc.tuple(fc.nat(7), cell).map(([at, text]) => full.with(at, text)),
        fc.array(cell, { minLength: 2, maxLength: 9 }),
      ),
      { maxLength: 12 },
    );
    const places = columns.map((_, at) => at);
    const styles = fc.record({
      delimiter: fc.constantFrom(',', ';', '\t'),
      lineEnd: fc.constantFrom('\n', '\r\n', '\n\n'),
      bom: fc.constantFrom('', '\ufeff'),
      endsWithLine: fc.boolean(),
    });
    const readings = fc.record({
      sending: fc.constantFrom(...allSendings),
      dateFormat: fc.constantFrom('yyyy-MM-dd', 'dd/MM/yyyy', 'yyyy-dd-MM'),
      blockBytes: fc.constantFrom(1, 7, 64, 500, 1 << 20),
      where: fc.constantFrom<RowFilter[]>({}, { State: ['OK', 'Null'] }, { State: { not: [''] } }),
    });
    // Columns in any order, some absent.
    const layouts = fc.oneof(fc.constant(places), fc.shuffledSubarray(places, { minLength: 2 }));
    await fc.assert(
      fc.asyncProperty(rows, layouts, styles, readings, async (made, layout, style, reading) => {
        const table = [columns, ...made].map((row) =>
          row.length === 8 ? layout.map((at) => row[at] ?? '') : row,
        );
        const { delimiter } = style;
        const bytes = write(table, style);
        expect(await read(bytes, { ...reading, delimiter })).toEqual(
          await read(bytes, { ...reading, delimiter, change: asTextWhole }),
        );
        expect(await read(bytes, { ...reading, delimiter, ...whole })).toEqual(
          await read(write(table, style, 'all'), { ...reading, delimiter, ...whole }),
        );
      }),
      { numRuns: 150 },
    );
  });

  it('are told apart where their hashes are equal', async () => {
    const seen = new Map<number, string>();
    let pair: string[] = [];
    for (let number = 0; pair.length === 0; number += 1) {
      const hash = hashReference(`P${number}`) >>> 2;
      const other = seen.get(hash);
      if (other !== undefined) pair = [other, `P${number}`];
      seen.set(hash, `P${number}`);
    }
    const rows = [...pair, ...pair].map((name) => full.with(3, name));
    const [chunk] = await read(write([columns, ...rows], usualStyle), whole);
    expect(chunk).toMatchObject({ providers: [...pair, ...pair], read: 4 });
  });

  it('are read like their texts when there are more providers than are remembered', async () => {
    const rows = Array.from({ length: 4_200 }, (_, number) => full.with(3, `P${number}`));
    const bytes = write([columns, ...rows, ...rows], usualStyle);
    expect(await read(bytes, whole)).toEqual(await read(bytes, { ...whole, change: asTextWhole }));
  });
});

it('values of so many rejected records are kept, over all chunks of the day', async () => {
  const bad = {
    fields: {
      ...Object.fromEntries(bookingsHeader.split(',').map((name) => [name, 'x'])),
      CheckInDate: 'never',
    },
  };
  const chunks = Array.from({ length: 3 }, (_, chunk) =>
    Array.from({ length: rejectsListed / 2 }, (_, at) => ({ ...bad, place: chunk * rejectsListed + at })),
  );
  let [rejected, kept] = [0, 0];
  for await (const { rejects } of readerOf(createArraySource(chunks)).read(day, byFile, { signal })) {
    rejected += rejects.length;
    kept += rejects.filter((one) => 'cells' in one).length;
  }
  expect([rejected, kept]).toEqual([1.5 * rejectsListed, rejectsListed]);
});

const chunkOf = (count: number): SourceChunk => ({
  records: Array.from({ length: count }, (_, place) => ({ place, fields: { ServiceId: place } })),
});

async function readChunks(chunks: readonly (SourceChunk | SourceError)[], atMost?: number) {
  const source: BookingSource = {
    locate: () => 'a list',
    placeUnit: 'record',
    measure: async () => undefined,
    async *read() {
      for (const chunk of chunks) {
        if (chunk instanceof SourceError) throw chunk;
        yield chunk;
      }
    },
  };
  const firsts: (readonly RawBooking[])[] = [];
  const decide = (_: unknown, listFirst: () => readonly RawBooking[]) => {
    firsts.push(listFirst());
    return createNormaliser();
  };
  const passed: SourceChunk[] = [];
  let failure: unknown;
  try {
    for await (const { chunk } of readNormalised(source, day, decide, { signal, atMost })) passed.push(chunk);
  } catch (error) {
    failure = error;
  }
  return { decidedBy: firsts.map((first) => first.length), passed, failure };
}

it('The first thousand records of a day decide how it is read, however they arrive', async () => {
  const small = Array.from({ length: 150 }, () => chunkOf(10));
  expect(await readChunks(small)).toMatchObject({ decidedBy: [1_000], passed: small });
  expect(await readChunks([chunkOf(2_500), chunkOf(5)])).toMatchObject({ decidedBy: [1_000] });
  expect(await readChunks([chunkOf(3), chunkOf(4)])).toMatchObject({ decidedBy: [7] });
  expect(await readChunks(small, 5)).toMatchObject({ decidedBy: [10], passed: small });
  expect(await readChunks([])).toMatchObject({ decidedBy: [0], passed: [] });
});

it('What was read before the source failed is passed on', async () => {
  const failure = new SourceError('unreadable', 'gone');
  expect(await readChunks([chunkOf(3), failure])).toMatchObject({ passed: [chunkOf(3)], failure });
});
