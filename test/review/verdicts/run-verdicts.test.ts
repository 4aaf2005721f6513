import { describe, expect, it } from 'vitest';
import type { Paint } from '../../../src/base/colours.js';
import type { Run } from '../../../src/rules/run.js';
import { hasUnknownVerdicts, paintState } from '../../../src/rules/run-verdicts.js';
import { hasFinalVerdicts } from '../../../src/rules/verdict.js';
import { someRun } from '../some-run.js';

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

describe('a run', () => {
  it.each<[string, Run, boolean]>([
    ['by body', byBody('a'), true],
    ['whose result names everything', judged('a', { counts: { unanswered: 0, posted: 0 } }), false],
    ['whose result is incomplete', judged('a', { counts: { unanswered: 1, posted: 0 } }), true],
    ['that posted bookings', judged('a', { counts: { unanswered: 0, posted: 1 } }), true],
    ['that awaits its result', awaiting('a'), true],
    ['of an empty day', byBody('a', { counts: nothing }), false],
  ])('%s has unknown verdicts: %#', (_what, run, expected) => {
    expect(hasUnknownVerdicts(run.counts)).toBe(expected);
  });
});

it('The state of a run is green only if it succeeded and is good', () => {
  const paint: Paint = (colour, text) => `${colour} ${text}`;
  expect(paintState(paint, someRun(), true, 'done')).toBe('green done');
  expect(paintState(paint, someRun(), false, 'done')).toBe('done');
  expect(paintState(paint, someRun({ state: 'failed' }), true, 'failed')).toBe('red failed');
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
