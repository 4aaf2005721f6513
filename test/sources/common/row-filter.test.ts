import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readExtraValue } from '../../../src/booking/extra-values.js';
import { type BookingSource, type SourceChunk, SourceError } from '../../../src/booking/source.js';
import { createFilteredSource, type RowFilter } from '../../../src/sources/common/row-filter.js';
import { openSource } from '../../../src/sources/registry.js';
import { settingsOf } from '../../contracts/sample.js';
import { masterIdOnly } from '../../support/source-columns.js';
import { openTestParts } from '../../support/source-parts.js';
import { makeTemporaryFolder } from '../../support/temporary-folder.js';
import { sendJson, useBookingsApi } from '../http/bookings-api.js';
import { writeModule } from '../module/module-folder.js';
import { day, readToEnd } from '../reading.js';

const states = ['CONF', ' OK ', 'CANC', '', null, '7'];
const objects = states.map((Estado, index) => ({ ServiceId: index + 1, booking: { Estado } }));
const rows = objects.map(({ ServiceId, booking }) => `${ServiceId},${booking.Estado ?? ''}\n`);
const lines = objects.map((one) => `${JSON.stringify(one)}\n`);

function writeDay(content: string): string {
  const path = join(makeTemporaryFolder(), 'day');
  writeFileSync(path, content);
  return path;
}

const kinds = {
  csv: async () => ({ path: writeDay(`ServiceId,Estado\n${rows.join('')}x,y,z\n`) }),
  ndjson: async () => ({ path: writeDay(lines.join('')) }),
  module: async () => ({
    path: writeModule(`export async function* bookings() { yield ${JSON.stringify(objects)}; }`),
  }),
  http: async () => {
    const { origin } = await useBookingsApi((_, response) => sendJson(response, objects));
    return { url: `${origin}/bookings?day={day}` };
  },
};

async function open(kind: keyof typeof kinds, more: object) {
  const settings = settingsOf({ kind, columns: masterIdOnly, ...(await kinds[kind]()), ...more });
  return openSource(settings.source, openTestParts(settings));
}

async function read(kind: keyof typeof kinds, where: RowFilter) {
  const source = await open(kind, { where });
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
  const isFile = kind === 'csv' || kind === 'ndjson';

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

  it('tells nothing that its column of guests’ names holds', async () => {
    const columns = { ...masterIdOnly, BookingClientName: column };
    const { chunks } = await readToEnd(await open(kind, { columns, where: { [column]: { not: ['CONF'] } } }));
    expect(chunks.at(-1)?.where).toEqual([expect.not.objectContaining({ values: expect.anything() })]);
  });

  it('leaves the size of the day as it is', async () => {
    const sizes = [await open(kind, {}), await open(kind, { where: { [column]: ['CONF'] } })];
    const [whole, filtered] = await Promise.all(sizes.map((source) => source.measure(day)));
    expect([filtered, typeof whole]).toEqual([whole, isFile ? 'number' : 'undefined']);
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

it.each(Object.keys(kinds) as (keyof typeof kinds)[])(
  'a day of kind %s in which no record has the column of a field fails',
  async (kind) => {
    const reading = readToEnd(await open(kind, { columns: { ...masterIdOnly, ProviderHotelId: 'code' } }));
    const words = /"code" \(for ProviderHotelId\).* has "ServiceId".*\{ ProviderHotelId: false \}$/;
    const fault = kind === 'csv' ? 'missing-column' : 'missing-member';
    await expect(reading).rejects.toMatchObject({ fault, message: expect.stringMatching(words) });
  },
);

describe.each(Object.keys(kinds) as (keyof typeof kinds)[])(
  'extra columns of a source of kind %s',
  (kind) => {
    const column = columnOf(kind);

    it('come with each record, beside a filter, and one that the source does not have is a notice', async () => {
      const where = { ServiceId: { not: [1] } };
      const keep = { Status: column, Price: 'precio' };
      const { chunks, notices } = await readToEnd(await open(kind, { where, keep }));
      const found = new Map<number, unknown>();
      for (const record of chunks.flatMap(({ records }) => records))
        if ('fields' in record)
          found.set(Number(record.fields.ServiceId), record.extraValues?.map(readExtraValue));
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

  it('is counted for every record, also of those that another column leaves out', async () => {
    const rows = ['A', 'B', 'B'].map((kind) => ['storniert', kind]);
    const where = await settle([...rows, ['OK', 'A']], { ...filter, Kind: ['A'] });
    expect(where?.map(({ taken, leftOut }) => [taken, leftOut])).toEqual([
      [1, 3],
      [2, 2],
    ]);
  });

  it('is each of twenty values of sixty characters, and that some have none', async () => {
    const twenty = Array.from({ length: 20 }, (_, at) => [`${at}`.padEnd(60, 'x')]);
    const where = await settle([...twenty, [null]], filter);
    expect(where?.[0]?.values).toHaveLength(21);
  });

  it.each<[string, RowFilter, Parameters<typeof createFilteredSource>[2], readonly unknown[]]>([
    ['guests’ names', { feld7: ['A'] }, { BookingClientName: 'Feld7' }, ['A', 'B']],
    ['guests’ names, as it seems', { guest_name: ['A'] }, { BookingClientName: 'Feld7' }, ['A', 'B']],
    ['many values', { Ref: ['v0'] }, {}, Array.from({ length: 21 }, (_, at) => `v${at}`)],
    ['more values than are kept', { Ref: ['v120'] }, {}, Array.from({ length: 150 }, (_, at) => `v${at}`)],
    ['long values', { Note: ['A'] }, {}, ['A', 'x'.repeat(61)]],
    ['values that are not kept', { Note: ['A'] }, {}, ['A', 'x'.repeat(201)]],
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
