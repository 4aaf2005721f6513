import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import { createResultNameTest, defaultResultPattern } from '../../../src/review/file/result-name.js';

const day = createBusinessDay('2026-11-20', 'Europe/Madrid');

describe('the name of a result', () => {
  it.each([
    ['20112026_Result.csv', true],
    ['20112026-v2_Result.csv', true],
    ['20112026235959_Result.csv', true],
    ['20112026_Result_Result.csv', true],
    ['20112026.csv', false],
    ['20112026_result.csv', false],
    ['20112026_Result.csv.filepart', false],
    ['x20112026_Result.csv', false],
    ['19112026_Result.csv', false],
    ['20112025_Result.csv', false],
    ['_Result.csv', false],
    ['20112026Result.csv', false],
  ])('by default: %s is one of the day: %s', (name, isOne) => {
    expect(createResultNameTest(defaultResultPattern, day)(name)).toBe(isOne);
  });

  it.each([
    ['{day}.result', '2026-11-20.result', true],
    ['{day}.result', '2026-11-20xresult', false],
    ['*{day:yyyyMMdd}*', '20261120', true],
    ['*{day:yyyyMMdd}*', 'result of 20261120.csv', true],
    ['*{day:yyyyMMdd}*', '20261121', false],
    ['Result_{day:ddMM}*{day:yy}.csv', 'Result_2011-26.csv', true],
    ['a*b*c', 'abc', true],
    ['a*b*c', 'axxbxbyc', true],
    ['a*b*c', 'axxc', false],
    ['ab*ba', 'aba', false],
    ['**', 'anything', true],
    ['(.+)[a-z]?.csv', '(.+)[a-z]?.csv', true],
    ['(.+)[a-z]?.csv', 'abc.csv', false],
  ])('as %s: %s is one: %s', (pattern, name, isOne) => {
    expect(createResultNameTest(pattern, day)(name)).toBe(isOne);
  });

  it('is never the name of the file that was sent', () => {
    expect(createResultNameTest('{day:ddMMyyyy}*.csv', day)('20112026.csv')).toBe(false);
    expect(createResultNameTest('*', day)('20112026.csv')).toBe(false);
  });

  it('fits a pattern as the same regular expression would have it', () => {
    const anyGlob = fc.string({ unit: fc.constantFrom('a', 'b', '*', '.') });
    const anyName = fc.string({ unit: fc.constantFrom('a', 'b', '.') });
    fc.assert(
      fc.property(anyGlob, anyName, (glob, name) => {
        const expression = new RegExp(`^${glob.replaceAll('.', '\\.').replaceAll(/\*+/g, '.*')}$`);
        expect(createResultNameTest(glob, day)(name)).toBe(expression.test(name));
      }),
      { numRuns: 3_000 },
    );
  });

  it.each(['{', 'a}', '{date}', '{day:}', '{day:DD}', '{day:YYYY}', '{day:n}', '{}', 'results/{day}.csv'])(
    'is refused as the pattern %s',
    (pattern) => {
      expect(() => createResultNameTest(pattern, day)).toThrow(RangeError);
      expect(() => createResultNameTest(pattern, day)).toThrow(JSON.stringify(pattern));
    },
  );
});
