import { describe, expect, it } from 'vitest';
import {
  createNameReader,
  createSetFinder,
  isComplete,
  isFrom,
} from '../../../src/mappings/export/export-set.js';

describe('the name of an export file', () => {
  it.each([
    ['{account}_mappings_{guid}.csv', 'acme_mappings_0b2f-6a1e.csv', '0b2f-6a1e'],
    ['{account}_mappings_{guid}.csv', 'acme_es_mappings_1.csv', '1'],
    ['{account}_mappings_{guid}.csv', '_mappings_1.csv', undefined],
    ['{account}_mappings_{guid}.csv', 'acme_mappings_.csv', undefined],
    ['{account}_mappings_{guid}.csv', 'acme_mappings_1.csv.tmp', undefined],
    ['{account}_mappings_{guid}.csv', 'acme_Mappings_1.csv', undefined],
    ['{account}_mappings_{guid}.csv', 'acme_mappings_1xcsv', undefined],
    ['{account}_mappings_{guid}.csv', '../acme_mappings_1.csv', undefined],
    ['{account}_mappings_{guid}.csv', '.acme_mappings_1.csv', undefined],
    ['{account}_mappings_{guid}.csv', 'ac\nme_mappings_1.csv', undefined],
    ['*-{guid}-(*)+[x].CSV', '-7-()+[x].CSV', '7'],
    ['*-{guid}-(*)+[x].CSV', 'a-b-7-(1)+[x].CSV', '7'],
  ])('with the pattern %s and the name %j gives %s', (pattern, name, id) => {
    expect(createNameReader(pattern)(name)).toBe(id);
  });
});

describe('the exports in a folder', () => {
  const findSets = createSetFinder({
    mappings: '{account}_mappings_{guid}*.csv',
    transformed: '{account}_transformed_{guid}.csv',
    hotels: '{account}_hotels_{guid}.csv',
  });
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

  it('contain the newer of two files of a kind', () => {
    const [set] = findSets([file('acme_mappings_1 (1).csv', 2_000), file('acme_mappings_1.csv', 1_000)]);
    expect(set?.files.map(({ name }) => name)).toEqual(['acme_mappings_1 (1).csv']);
  });

  it('are as new as their oldest file', () => {
    const [set = { id: '', files: [] }] = findSets([
      file('a_mappings_1.csv', 2_000),
      file('a_hotels_1.csv', 3_000),
    ]);
    expect([isFrom(set, 2_000), isFrom(set, 2_001)]).toEqual([true, false]);
  });
});
