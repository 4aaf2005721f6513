import { describe, expect, it } from 'vitest';
import type { ResultTotals } from '../../../src/review/file/join-result.js';
import {
  decideOnResult,
  isComplete,
  isForeign,
  isSettled,
  joinTotals,
  keepIncorrect,
  listColumns,
  listVerdicts,
  nameMoment,
  needsNoReading,
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

/** A header alone, nothing, and one incorrect row of ten. */
const headerOnly = { end: endOf({ rows: 0 }), unanswered: 10, judging: 0 };
const few = { unanswered: 9, end: endOf({ rows: 1 }), judging: 1 };
const fiveRows = { ...few, end: endOf({ rows: 5 }), summaries: 2 };

it.each<[string, Partial<ResultTotals>, ResultMoment, ResultRules, boolean]>([
  ['every row and a last line end', {}, growing, all, true],
  ['a row too few, however long it rests', { unanswered: 1 }, quiet, all, false],
  ['no last line end', { end: endOf({ isWhole: false }) }, growing, all, false],
  ['no last line end, and it rests', { end: endOf({ isWhole: false }) }, quiet, all, true],
  ['as many other bookings as ours', { foreign: 5 }, quiet, all, true],
  ['more other bookings than ours', { foreign: 6 }, quiet, all, false],
  ['incorrect rows only, and grows', few, growing, incorrectOnly, false],
  ['incorrect rows only, and rests', few, quiet, incorrectOnly, true],
  ['totals and a repeated header', { ...fiveRows, unidentified: 2 }, quiet, incorrectOnly, true],
  // That must not make all bookings correct.
  ['a booking that may be ours', { ...fiveRows, unidentified: 2, foreign: 1 }, quiet, incorrectOnly, false],
  ['another row too many', { ...fiveRows, unidentified: 3, foreign: 1 }, quiet, incorrectOnly, false],
  ['nothing', { ...few, fields: [], end: endOf({ rows: 0, isWhole: false }) }, quiet, incorrectOnly, false],
  ['no table of bookings', { ...few, fields: [] }, quiet, incorrectOnly, false],
  ['an unreadable row', { ...few, end: endOf({ rows: 1, malformed: 1 }) }, quiet, incorrectOnly, false],
  ['a row that names no booking', { ...few, unidentified: 2, summaries: 1 }, quiet, incorrectOnly, false],
])('whether a result is complete that has %s', (_, differing, moment, rules, expected) => {
  expect(isComplete(totalsOf(differing), moment, rules)).toBe(expected);
});

const wait = { kind: 'wait' };
const accept = { kind: 'accept', isComplete: true };
const inPart = { kind: 'accept', isComplete: false };
const totalsOnly = { end: endOf({ rows: 11 }), unidentified: 1, summaries: 1 };
const incomplete = { kind: 'refuse', code: 'result-incomplete' };
const unreadable = { kind: 'refuse', code: 'result-unreadable' };
const lenient = (maxUnansweredShare: number): ResultRules => ({ ...all, maxUnansweredShare });
const lacking = (unanswered: number, unclear = 0) => ({ unanswered, unclear });
const twice = { ambiguous: ['IsCorrectMapping (column 6)', 'IsCorrectMapping (column 7)'] };

it.each<[string, Partial<ResultTotals>, ReturnType<typeof lacking>, ResultMoment, ResultRules, object]>([
  ['is complete', {}, everyVerdict, growing, all, accept],
  ['lacks rows', { unanswered: 5 }, lacking(5), quiet, all, wait],
  ['lacks rows when it is due', { unanswered: 5 }, lacking(5), due, all, incomplete],
  ['lacks no more than it may when it is due', { unanswered: 2 }, lacking(2, 1), due, lenient(0.3), inPart],
  ['lacks more than it may when it is due', { unanswered: 2 }, lacking(2, 1), due, lenient(0.29), incomplete],
  ['has an unreadable verdict', { judging: 9 }, lacking(0, 1), growing, all, incomplete],
  ['has no more of them than it may', { judging: 9 }, lacking(0, 1), growing, lenient(0.1), accept],
  ['has no verdict that can be read', { judging: 0 }, lacking(0, 10), growing, lenient(1), unreadable],
  ['has a line of totals only', { ...totalsOnly, judging: 0 }, lacking(0, 10), growing, all, unreadable],
  ['is broken, too', { end: endOf({ malformed: 2 }), judging: 0 }, everyVerdict, growing, all, unreadable],
  ['is a header', { end: endOf({ rows: 0 }), unanswered: 10 }, lacking(10), due, all, incomplete],
  ['is empty', { ...headerOnly, fields: [], columns: [], judging: 10 }, lacking(10), due, all, incomplete],
  ['has a column twice', twice, everyVerdict, growing, all, unreadable],
  ['has a column twice, and grows', { ...twice, unanswered: 3 }, everyVerdict, growing, all, wait],
  ['has a column twice, and rests', { ...twice, unanswered: 3 }, everyVerdict, quiet, all, unreadable],
  ['has a column twice, and is due', { ...twice, unanswered: 3 }, everyVerdict, due, all, unreadable],
  ['names incorrect rows only', few, everyVerdict, quiet, incorrectOnly, accept],
  ['names none', headerOnly, everyVerdict, quiet, incorrectOnly, accept],
  ['names some without a verdict', { ...few, judging: 0 }, everyVerdict, quiet, incorrectOnly, unreadable],
])('what is decided on a result that %s', (_, differing, counts, moment, rules, decision) => {
  expect(decideOnResult(totalsOf(differing), counts, moment, rules)).toEqual(decision);
});

it.each<[string, Partial<ResultTotals>]>([
  ['no column names bookings', { fields: [], columns: ['a;b'], unidentified: 10 }],
  ['it has a column of verdicts only', { fields: ['isCorrect'], unidentified: 10 }],
  ['no row fits the header', { end: endOf({ malformed: 10 }) }],
])('a result cannot be read at all if %s: once it is due', (_, differing) => {
  const totals = totalsOf({ unanswered: 10, ...differing });
  expect(decideOnResult(totals, lacking(10), quiet, all)).toEqual(wait);
  expect(decideOnResult(totals, lacking(10), due, all)).toEqual(unreadable);
});

describe('a result that names more bookings of others than ours', () => {
  it('is not ours, once no line is cut off', () => {
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

  it('is judged without its totals, repeated headers and unreadable rows', () => {
    const rows = endOf({ rows: 14, malformed: 2 });
    expect(isForeign(totalsOf({ end: rows, unidentified: 2, foreign: 5 }))).toBe(false);
    expect(isForeign(totalsOf({ end: rows, unidentified: 2, foreign: 6 }))).toBe(true);
  });
});

describe('the verdicts of a result', () => {
  const list = async (rules: ResultRules, isWhole: boolean, said: readonly Said[], totals = {}) =>
    listVerdicts(totalsOf(totals), await stateOf(...said), rules, isWhole);

  it('leave a booking open that it does not name, also when it is complete', async () => {
    const totals = { end: endOf({ rows: 13 }), foreign: 1, unidentified: 2, summaries: 1 };
    const { verdicts, counts } = await list(all, true, ['incorrect', 'not-in-result', 'unclear'], totals);
    expect(verdicts.map(({ judged }) => judged)).toEqual(['incorrect', 'not-in-result', 'unclear']);
    expect(counts).toMatchObject({ affected: 1, unanswered: 1, unclear: 1, listsUnanswered: true });
    expect(counts).toMatchObject({ ignored: 3, malformed: 0 });
  });

  it('call correct what a complete result of incorrect ones does not name, and nothing until then', async () => {
    const { verdicts, counts } = await list(incorrectOnly, true, ['incorrect', 'not-in-result'], few);
    expect(verdicts).toEqual([{ batch: 0, judged: 'incorrect', rows: [0], sources: [0] }]);
    expect(counts).toMatchObject({ affected: 1, unanswered: 0 });
    const part = await list(incorrectOnly, false, ['incorrect', 'not-in-result'], few);
    expect(part.counts).toMatchObject({ affected: 1, unanswered: 1 });
    const open = await list(incorrectOnly, false, ['unclear', 'not-in-result'], few);
    expect(open.verdicts.map(({ judged }) => judged)).toEqual(['not-in-result', 'unclear']);
  });
});

it('Files of one result count as one, and say what each of them says', () => {
  const rows = { foreign: 1, unidentified: 3, summaries: 2 };
  const newest = totalsOf({ ...few, fields: ['isCorrect'], ...rows });
  const cutOff = { end: endOf({ malformed: 2, isWhole: false }), foreign: 4, unidentified: 1, summaries: 1 };
  const other = totalsOf({ ...twice, ...cutOff });
  expect(joinTotals([newest, other], 7)).toEqual({
    ...newest,
    ...{
      fields: ['bookingReferenceId', 'isCorrect'],
      columns: [...newest.columns, ...other.columns],
      ...twice,
    },
    end: { rows: 11, malformed: 2, isWhole: false },
    ...{ unanswered: 7, foreign: 5, unidentified: 4, summaries: 3, judging: 11 },
  });
  expect(joinTotals([], 0)).toMatchObject({ sent: 0, form: undefined });
});

it('Of verdicts of which only "incorrect" counts any more, nothing is known about the others', () => {
  const verdicts = [{ batch: 0, judged: 'incorrect' as const, rows: [0, 2] }];
  const recorded = { verdicts, sources: [] };
  const counts = { affected: 2, unanswered: 8, unclear: 0, malformed: 0 };
  expect(keepIncorrect(recorded, 10)).toEqual({ ...recorded, counts });
});

const seenAt = (since: number, others: object = {}) => ({
  ...{ now: 100, isDue: false, deadline: 100, quietMs: 30, token: 2 },
  growing: { files: [], since, token: 2, ...others },
});
const [rests, grows, anew] = [70, 71, 100];

it.each([
  ['rests', seenAt(rests), rests, quiet],
  ['grew lately', seenAt(grows), grows, growing],
  ['has changed', seenAt(rests), anew, growing],
  ['is due, seen in time', { ...seenAt(grows), isDue: true }, grows, due],
  ['is due, has changed since it was seen in time', { ...seenAt(rests), isDue: true }, anew, due],
  ['is due, first seen after its time', { ...seenAt(grows), isDue: true, deadline: grows }, grows, growing],
  [
    'is due, came late, and rests',
    { ...seenAt(rests), isDue: true, deadline: rests },
    rests,
    { ...quiet, isDue: true },
  ],
  ['is due, seen in time by another claim', { ...seenAt(grows, { token: 1 }), isDue: true }, grows, growing],
  ['is due, never seen', { ...seenAt(grows), growing: undefined, isDue: true }, anew, growing],
])('the moment of a result that %s', (_, look, since, moment) => {
  expect(nameMoment(look, since)).toEqual(moment);
});

it.each([
  ['grew lately', seenAt(grows), true],
  ['rests', seenAt(rests), false],
  ['rests, and was read to its end', seenAt(rests, { isRead: true }), true],
  ['was read to its end under another claim', seenAt(rests, { isRead: true, token: 1 }), false],
  ['grew lately, under another claim', seenAt(grows, { token: 1 }), false],
  ['grew lately, and is due', { ...seenAt(grows), isDue: true }, false],
])('whether nothing new can be read of a result that %s', (_, look, expected) => {
  expect(needsNoReading(look)).toBe(expected);
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
