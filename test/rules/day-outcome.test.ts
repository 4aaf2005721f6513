import { describe, expect, it } from 'vitest';
import type { Paint } from '../../src/base/colours.js';
import type { Run } from '../../src/rules/run.js';
import { hasUnknownVerdicts, paintState } from '../../src/rules/run-verdicts.js';
import { hasFinalVerdicts } from '../../src/rules/verdict.js';
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
      judged('first'),
      judged('replaced', { state: 'cancelled' }),
    ];
    const outcome = outcomeOf(runs);
    expect(idsOf(outcome.runs)).toEqual(['nothing-new', 'first']);
    expect(outcome).toMatchObject({ affected: 2, run: { id: 'nothing-new' } });
    expect(outcome).not.toHaveProperty('newer');
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
  });
});

it.each<[string, Run, boolean]>([
  ['by body', byBody('a'), true],
  ['whose result names everything', judged('a', { counts: { unanswered: 0, posted: 0 } }), false],
  ['whose result is incomplete', judged('a', { counts: { unanswered: 1, posted: 0 } }), true],
  ['that posted bookings', judged('a', { counts: { unanswered: 0, posted: 1 } }), true],
  ['of an empty day', byBody('a', { counts: nothing }), false],
])('whether a run has unknown verdicts: %s', (_what, run, expected) => {
  expect(hasUnknownVerdicts(run.counts)).toBe(expected);
});

it.each<[string, Run, boolean]>([
  ['by body', byBody('r'), true],
  ['by file, done', judged('r', { file: { verdicts, archivedTo: 'x' } }), true],
  ['by file, waiting, with verdicts of a part', awaiting('r', { file: { verdicts } }), false],
  ['by file, failed because its result is incomplete', judged('r', { state: 'failed' }), false],
  ['by file, failed once archived', judged('r', { state: 'failed', file: { archivedTo: 'x' } }), true],
  ['by file, cancelled', awaiting('r', { state: 'cancelled' }), true],
  ['by file, all of it by body', awaiting('r', { counts: { posted: 990 } }), true],
])('whether the verdicts of a run are final: %s', (_, run, isFinal) => {
  expect(hasFinalVerdicts(run)).toBe(isFinal);
});

it('The state of a run is green only if it succeeded and is good', () => {
  const paint: Paint = (colour, text) => `${colour} ${text}`;
  expect(paintState(paint, someRun(), true, 'done')).toBe('green done');
  expect(paintState(paint, someRun(), false, 'done')).toBe('done');
  expect(paintState(paint, someRun({ state: 'failed' }), true, 'failed')).toBe('red failed');
});
