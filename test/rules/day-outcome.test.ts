import { describe, expect, it } from 'vitest';
import {
  alone,
  countsOfRun,
  type DayStanding,
  holdsBookings,
  isCurrent,
  isEmptyDay,
  isUsual,
  outcomeOfRun,
  outcomeToJson,
  type StandingRows,
  summariseDay,
  toBookings,
  withoutRun,
} from '../../src/rules/day-outcome.js';
import type { Run } from '../../src/rules/run.js';
import { someRun } from '../review/some-run.js';
import { outcomeOf } from './some-outcome.js';

type Changes = Parameters<typeof someRun>[0];
const verdicts = { affected: 2, unanswered: 1, unclear: 0, malformed: 0 };

const byBody = (id: string, { counts, ...changes }: Changes = {}) =>
  someRun({ id, ...changes, counts: { affected: null, unanswered: null, ...counts } });

const judged = (id: string, { counts, ...changes }: Changes = {}) =>
  someRun({
    ...{ id, delivery: 'file', file: { rows: 978, verdicts }, ...changes },
    counts: { affected: 2, unanswered: 1, posted: 12, ...counts },
  });

const awaiting = (id: string, { counts, ...changes }: Changes = {}) =>
  someRun({
    ...{ id, delivery: 'file', state: 'awaiting-result', file: { rows: 978 }, ...changes },
    counts: { affected: null, unanswered: 978, posted: 12, ...counts },
  });

const nothing = { read: 0, accepted: 0, duplicates: 0, rejected: 0, delivered: 0 };

const idsOf = (runs: readonly Run[]) => runs.map(({ id }) => id);

describe('what a day came to', () => {
  it.each<[string, Run[], object]>([
    ['no-run', [], { affected: null, unanswered: null, posted: 0, runs: [] }],
    ['by-email', [byBody('a')], { affected: null, unanswered: null, posted: 0 }],
    ['awaiting-result', [awaiting('a')], { affected: null, unanswered: 978, posted: 12 }],
    ['nothing-sent', [byBody('a', { delivery: 'file', counts: nothing })], { affected: null, posted: 0 }],
    ['nothing-sent', [byBody('a', { state: 'failed', counts: { delivered: 0 } })], { affected: null }],
    ['by-email', [byBody('a', { state: 'delivering', counts: { delivered: 0 } })], { affected: null }],
    ['by-email', [byBody('a', { state: 'failed' })], { affected: null }],
    [
      'by-email',
      [byBody('a', { delivery: 'file', counts: { accepted: 7, delivered: 7, posted: 7 } })],
      { affected: null, posted: 7 },
    ],
    [
      'awaiting-result',
      [byBody('a', { delivery: 'file', state: 'collecting', counts: nothing })],
      { affected: null },
    ],
    ['awaiting-result', [byBody('late', { topsUp: true }), awaiting('first')], { affected: null }],
    ['by-email', [byBody('b', { state: 'failed', counts: nothing }), byBody('a')], { affected: null }],
    ['by-email', [byBody('b', { delivery: 'file', counts: nothing }), byBody('a')], { affected: null }],
  ])('is unknown, never 0, without a result: %s', (knowledge, runs, expected) => {
    expect(outcomeOf(runs)).toMatchObject({ knowledge, ...expected });
  });

  it('counts what a top-up by body sent as by e-mail only', () => {
    const runs = [byBody('late', { topsUp: true, counts: { accepted: 5, delivered: 5 } }), judged('first')];
    expect(outcomeOf(runs)).toMatchObject({
      ...{ knowledge: 'judged', affected: 2, posted: 17 },
      ...{ run: { id: 'late' }, latest: { id: 'late' } },
    });
  });

  it('is that of the runs that hold its bookings, and of those that found nothing new', () => {
    const runs = [
      byBody('nothing-new', { topsUp: true, counts: nothing }),
      byBody('given-up', { topsUp: true, counts: nothing, state: 'cancelled' }),
      judged('first'),
      byBody('before', { topsUp: true, counts: nothing }),
      judged('replaced', { state: 'cancelled' }),
    ];
    const outcome = outcomeOf(runs);
    expect(idsOf(outcome.runs)).toEqual(['nothing-new', 'first']);
    expect(outcome).toMatchObject({ affected: 2, run: { id: 'nothing-new' } });
    expect(outcome).not.toHaveProperty('newer');
    const failed = byBody('failed', { state: 'failed', counts: nothing });
    expect(idsOf(outcomeOf([failed, judged('first')]).runs)).toEqual(['first']);
  });

  it('is told of the latest result, and says which newer run has none', () => {
    expect(outcomeOf([awaiting('new'), judged('old')])).toMatchObject({
      ...{ run: { id: 'old' }, newer: { id: 'new' }, latest: { id: 'new' } },
    });
    const givenUp = outcomeOf([awaiting('new', { state: 'cancelled' }), judged('old')]);
    expect(givenUp).not.toHaveProperty('newer');
    expect(givenUp).toMatchObject({ latest: { id: 'old' } });
  });

  it('without a result is told of the newest run that was not cancelled', () => {
    const runs = [awaiting('given-up', { state: 'cancelled' }), byBody('sent')];
    expect(outcomeOf(runs)).toMatchObject({ knowledge: 'by-email', run: { id: 'sent' } });
    expect(outcomeOf([byBody('sent'), byBody('before')])).not.toHaveProperty('newer');
  });
});

const none = { accepted: 0, delivered: 0, refused: 0, pending: 0, posted: 0 };
const day = '2026-11-20';

describe('a run that holds all bookings of its day', () => {
  const of = { accepted: 9, delivered: 6, refused: 1, pending: 2, posted: 3 };

  it('gives the day its counts; without one, only what was flagged is known', () => {
    const byFile = judged('a', { suspects: 4, counts: of });
    const known = { ...of, affected: 2, unanswered: 1, suspects: 4, senders: ['a'] };
    expect(countsOfRun(byFile, [])).toEqual(known);
    expect(countsOfRun(byBody('a', { counts: of }), [byFile])).toEqual({
      ...{ ...known, posted: 0, affected: null, unanswered: null, suspects: null },
    });
    const unknown = { ...none, affected: null, unanswered: null, senders: [] };
    expect(countsOfRun(undefined, [byBody('b'), byFile])).toEqual({ ...unknown, suspects: 4 });
    const { sent, ...outcome } = withoutRun(day);
    expect(outcome).toEqual({ day, knowledge: 'no-run', runs: [], ...unknown, suspects: null });
    expect(sent).toEqual([]);
  });

  it('says alone what its day came to', () => {
    const run = judged('a', { counts: of });
    expect(outcomeOfRun(run)).toMatchObject({ day, knowledge: 'judged', ...of, senders: ['a'], run });
    const empty = byBody('b', { counts: nothing, suspects: 0 });
    expect(outcomeOfRun(empty)).toMatchObject({ ...none, suspects: 0, senders: [], runs: [empty] });
    const { suspects: _, ...shown } = countsOfRun(run, []);
    expect({ ...outcomeToJson(outcomeOfRun(run)), senders: ['a'] }).toEqual(shown);
  });

  it.each<[Changes, boolean, boolean]>([
    [{}, true, true],
    [{ state: 'cancelled' }, true, true],
    [{ state: 'cancelled', counts: { pending: 1 } }, true, false],
    [{ state: 'failed', counts: { pending: 1 } }, true, true],
    [{ counts: { accepted: 0, carried: 1 } }, true, false],
    [{ counts: { accepted: 0 } }, false, true],
  ])('is told by its counts: %j', (changes, holds, usual) => {
    const run = someRun(changes);
    expect([holdsBookings(run), isUsual(run)]).toEqual([holds, usual]);
    const { collectedAt: _, ...collecting } = run;
    expect(holdsBookings(collecting)).toBe(false);
  });
});

it('an outcome that was stored holds until something changes, or its bookings are gone', () => {
  const counts = countsOfRun(undefined, []);
  const at = { day, mark: 'b', isPruned: false, hasSuperseded: false };
  const pruned = { ...at, isPruned: true };
  const storedAt = (mark: string) => ({ stored: { mark, counts } });
  const days = [
    at,
    pruned,
    { ...at, ...storedAt('a') },
    { ...at, ...storedAt('b') },
    { ...pruned, ...storedAt('a') },
  ];
  expect(days.map(isCurrent)).toEqual([false, false, false, true, true]);
});

it('each run of a day knows its bookings that count as something else', () => {
  const runs = [byBody('a'), byBody('b')];
  const rowsOf = (runId: string, standing: DayStanding, batch: number, rows: number[]): StandingRows => ({
    ...{ runId, standing, batch, rows, stream: 'posted' },
  });
  const rows = [
    rowsOf('b', 'uncounted', 0, [1]),
    rowsOf('a', 'uncounted', 0, [2, 3]),
    rowsOf('a', 'incorrect', 0, [5]),
    rowsOf('a', 'incorrect', 1, [7]),
  ];
  const counts = { ...countsOfRun(runs[0], runs), senders: ['a', 'b'] };
  const { sent, ...outcome } = toBookings(day, runs, counts, rows);
  expect(outcome).toEqual(summariseDay(day, runs, counts));
  expect(sent.map(({ run }) => run)).toEqual(runs);
  const found = sent.map(({ standings }) => [
    ...[...standings.find('posted', 0)].map(([row, standing]) => `${row} ${standing}`),
    ...standings.list('incorrect').map(({ batch }) => `batch ${batch}`),
  ]);
  const first = ['2 uncounted', '3 uncounted', '5 incorrect', 'batch 0', 'batch 1'];
  expect(found).toEqual([first, ['1 uncounted']]);
  const [alike] = sent;
  expect([alike?.standings.find('file', 0).size, alike?.standings.find('posted', 2).size]).toEqual([0, 0]);
  const { run, standings } = alone(byBody('a'));
  expect([run.id, standings.list('uncounted')]).toEqual(['a', []]);
});

it('a day is empty only if its latest run succeeded without a booking', () => {
  const days = [
    [byBody('a', { counts: nothing })],
    [byBody('a')],
    [],
    [byBody('a', { state: 'failed', counts: nothing })],
  ];
  expect(days.map((runs) => isEmptyDay(outcomeOf(runs)))).toEqual([true, false, false, false]);
});
