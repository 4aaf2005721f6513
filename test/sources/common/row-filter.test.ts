import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import { readExtraValue } from '../../../src/booking/extra-values.js';
import { type BookingSource, type SourceChunk, SourceError } from '../../../src/booking/source.js';
import type { SourceParts } from '../../../src/sources/common/kind.js';
import { createFilteredSource, type RowFilter } from '../../../src/sources/common/row-filter.js';
import { openSource, type SourceSettings, sourceSchema } from '../../../src/sources/registry.js';
import { masterIdOnly } from '../../support/source-columns.js';
import { type BookingsApi, sendJson, startBookingsApi } from '../http/bookings-api.js';

const day = createBusinessDay('2026-11-20', 'Europe/Madrid');
const states = ['CONF', ' OK ', 'CANC', '', null, '7'];
let folder = '';
let api: BookingsApi | undefined;

const unused = () => {
  throw new TypeError('not needed by local sources');
};
const parts = {
  openBucket: unused,
  retry: { tries: 1, waits: 0, nextDelay: unused },
  clock: () => new Date(0),
  random: () => 0,
  sourceMessages: { say: () => undefined, showsModuleErrors: false },
} as unknown as SourceParts;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'row-filter-'));
  const objects = states.map((Estado, index) => ({ ServiceId: index + 1, booking: { Estado } }));
  api = await startBookingsApi((_, response) => sendJson(response, objects));
  const csv = objects.map(({ ServiceId, booking }) => `${ServiceId},${booking.Estado ?? ''}\n`);
  await writeFile(join(folder, 'day.csv'), `ServiceId,Estado\n${csv.join('')}x,y,z\n`);
  await writeFile(join(folder, 'day.ndjson'), objects.map((one) => `${JSON.stringify(one)}\n`).join(''));
  await writeFile(
    join(folder, 'day.mjs'),
    `export async function* bookings() { yield ${JSON.stringify(objects)}; }\n`,
  );
});
afterAll(async () => {
  await api?.close();
  await rm(folder, { recursive: true, force: true });
});

const columns = masterIdOnly;
const kinds = {
  csv: () => ({ kind: 'csv', path: join(folder, 'day.csv'), columns }),
  ndjson: () => ({ kind: 'ndjson', path: join(folder, 'day.ndjson'), columns }),
  module: () => ({ kind: 'module', path: join(folder, 'day.mjs'), columns }),
  http: () => ({ kind: 'http', url: `${api?.origin}/bookings?day={day}`, columns }),
};

async function read(kind: keyof typeof kinds, where: RowFilter) {
  const settings: SourceSettings = sourceSchema.parse({ ...kinds[kind](), where });
  const source = await openSource(settings, parts);
  const taken: unknown[] = [];
  let filtered = 0;
  for await (const chunk of source.read(day, { signal: new AbortController().signal, atMost: 1 })) {
    filtered += chunk.filtered ?? 0;
    taken.push(
      ...chunk.records.map((record) =>
        'fields' in record ? Number(record.fields.ServiceId) : record.unreadable,
      ),
    );
  }
  return { taken, filtered };
}

const nested: readonly string[] = ['ndjson', 'module', 'http'];
const columnOf = (kind: string) => (nested.includes(kind) ? 'booking.Estado' : 'Estado');

describe.each(Object.keys(kinds) as (keyof typeof kinds)[])('a filter of a source of kind %s', (kind) => {
  const unreadable = kind === 'csv' ? ['wrong-cell-count'] : [];
  const column = columnOf(kind);

  it.each<[string, (column: string) => RowFilter, number[]]>([
    ['one of several values', (column) => ({ [column]: ['CONF', 'OK'] }), [1, 2]],
    ['no value', (column) => ({ [column]: [''] }), [4, 5]],
    ['all columns that match', (column) => ({ [column]: ['CONF', 7], ServiceId: { not: [1] } }), [6]],
  ])('selects the records with %s, and counts the others', async (_, where, taken) => {
    expect(await read(kind, where(column))).toEqual({
      taken: [...taken, ...unreadable],
      filtered: states.length - taken.length,
    });
  });

  it('takes a column that no record has for missing, but fails where a header lacks it', async () => {
    const reading = read(kind, { [column]: ['CONF'], Status: { not: ['X'] } });
    if (kind !== 'csv') return expect(await reading).toEqual({ taken: [1], filtered: 5 });
    const failure = await reading.catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(SourceError);
    expect(failure).toMatchObject({
      fault: 'missing-column',
      message: expect.stringMatching(/"Status" \(for source\.where\)/),
    });
  });
});

describe.each(Object.keys(kinds) as (keyof typeof kinds)[])(
  'extra columns of a source of kind %s',
  (kind) => {
    const column = columnOf(kind);

    it('come with each record, beside a filter, and one that the source does not have is a notice', async () => {
      const where = { ServiceId: { not: [1] } };
      const keep = { Status: column, Price: 'precio' };
      const settings: SourceSettings = sourceSchema.parse({ ...kinds[kind](), where, keep });
      const source = await openSource(settings, parts);
      const found = new Map<number, unknown>();
      const notices: unknown[] = [];
      for await (const chunk of source.read(day, { signal: new AbortController().signal })) {
        for (const record of chunk.records)
          if ('fields' in record)
            found.set(Number(record.fields.ServiceId), record.extraValues?.map(readExtraValue));
        notices.push(...(chunk.notices ?? []));
      }
      const texts = ['CONF', 'OK', 'CANC', undefined, undefined, '7'];
      const expected = texts.map((text, index) => [index + 1, [text, undefined]] as const);
      expect([...found]).toEqual(expected.slice(1));
      expect(notices).toEqual([{ kind: 'absent-column', column: 'precio' }]);
    });
  },
);

describe('what a filter says of its columns', () => {
  const settle = async (
    filterValues: readonly (readonly unknown[])[],
    filter: RowFilter,
    named?: Parameters<typeof createFilteredSource>[2],
  ) => {
    const source: BookingSource = {
      locate: () => 'the source',
      placeUnit: 'row',
      measure: async () => undefined,
      async *read() {
        for (const [at, values] of filterValues.entries())
          yield { records: [{ place: at + 1, fields: {}, filterValues: values }] };
      },
    };
    let where: SourceChunk['where'];
    const filtered = createFilteredSource(source, filter, named);
    for await (const chunk of filtered.read(day, { signal: new AbortController().signal }))
      where = chunk.where;
    return where;
  };
  const filter = { Status: { not: ['storniert', ''] } };

  it('is each value with its number, whatever its case, the most frequent first', async () => {
    const values = ['OK', 'Storniert', ' ok ', null, 'OK', undefined, 'STORNIERT', { a: 1 }];
    expect(
      await settle(
        values.map((value) => [value]),
        filter,
      ),
    ).toEqual([
      {
        column: 'Status',
        condition: '{"not":["storniert",""]}',
        isOfWords: true,
        taken: 4,
        leftOut: 4,
        values: [
          { value: 'OK', records: 3, isTaken: true, isNamed: false },
          { value: 'Storniert', records: 2, isTaken: false, isNamed: true },
          { value: '', records: 2, isTaken: false, isNamed: true },
          { value: '{…}', records: 1, isTaken: true, isNamed: false },
        ],
      },
    ]);
  });

  it.each<[string, RowFilter, Parameters<typeof createFilteredSource>[2], readonly unknown[]]>([
    ['guests’ names', { kunde: ['A'] }, { BookingClientName: 'Kunde' }, ['A', 'B']],
    ['many values', { Ref: ['v0'] }, {}, Array.from({ length: 21 }, (_, at) => `v${at}`)],
    ['long values', { Note: ['A'] }, {}, ['A', 'x'.repeat(61)]],
  ])('is no value of a column of %s, but how many there are', async (_, where, named, values) => {
    const [only] =
      (await settle(
        values.map((value) => [value]),
        where,
        named,
      )) ?? [];
    expect(only).toMatchObject({ taken: 1, leftOut: values.length - 1 });
    expect(only).not.toHaveProperty('values');
  });
});

describe('a filter, for a caller that needs only a few records', () => {
  const read = async (atMost: number | undefined) => {
    const asked: (number | undefined)[] = [];
    const chunks = Array.from({ length: 30 }, (_, at) =>
      Array.from({ length: 100 }, (_, row) => ({
        place: at * 100 + row + 1,
        fields: {},
        filterValues: [at < 9 ? 'CANC' : 'CONF'],
      })),
    );
    const source: BookingSource = {
      locate: () => 'the source',
      placeUnit: 'row',
      measure: async () => undefined,
      async *read(_, options) {
        asked.push(options.atMost);
        for (const records of chunks) yield { records };
      },
    };
    const counts = { taken: 0, filtered: 0 };
    const filtered = createFilteredSource(source, { Estado: ['CONF'] });
    for await (const chunk of filtered.read(day, { signal: new AbortController().signal, atMost })) {
      counts.taken += chunk.records.length;
      counts.filtered += chunk.filtered ?? 0;
    }
    return { ...counts, asked };
  };

  it('reads no more than a thousand, however few of them match', async () => {
    expect(await read(5)).toEqual({ taken: 100, filtered: 900, asked: [1_000] });
    expect(await read(1_250)).toEqual({ taken: 350, filtered: 900, asked: [1_250] });
  });

  it('reads the whole day for a run', async () => {
    expect(await read(undefined)).toEqual({ taken: 2_100, filtered: 900, asked: [undefined] });
  });
});
