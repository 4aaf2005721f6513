import { describe, expect, it } from 'vitest';
import type { Run } from '../../../src/ledger/run.js';
import { hasFinalVerdicts } from '../../../src/review/verdict.js';
import {
  hasUnknownVerdicts,
  paintState,
  summariseVerdicts,
} from '../../../src/review/verdicts/day-verdicts.js';
import type { Paint } from '../../../src/text/colours.js';
import { someRun } from '../some-run.js';

const day = '2026-11-20';
const verdicts = { affected: 2, unanswered: 1, unclear: 0, malformed: 0 };

function byBody(id: string, overrides: Parameters<typeof someRun>[0] = {}): Run {
  return someRun({ id, ...overrides, counts: { affected: null, unanswered: null, ...overrides.counts } });
}

function judged(id: string, overrides: Parameters<typeof someRun>[0] = {}): Run {
  return someRun({
    id,
    delivery: 'file',
    file: { rows: 978, verdicts },
    ...overrides,
    counts: { affected: 2, unanswered: 1, posted: 12, ...overrides.counts },
  });
}

function awaiting(id: string, overrides: Parameters<typeof someRun>[0] = {}): Run {
  return someRun({
    id,
    delivery: 'file',
    state: 'awaiting-result',
    file: { rows: 978 },
    ...overrides,
    counts: { affected: null, unanswered: 978, posted: 12, ...overrides.counts },
  });
}

const nothing = { read: 0, accepted: 0, duplicates: 0, rejected: 0, delivered: 0 };

describe('the verdicts on a day', () => {
  it('of a run by file are those of its result', () => {
    const run = judged('a');
    expect(summariseVerdicts(day, [run])).toEqual({
      day,
      knowledge: 'judged',
      runs: [run],
      affected: 2,
      unanswered: 1,
      posted: 12,
    });
  });

  it.each<[string, Run[], object]>([
    ['no-run', [], { affected: null, unanswered: null, posted: 0 }],
    ['by-email', [byBody('a')], { affected: null, unanswered: null, posted: 0 }],
    ['awaiting-result', [awaiting('a')], { affected: null, unanswered: 978, posted: 12 }],
    ['nothing-sent', [byBody('a', { delivery: 'file', counts: nothing })], { affected: null, posted: 0 }],
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
  ])('are unknown, never 0, without a result: %s', (knowledge, runs, expected) => {
    expect(summariseVerdicts(day, runs)).toMatchObject({ knowledge, ...expected });
  });

  it('include those of the run that was topped up, or its affected bookings would be missing', () => {
    const runs = [
      judged('late', { topsUp: true, counts: { affected: 1, unanswered: 0, posted: 1 } }),
      judged('first'),
      judged('replaced'),
    ];
    const summary = summariseVerdicts(day, runs);
    expect(summary.runs.map(({ id }) => id)).toEqual(['late', 'first']);
    expect(summary).toMatchObject({ affected: 3, unanswered: 1, posted: 13 });
    expect(summary).not.toHaveProperty('newer');
  });

  it('count what a top-up by body sent as by e-mail only', () => {
    const runs = [byBody('late', { topsUp: true, counts: { accepted: 5, delivered: 5 } }), judged('first')];
    expect(summariseVerdicts(day, runs)).toMatchObject({ knowledge: 'judged', affected: 2, posted: 17 });
  });

  it('are those of the latest result, and say which newer run has none', () => {
    expect(summariseVerdicts(day, [awaiting('new'), judged('old')])).toMatchObject({
      runs: [{ id: 'old' }],
      newer: { id: 'new' },
    });
    expect(
      summariseVerdicts(day, [awaiting('new', { state: 'cancelled' }), judged('old')]),
    ).not.toHaveProperty('newer');
  });

  it('without a result are those of the newest run that was not cancelled', () => {
    const runs = [awaiting('given-up', { state: 'cancelled' }), byBody('sent')];
    expect(summariseVerdicts(day, runs)).toMatchObject({ knowledge: 'by-email', runs: [{ id: 'sent' }] });
  });
});

describe('a run', () => {
  it.each<[string, Run, boolean]>([
    ['by body', byBody('a'), true],
    ['whose result names everything', judged('a', { counts: { unanswered: 0, posted: 0 } }), false],
    ['whose result is incomplete', judged('a', { counts: { unanswered: 1, posted: 0 } }), true],
    ['that posted bookings', judged('a', { counts: { unanswered: 0, posted: 1 } }), true],
    ['that awaits its result', awaiting('a'), true],
    ['of an empty day', byBody('a', { counts: nothing }), false],
  ])('%s has unknown verdicts: %#', (_what, run, expected) => {
    expect(hasUnknownVerdicts(run)).toBe(expected);
  });
});

it('The state of a run is green only if its verdicts are all known', () => {
  const paint: Paint = (colour, text) => `${colour} ${text}`;
  const paintSucceeded = (counts: NonNullable<Parameters<typeof someRun>[0]>['counts'] = {}) =>
    paintState(paint, someRun({ counts }), 'done');
  expect(paintSucceeded()).toBe('green done');
  expect(paintSucceeded({ affected: null, unanswered: null })).toBe('done');
  expect(paintSucceeded({ unanswered: 1 })).toBe('done');
  expect(paintSucceeded({ posted: 1 })).toBe('done');
  expect(paintState(paint, someRun({ state: 'failed' }), 'failed')).toBe('red failed');
});

it.each<[string, Run, boolean]>([
  ['by body', byBody('r'), true],
  ['by body, stopped', byBody('r', { state: 'failed' }), true],
  ['by file, done', judged('r', { file: { verdicts, archivedTo: 'x' } }), true],
  ['by file, waiting', awaiting('r'), false],
  ['by file, waiting, with verdicts of a part', awaiting('r', { file: { verdicts } }), false],
  ['by file, failed because its result is incomplete', judged('r', { state: 'failed' }), false],
  [
    'by file, failed after its result was archived',
    judged('r', { state: 'failed', file: { archivedTo: 'x' } }),
    true,
  ],
  ['by file, cancelled', awaiting('r', { state: 'cancelled' }), true],
  ['by file, all of it by body', awaiting('r', { counts: { posted: 990 } }), true],
])('whether the verdicts of a run are final: %s', (_, run, isFinal) => {
  expect(hasFinalVerdicts(run)).toBe(isFinal);
});
