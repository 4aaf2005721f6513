import { describe, expect, it } from 'vitest';
import { type Condition, createValueTest, isOfWords } from '../../../src/sources/common/where-condition.js';

describe('a value of a record', () => {
  const yes = [true, 'true', 'TRUE', ' True ', 't', 'T', '1', 1];
  const no = [false, 'false', 'FALSE', 'f', '0', 0, -0];
  const missing = [undefined, null, '', '  '];
  const words = ['yes', '2', 2, 'truth', '01', '1.0', Number.NaN, { a: 1 }, ['true']];

  it.each<[Condition, readonly unknown[], readonly unknown[]]>([
    // A boolean of the setting, or the word for it.
    [[true], yes, [...no, ...missing, ...words]],
    [['true'], yes, [...no, ...missing, ...words]],
    [[false], no, [...yes, ...missing, ...words]],
    [{ not: [true] }, [...no, ...missing, ...words], yes],
    // A boolean of the source, however it is written in the setting.
    [['t'], [true, 'true', 't', 'T'], [false, 'f', 1, '1', ...missing]],
    [[1], [true, 'true', 1, '1'], [false, 't', '01', '1.0', 10, ...missing]],
    // Numbers where the source has numbers, and texts elsewhere.
    [[7], [7, 7.0, '7'], [70, '07', '7.0', true]],
    [['007'], [7, '007'], ['7', 70]],
    [['1.50'], [1.5, '1.50'], ['1.5', 1]],
    // Words.
    [['Storniert'], ['storniert', 'STORNIERT ', '="Storniert"'], ['storno', ...missing]],
    [['Iptal'], ['iptal', 'IPTAL'], ['İptal', 'ıptal']],
    [[''], missing, [0, false, 'null', 'x']],
    [{ not: [''] }, [0, false, 'null', 'x', { a: 1 }], missing],
    [{ not: ['NULL'] }, missing, ['null']],
    // Beginnings.
    [{ not: { startsWith: ['TEST-'] } }, ['TEST', 'x TEST-1', ...missing], ['test-1', ' TEST-2']],
    [{ not: { startsWith: ['test-', '99'] } }, ['BR-1', 98, { a: 1 }, ...missing], ['TEST-1', 991, '99']],
  ])('%j takes %j, and not %j', (condition, taken, leftOut) => {
    const isMet = createValueTest(condition);
    expect(taken.filter((value) => !isMet(value))).toEqual([]);
    expect(leftOut.filter((value) => isMet(value))).toEqual([]);
  });
});

it.each<[Condition, boolean]>([
  [['CONF', ''], true],
  [{ not: ['storniert'] }, true],
  [[''], false],
  [['CONF', 1], false],
  [{ not: [true] }, false],
  [['t'], false],
  [{ not: { startsWith: ['TEST-'] } }, false],
])('%j is a list of words: %s', (condition, expected) => {
  expect(isOfWords(condition)).toBe(expected);
});
