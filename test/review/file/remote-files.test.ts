import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import {
  createResultNameTest,
  defaultResultPattern,
  largestOf,
  locateRemoteFiles,
} from '../../../src/review/file/remote-files.js';
import { someRun } from '../some-run.js';

const uploadDay = createBusinessDay('2026-03-05', 'Europe/Madrid');
const remote = locateRemoteFiles(uploadDay);

describe('on the SFTP server', () => {
  it('the review file is where the service looks for it (spec 4.3)', () => {
    const folder = 'VerifyMappings/032026';
    expect(remote).toMatchObject({ folder, name: '05032026.csv', path: `${folder}/05032026.csv` });
  });

  it('an upload has a unique name for each run, owner and attempt', () => {
    const uploads = [
      ['20260305-k3f9xq7d', 1, 1],
      ['20260305-k3f9xq7d', 1, 2],
      ['20260305-k3f9xq7d', 2, 1],
      ['x', 1, 1],
    ];
    const names = (uploads as [string, number, number][]).map((upload) => remote.temporaryPath(...upload));
    expect(names[0]).toBe('VerifyMappings/032026/05032026.20260305-k3f9xq7d.1-1.part');
    expect(new Set(names).size).toBe(4);
    const isResult = createResultNameTest(defaultResultPattern, uploadDay);
    const found = names.map((path) => path.slice(remote.folder.length + 1));
    expect(found.map((name) => [remote.isLeftover(name), isResult(name)])).toEqual(
      Array(4).fill([true, false]),
    );
  });

  it.each([
    ['05032026.20250101-other.17.part', true],
    ['05032026_Result.part', false],
    ['06032026.20260306-k3f9xq7d.1.part', false],
    ['105032026.x.part', false],
    ['05032026.x.part.csv', false],
    ['notes.part', false],
  ])('%s is what an attempt of that day left behind: %s', (name, isLeftover) => {
    expect(remote.isLeftover(name)).toBe(isLeftover);
  });
});

it('what is received may answer the largest file that any run of the day sent', () => {
  const runs = [{}, { bytes: 5 }, { bytes: 9_000_000 }, { bytes: 7 }].map((file) => someRun({ file }));
  expect(largestOf(runs)?.bytes).toBe(9_000_000);
});

const day = createBusinessDay('2026-11-20', 'Europe/Madrid');

describe('the name of a result', () => {
  it.each([
    [defaultResultPattern, '20112026_Result.csv', true],
    [defaultResultPattern, '20112026-v2_Result.csv', true],
    [defaultResultPattern, '20112026_result.csv', false],
    [defaultResultPattern, '20112026_Result.csv.filepart', false],
    [defaultResultPattern, 'x20112026_Result.csv', false],
    [defaultResultPattern, '20112025_Result.csv', false],
    ['{day}.result', '2026-11-20.result', true],
    ['{day}.result', '2026-11-20xresult', false],
    ['*{day:yyyyMMdd}*', 'result of 20261120.csv', true],
    ['*{day:yyyyMMdd}*', '20261121', false],
    ['Result_{day:ddMM}*{day:yy}.csv', 'Result_2011-26.csv', true],
    ['(.+)[a-z]?.csv', '(.+)[a-z]?.csv', true],
    ['(.+)[a-z]?.csv', 'abc.csv', false],
    ['{day:dd*MM}.csv', '20*11.csv', true],
    ['{day:dd*MM}.csv', '20011.csv', false],
    // It is never that of the file that was sent.
    ['{day:ddMMyyyy}*.csv', '20112026.csv', false],
    ['*', '20112026.csv', false],
  ])('as %s: %s is one: %s', (pattern, name, isOne) => {
    expect(createResultNameTest(pattern, day)(name)).toBe(isOne);
  });

  it('matches a pattern like the equivalent regular expression', () => {
    const anyGlob = fc.string({ unit: fc.constantFrom('a', 'b', '*', '.') });
    const anyName = fc.string({ unit: fc.constantFrom('a', 'b', '.') });
    fc.assert(
      fc.property(anyGlob, anyName, (glob, name) => {
        const expression = new RegExp(`^${glob.replaceAll('.', '\\.').replaceAll(/\*+/g, '.*')}$`);
        expect(createResultNameTest(glob, day)(name)).toBe(expression.test(name));
      }),
      { numRuns: 1_000 },
    );
  });

  it.each(['{', 'a}', '{date}', '{day:DD}', 'results/{day}.csv'])('cannot have the pattern %s', (pattern) => {
    expect(() => createResultNameTest(pattern, day)).toThrow(RangeError);
    expect(() => createResultNameTest(pattern, day)).toThrow(JSON.stringify(pattern));
  });
});
