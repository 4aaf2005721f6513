import { describe, expect, it } from 'vitest';
import { findSets, isComplete, isFrom, readName } from '../../../src/mappings/export/export-set.js';

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
    ]);
    expect(sets.map((set) => [set.id, isComplete(set)])).toEqual([
      ['2', false],
      ['1', true],
    ]);
    expect(sets[1]?.files.map(({ kind }) => kind)).toEqual(['mappings', 'transformed', 'hotels']);
  });

  it('are as new as their oldest file', () => {
    const [set = { id: '', files: [] }] = findSets([
      file('a_mappings_1.csv', 2_000),
      file('a_hotels_1.csv', 3_000),
    ]);
    expect([isFrom(set, 2_000), isFrom(set, 2_001)]).toEqual([true, false]);
  });
});
