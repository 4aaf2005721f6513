import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { PeerFault } from '../../src/base/peer-patience.js';
import { SourceError, type SourceFault } from '../../src/booking/source.js';
import { decideOpening } from '../../src/review/day/open-run.js';
import type { Asker, FailureClass, RunState, Trigger } from '../../src/rules/run.js';
import type { Outcome } from '../../src/rules/step.js';
import {
  classOfCollect,
  classOfFailure,
  classOfRun,
  mayTryAgain,
  tooManyRefused,
} from '../../src/rules/try-again.js';
import { someRun } from '../review/some-run.js';

const states: readonly RunState[] = [
  ...(['collecting', 'delivering', 'awaiting-result', 'succeeded', 'failed', 'cancelled'] as const),
];
const triggers: readonly Trigger[] = ['schedule', 'hook', 'manual', 'replay', 'today'];
const classes: readonly FailureClass[] = ['retryable', 'fatal', 'refused', 'data', 'internal'];
const codes = [
  'steps-failed',
  'failures-in-row',
  'http-401',
  'missing',
  'result-incomplete',
  'result-unreadable',
];
const askers: readonly Asker[] = ['person', 'schedule', 'result'];

const evidence = { code: 'x' };
const spent = { kind: 'retryable', evidence, outcomeUnknown: false } as const;

it.each<[Extract<Outcome, { kind: 'retryable' | 'refused' }>, FailureClass]>([
  [{ ...spent, refusedWhenSpent: false }, 'retryable'],
  [{ ...spent, refusedWhenSpent: true }, 'refused'],
  [{ ...spent, refusedWhenSpent: false, class: 'internal' }, 'internal'],
  [{ kind: 'refused', evidence }, 'refused'],
  [{ kind: 'refused', evidence, class: 'data' }, 'data'],
])('the class of a step whose last attempt ended with %j is %s', (outcome, expected) => {
  expect(classOfFailure(outcome)).toBe(expected);
});

it.each<[SourceFault, PeerFault | undefined, FailureClass]>([
  ['unreadable', 'passing', 'retryable'],
  ['truncated', 'passing', 'retryable'],
  ['unreadable', 'read-only', 'retryable'],
  ['login-refused', undefined, 'fatal'],
  ['unreadable', 'unsuited', 'fatal'],
  ['missing', undefined, 'data'],
  ['truncated', undefined, 'data'],
])('a run whose source is %s, its server %s, is %s', (fault, peer, expected) => {
  expect(classOfCollect({ cause: new SourceError(fault, '', { peer }) })).toBe(expected);
});

it('a run that its own checks stopped is as bad as its data', () => {
  expect(classOfCollect({ cause: undefined })).toBe('data');
});

it('a run is retryable as long as one of its failed steps is', () => {
  const firstFailed = { name: 'trigger', code: 'http-422', failureClass: 'refused' } as const;
  expect(classOfRun({ retryableSteps: 0, firstFailed })).toBe('refused');
  expect(classOfRun({ retryableSteps: 1, firstFailed })).toBe('retryable');
});

it('whatever happened to a run, a person may try it again once it failed, and nobody else what needs a person', () => {
  const runs = fc.record({
    state: fc.constantFrom(...states),
    trigger: fc.constantFrom(...triggers),
    failure: fc.record({
      class: fc.constantFrom(...classes),
      code: fc.constantFrom(...codes, tooManyRefused),
      message: fc.constant(''),
    }),
  });
  fc.assert(
    fc.property(runs, fc.constantFrom(...askers), (changes, by) => {
      const run = someRun({ ...changes, day: '2026-11-20' });
      const { state, failure, trigger } = changes;
      const isLate = failure.code === 'missing' && (trigger === 'schedule' || trigger === 'hook');
      const isReadAgain = trigger === 'today' && failure.class === 'data';
      const expected: Readonly<Record<Asker, boolean>> = {
        person: true,
        schedule: failure.class === 'retryable' || isLate || isReadAgain,
        result: failure.code.startsWith('result-'),
      };
      expect(mayTryAgain(run, by)).toBe(state === 'failed' && expected[by]);
      // Whoever opens the day gives the same answer.
      if (state !== 'failed' || trigger === 'today') return;
      const mode = by === 'result' ? 'resume' : 'run';
      const opening = decideOpening(run, { mode, runId: run.id, by, day: { lastInstant: new Date(0) } });
      expect(opening.kind).toBe(expected[by] ? 'resume' : 'already-done');
    }),
  );
});
