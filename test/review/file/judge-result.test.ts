import { describe, expect, it } from 'vitest';
import type { ResultTotals } from '../../../src/review/file/join-result.js';
import {
  decideOnResult,
  isComplete,
  isForeign,
  isSettled,
  listColumns,
  listVerdicts,
  pauseBeforeLook,
  type ResultMoment,
  type ResultRules,
} from '../../../src/review/file/judge-result.js';
import { createVerdictState, type Said, type VerdictState } from '../../../src/review/file/verdict-state.js';

const all: ResultRules = { resultNames: 'all', maxUnansweredShare: 0 };
const incorrectOnly: ResultRules = { resultNames: 'incorrect', maxUnansweredShare: 0 };
const growing: ResultMoment = { isQuiet: false, isDue: false };
const quiet: ResultMoment = { isQuiet: true, isDue: false };
const due: ResultMoment = { isQuiet: false, isDue: true };
const everyVerdict = { unanswered: 0, unclear: 0 };

describe('a result that names all bookings', () => {
  it.each<[string, Partial<ResultTotals>, ResultMoment, boolean]>([
    ['with every row and a last line end', {}, growing, true],
    ['that lacks a row', { unanswered: 1 }, growing, false],
    ['that lacks a row, however long it rests', { unanswered: 1 }, quiet, false],
    ['without a last line end', { end: endOf({ isWhole: false }) }, growing, false],
    ['without a last line end that rests', { end: endOf({ isWhole: false }) }, quiet, true],
    ['that names another booking too', { foreign: 1 }, quiet, true],
    ['that names as many others as ours', { foreign: 5 }, quiet, true],
    ['that names more others than ours', { foreign: 6 }, quiet, false],
  ])('%s is complete or not', (_, differing, moment, expected) => {
    expect(isComplete(totalsOf(differing), moment, all)).toBe(expected);
  });

  it('is accepted when it is complete', () => {
    expect(decideOnResult(totalsOf(), everyVerdict, growing, all)).toEqual({
      kind: 'accept',
      isComplete: true,
    });
  });

  it('is waited for while it is incomplete, and fails when it is due', () => {
    const counts = { unanswered: 5, unclear: 0 };
    const half = totalsOf({ unanswered: 5 });
    expect(decideOnResult(half, counts, quiet, all)).toEqual({ kind: 'wait' });
    expect(decideOnResult(half, counts, due, all)).toEqual({ kind: 'refuse', code: 'result-incomplete' });
  });

  it('is accepted incomplete when it is due, up to the share that may stay without a verdict', () => {
    const decide = (maxUnansweredShare: number) =>
      decideOnResult(totalsOf({ unanswered: 2 }), { unanswered: 2, unclear: 1 }, due, {
        ...all,
        maxUnansweredShare,
      });
    expect(decide(0.3)).toEqual({ kind: 'accept', isComplete: false });
    expect(decide(0.29)).toEqual({ kind: 'refuse', code: 'result-incomplete' });
  });

  it('is not waited for when it names a booking without a readable verdict', () => {
    const unclear = { unanswered: 0, unclear: 1 };
    const totals = totalsOf({ judging: 9 });
    expect(decideOnResult(totals, unclear, growing, all)).toEqual({
      kind: 'refuse',
      code: 'result-incomplete',
    });
    const lenient = { ...all, maxUnansweredShare: 0.1 };
    expect(decideOnResult(totals, unclear, growing, lenient)).toEqual({ kind: 'accept', isComplete: true });
  });

  it('cannot be read when no row has a verdict, whatever share may stay without one', () => {
    const totals = totalsOf({ judging: 0, fields: ['bookingReferenceId'] });
    const decision = decideOnResult(totals, { unanswered: 0, unclear: 10 }, growing, {
      ...all,
      maxUnansweredShare: 1,
    });
    expect(decision).toEqual({ kind: 'refuse', code: 'result-unreadable' });
  });

  it('is not ours when it names more bookings of others than ours, once no line is cut off', () => {
    const others = totalsOf({ foreign: 6 });
    const cutOff = totalsOf({ foreign: 6, end: endOf({ isWhole: false }) });
    expect(isForeign(others)).toBe(true);
    expect(isSettled(others, growing)).toBe(true);
    expect(isSettled(cutOff, growing)).toBe(false);
    expect(isSettled(cutOff, quiet)).toBe(true);
    // A growing one would be set aside at each look.
    expect(isSettled(others, { ...growing, wasSetAside: true })).toBe(false);
    expect(isSettled(others, { ...quiet, wasSetAside: true })).toBe(true);
  });

  it('is not compared with its totals, repeated headers and unreadable rows', () => {
    const rows = endOf({ rows: 14, malformed: 2 });
    expect(isForeign(totalsOf({ end: rows, unidentified: 2, foreign: 5 }))).toBe(false);
    expect(isForeign(totalsOf({ end: rows, unidentified: 2, foreign: 6 }))).toBe(true);
  });

  it('cannot be read at all if no column names bookings, or if no row fits the header: once it is due', () => {
    const counts = { unanswered: 10, unclear: 0 };
    for (const differing of [
      { fields: [], columns: ['a;b'], unidentified: 10 },
      { fields: ['isCorrect' as const], unidentified: 10 },
      { end: endOf({ malformed: 10 }) },
    ]) {
      const totals = totalsOf({ unanswered: 10, ...differing });
      expect(decideOnResult(totals, counts, quiet, all)).toEqual({ kind: 'wait' });
      expect(decideOnResult(totals, counts, due, all)).toEqual({ kind: 'refuse', code: 'result-unreadable' });
    }
    const empty = totalsOf({ fields: [], columns: [], end: endOf({ rows: 0 }), unanswered: 10 });
    expect(decideOnResult(empty, counts, due, all)).toEqual({ kind: 'refuse', code: 'result-incomplete' });
  });

  it('has no readable verdict, however readable its line of totals is', () => {
    const totals = totalsOf({ end: endOf({ rows: 11 }), unidentified: 1, summaries: 1, judging: 0 });
    const decision = decideOnResult(totals, { unanswered: 0, unclear: 10 }, growing, all);
    expect(decision).toEqual({ kind: 'refuse', code: 'result-unreadable' });
  });

  it('has no readable verdict, however many rows are broken beside the unreadable ones', () => {
    const totals = totalsOf({ end: endOf({ malformed: 2 }), judging: 0 });
    const decision = decideOnResult(totals, everyVerdict, growing, all);
    expect(decision).toEqual({ kind: 'refuse', code: 'result-unreadable' });
  });

  it('lacks its rows, and is no unreadable table, when only its header came', () => {
    const header = totalsOf({ end: endOf({ rows: 0 }), unanswered: 10 });
    const decision = decideOnResult(header, { unanswered: 10, unclear: 0 }, due, all);
    expect(decision).toEqual({ kind: 'refuse', code: 'result-incomplete' });
  });

  it('leaves a booking without a verdict if it does not name it, also when it is complete', async () => {
    const found = await stateOf('incorrect', 'not-in-result', 'unclear');
    const { verdicts, counts } = listVerdicts(totalsOf(), found, all, true);
    expect(verdicts.map(({ judged }) => judged)).toEqual(['incorrect', 'not-in-result', 'unclear']);
    expect(counts).toMatchObject({ affected: 1, unanswered: 1, unclear: 1, listsUnanswered: true });
  });

  it('counts the rows that name no booking of ours', async () => {
    const totals = totalsOf({ end: endOf({ rows: 13 }), foreign: 1, unidentified: 2, summaries: 1 });
    const { counts } = listVerdicts(totals, await stateOf(), all, true);
    expect(counts).toMatchObject({ ignored: 3, malformed: 0 });
  });
});

describe('a result with a column twice', () => {
  const twice = totalsOf({ ambiguous: ['IsCorrectMapping (column 6)', 'IsCorrectMapping (column 7)'] });

  it('is refused once all of it is there, or it no longer changes, and awaited until then', () => {
    const refused = { kind: 'refuse', code: 'result-unreadable' };
    expect(decideOnResult(twice, everyVerdict, growing, all)).toEqual(refused);
    const part = { ...twice, unanswered: 3 };
    expect(decideOnResult(part, everyVerdict, growing, all)).toEqual({ kind: 'wait' });
    for (const moment of [quiet, due])
      for (const rules of [all, incorrectOnly])
        expect(decideOnResult(part, everyVerdict, moment, rules)).toEqual(refused);
  });
});

describe('a result that names only incorrect rows', () => {
  const few = totalsOf({ unanswered: 9, end: endOf({ rows: 1 }), judging: 1 });

  it('is complete once it no longer changes, and the bookings that it does not name are correct', async () => {
    expect(isComplete(few, growing, incorrectOnly)).toBe(false);
    expect(isComplete(few, quiet, incorrectOnly)).toBe(true);
    const { verdicts, counts } = listVerdicts(
      few,
      await stateOf('incorrect', 'not-in-result'),
      incorrectOnly,
      true,
    );
    expect(verdicts).toEqual([{ batch: 0, judged: 'incorrect', rows: [0], sources: [0] }]);
    expect(counts).toMatchObject({ affected: 1, unanswered: 0 });
    expect(decideOnResult(few, counts, quiet, incorrectOnly)).toEqual({ kind: 'accept', isComplete: true });
  });

  it('is complete with totals and a repeated header, but not with a booking that may be one of ours', () => {
    const end = endOf({ rows: 5 });
    const totals = { ...few, end, unidentified: 2, summaries: 2 };
    expect(isComplete(totals, quiet, incorrectOnly)).toBe(true);
    expect(isComplete({ ...totals, foreign: 1 }, quiet, incorrectOnly)).toBe(false);
  });

  it('has no verdict on the others until then', async () => {
    const { counts } = listVerdicts(few, await stateOf('incorrect', 'not-in-result'), incorrectOnly, false);
    expect(counts).toMatchObject({ affected: 1, unanswered: 1 });
  });

  it('leaves a booking unclear that it names without a verdict, and those that it does not name unnamed until it is complete', async () => {
    const read = listVerdicts(few, await stateOf('unclear', 'not-in-result'), incorrectOnly, false);
    expect(read.verdicts.map(({ judged }) => judged)).toEqual(['not-in-result', 'unclear']);
  });

  it('cannot be read if no row of its column of verdicts can, but says something by its header alone', () => {
    const decide = (differing: Partial<ResultTotals>) =>
      decideOnResult({ ...few, ...differing }, everyVerdict, quiet, incorrectOnly);
    expect(decide({ judging: 0 })).toEqual({ kind: 'refuse', code: 'result-unreadable' });
    const header = { unanswered: 10, end: endOf({ rows: 0 }), judging: 0 };
    expect(decide(header)).toEqual({ kind: 'accept', isComplete: true });
  });

  it.each<[string, Partial<ResultTotals>]>([
    [
      'names as many bookings of others as it has other rows too many',
      { end: endOf({ rows: 5 }), unidentified: 3, summaries: 2, foreign: 1 },
    ],
    ['is empty', { fields: [], end: endOf({ rows: 0, isWhole: false }) }],
    ['is no table of bookings', { fields: [] }],
    ['has an unreadable row', { end: endOf({ rows: 1, malformed: 1 }) }],
    ['has a row that names no booking', { unidentified: 2, summaries: 1 }],
  ])('is never complete when it %s: that must not make all bookings correct', (_, differing) => {
    expect(isComplete({ ...few, ...differing }, quiet, incorrectOnly)).toBe(false);
  });
});

it('checks half a second after the call, then less and less often', () => {
  expect(pauseBeforeLook(0, 30_000)).toBe(500);
  expect(pauseBeforeLook(-5_000, 30_000)).toBe(500);
  expect(pauseBeforeLook(10_000, 30_000)).toBe(5_000);
  expect(pauseBeforeLook(3_600_000, 30_000)).toBe(30_000);
  expect(pauseBeforeLook(0, 50)).toBe(50);
});

it('shows columns without control characters, and not too many of them', () => {
  const columns = listColumns(['a\u001b[31m', 'b'.repeat(100), ...Array<string>(20).fill('c')]);
  expect(columns.slice(0, 2)).toEqual(['a[31m', 'b'.repeat(40)]);
  expect(columns.slice(20)).toEqual(['and 2 more']);
  expect(listColumns(Array<string>(20).fill('c'))).toEqual(Array(20).fill('c'));
});

function endOf(differing: Partial<ResultTotals['end']> = {}): ResultTotals['end'] {
  return { rows: 10, malformed: 0, isWhole: true, ...differing };
}

/** A result of ten bookings. */
function totalsOf(differing: Partial<ResultTotals> = {}): ResultTotals {
  return {
    fields: ['bookingReferenceId', 'isCorrect'],
    columns: ['BookingReferenceId', 'IsCorrectMapping'],
    ambiguous: [],
    form: { encoding: 'utf-8', delimiter: ',' },
    end: endOf(),
    sent: 10,
    unanswered: 0,
    foreign: 0,
    unidentified: 0,
    summaries: 0,
    judging: 10,
    ...differing,
  };
}

/** What is known once a result has said this about the bookings of a batch. */
async function stateOf(...said: readonly Said[]): Promise<VerdictState> {
  const state = createVerdictState({ verdicts: [], sources: [] }, true);
  await state.add(
    (async function* () {
      yield { batch: 0, said };
    })(),
    { name: 'result.csv' },
  );
  return state;
}
