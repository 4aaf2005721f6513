import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createRepeatedHotels,
  createSeenNumbers,
} from '../../../src/mappings/export/compare/compact-sets.js';
import { createComparer, createWordReader } from '../../../src/mappings/export/compare/compare-export.js';
import type { ExportedMapping } from '../../../src/mappings/export/compare/read-mapping-file.js';

function exported(changes: Partial<ExportedMapping> = {}): ExportedMapping {
  return {
    row: 1,
    providerName: 'Bedlink',
    providerHotelId: '007',
    serviceId: 5,
    locationId: 'L',
    channelIds: 'Retail,Net;B2B,Net',
    ...changes,
  };
}

const copied = {
  number: 1,
  providerName: 'Bedlink',
  providerHotelId: '007',
  serviceId: 5,
  locationCode: 'L',
  channelIds: ['B2B,Net', 'Retail,Net'],
  firstSeenAt: 0,
};

describe('a mapping of the file', () => {
  const compare = createComparer();

  it('equals that of the copy whatever the order and the separators of its channels', () => {
    for (const channelIds of ['Retail,Net;B2B,Net', 'Net|B2B|Retail', '["Retail,Net", "B2B,Net"]'])
      expect(compare(exported({ channelIds }), copied)).toBeUndefined();
  });

  it.each<[string, Partial<ExportedMapping>]>([
    ['ServiceId', { serviceId: 6 }],
    ['ChannelIds', { channelIds: 'Retail,Net' }],
    ['ChannelIds', { channelIds: '' }],
    ['ChannelIds', { channelIds: 'retail,Net;B2B' }],
    ['ProviderLocationId', { locationId: 'M' }],
    ['ProviderLocationId', { locationId: '' }],
  ])('has changed in %s: %j', (column, changes) => {
    expect(compare(exported(changes), copied)).toMatchObject({ kind: 'changed', columns: [column] });
  });

  it('lists all columns that have changed', () => {
    const columns = ['ServiceId', 'ChannelIds', 'ProviderLocationId'];
    const changed = exported({ serviceId: 6, channelIds: 'X', locationId: 'M' });
    expect(compare(changed, copied)).toMatchObject({ columns });
  });

  it('was added where the copy has none, or a deleted one', () => {
    const { serviceId: _, ...deleted } = copied;
    expect(compare(exported(), undefined)).toMatchObject({ kind: 'added' });
    expect(compare(exported(), deleted)).toMatchObject({ kind: 'added' });
  });

  it('without a location equals one of the copy without location', () => {
    const { locationCode: _, ...nowhere } = copied;
    expect(compare(exported({ locationId: ' ' }), nowhere)).toBeUndefined();
  });
});

it('channel words are read the same after thousands of others', () => {
  const read = createWordReader();
  const texts = Array.from({ length: 3_000 }, (_, index) => `Channel ${index};net_${index}-x`);
  const first = texts.map(read);
  expect(texts.map(read)).toEqual(first);
  expect(read('Meta-Search,Net;Ämter,B_2')).toBe('B_2 Meta-Search Net Ämter');
});

it('finds the last row of each hotel that has several', () => {
  const anyRow = fc.record({
    providerName: fc.constantFrom('A', 'B', 'Ab'),
    providerHotelId: fc.constantFrom('1', '2', 'b1', '01'),
    serviceId: fc.integer({ min: 1, max: 3 }),
  });
  const repeated = (rows: readonly ExportedMapping[]) => {
    const hotels = createRepeatedHotels();
    for (const row of rows) hotels.add(row);
    return rows.map((row) => hotels.laterThan(row));
  };
  fc.assert(
    fc.property(fc.array(anyRow, { maxLength: 30 }), (made) => {
      const rows = made.map((fields, index) => exported({ ...fields, row: index + 1 }));
      const expected = rows.map((row) => {
        const last = rows.findLast(
          (other) => other.providerName === row.providerName && other.providerHotelId === row.providerHotelId,
        );
        return last === row ? undefined : { row: last?.row, serviceId: last?.serviceId };
      });
      expect(repeated(rows)).toEqual(expected);
    }),
    { numRuns: 30 },
  );
});

it('remembers numbers and finds unseen ones', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 65_530, max: 65_560 })), {
        maxLength: 60,
      }),
      (numbers) => {
        const seen = createSeenNumbers();
        for (const number of numbers) seen.add(number);
        const model = new Set(numbers);
        for (const number of [...numbers, 1, 2, 65_535, 65_536, 65_537, 10_000_000]) {
          expect(seen.has(number)).toBe(model.has(number));
          let next = number;
          while (model.has(next)) next += 1;
          expect(seen.nextUnseen(number)).toBe(next);
        }
      },
    ),
  );
});
