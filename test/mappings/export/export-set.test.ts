import { describe, expect, it } from 'vitest';
import {
  createQuietWatch,
  findSets,
  isComplete,
  isFrom,
  readName,
} from '../../../src/mappings/export/export-set.js';

describe('the name of an export file', () => {
  it.each([
    ['acme_mappings_0b2f-6a1e.csv', '0b2f-6a1e'],
    ['_mappings_1.csv', undefined],
    ['acme_mappings_1.csv.tmp', undefined],
    ['acme_Mappings_1.csv', undefined],
    ['../acme_mappings_1.csv', undefined],
  ])('%j has the id %s', (name, id) => {
    expect(readName(name)?.id).toBe(id);
  });
});

describe('the exports in a folder', () => {
  const file = (name: string, modifiedAt: number) => ({ name, size: 1, modifiedAt });

  it('are grouped by the shared part of their names, newest first', () => {
    const sets = findSets([
      file('acme_hotels_1.csv', 3_000),
      file('acme_mappings_1.csv', 1_000),
      file('acme_mappings_2.csv', 5_000),
      file('readme.txt', 9_000),
      file('acme_transformed_1.csv', 2_000),
      file('old_hotels_1.csv', 500),
    ]);
    expect(sets.map((set) => [set.id, isComplete(set)])).toEqual([
      ['2', false],
      ['1', true],
    ]);
    const names = ['mappings', 'transformed', 'hotels'].map((kind) => `acme_${kind}_1.csv`);
    expect(sets[1]?.files.map(({ name }) => name)).toEqual(names);
  });

  it('are as new as their oldest file', () => {
    const [set = { id: '', files: [] }] = findSets([
      file('a_mappings_1.csv', 2_000),
      file('a_hotels_1.csv', 3_000),
    ]);
    expect([isFrom(set, 2_000), isFrom(set, 2_001)]).toEqual([true, false]);
  });
});

it.each([
  ['since it was first seen', [1_000, 9_000, 5_000], 60],
  ['not while one of its files is written again', [1_000, 9_000, 6_000], 0],
])('an export has been quiet %s', (_, times, quietMs) => {
  expect(measureQuiet([1_000, 9_000, 5_000], times)).toBe(quietMs);
});

it('an export is quiet on a server that gives each file the time of the look', () => {
  expect(measureQuiet([1_000, 1_000, 1_000], [61_000, 61_000, 62_000])).toBe(60);
});

/** Between two looks, at which its files have these times. */
function measureQuiet(...looks: readonly (readonly number[])[]): number {
  const measure = createQuietWatch();
  const kinds = ['mappings', 'transformed', 'hotels'] as const;
  const measured = looks.map((times, look) => {
    const files = kinds.map((kind, at) => ({ kind, name: kind, size: 1, modifiedAt: times[at] ?? 0 }));
    return measure({ id: '1', files }, look * 60);
  });
  return measured.at(-1) ?? 0;
}
