import { expect, it } from 'vitest';
import { listResultFiles, stillCounts } from '../../src/rules/review-file.js';

const fileOf = (name: string) => ({ name, size: 9, sha256: '00', rows: 1 });
const result = { ...fileOf('b.csv'), isWhole: true };

it.each<[Parameters<typeof listResultFiles>[0], readonly string[]]>([
  [undefined, []],
  [{ rows: 2 }, []],
  [{ result }, ['b.csv']],
  [{ result: { ...result, others: [fileOf('a.csv')] } }, ['b.csv', 'a.csv']],
])('of the file %j, these were judged together: %j', (file, names) => {
  expect(listResultFiles(file).map(({ name }) => name)).toEqual(names);
});

it('a verdict that a newer file took back says nothing about its booking', () => {
  const stored = ['incorrect', 'not-in-result', 'unclear', 'cleared'] as const;
  expect(stored.filter(stillCounts)).toEqual(['incorrect', 'not-in-result', 'unclear']);
});
