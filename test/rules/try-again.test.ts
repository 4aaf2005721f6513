import { expect, it } from 'vitest';
import type { PeerFault } from '../../src/base/peer-patience.js';
import { createBusinessDay } from '../../src/booking/business-day.js';
import { SourceError, type SourceFault } from '../../src/booking/source.js';
import { decideOpening } from '../../src/review/day/open-run.js';
import { type Asker, type FailureClass, type Run, runStates } from '../../src/rules/run.js';
import type { Outcome } from '../../src/rules/step.js';
import {
  addTriedUntil,
  awaitsSource,
  classOfCollect,
  classOfFailure,
  classOfRun,
  dropTriedUntil,
  lacksResult,
  mayStillSend,
  mayTryAgain,
  stepsTriedAgain,
} from '../../src/rules/try-again.js';
import { someRun } from '../review/some-run.js';

const over = createBusinessDay('1969-12-31', 'UTC');

const triggers = ['schedule', 'hook', 'manual', 'replay', 'today'] as const;
const classes: readonly FailureClass[] = ['retryable', 'fatal', 'refused', 'data', 'internal'];
const codes = ['steps-failed', 'too-many-refused', 'missing', 'result-incomplete', 'result-unreadable'];
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

it('a run is retryable as long as one of its failed steps is, and our bug if it failed without any', () => {
  expect(classOfRun({ retryableSteps: 0 })).toBe('internal');
  const firstFailed = { name: 'trigger', code: 'http-422', failureClass: 'refused' } as const;
  expect(classOfRun({ retryableSteps: 0, firstFailed })).toBe('refused');
  expect(classOfRun({ retryableSteps: 1, firstFailed })).toBe('retryable');
});

it('a person may try a run again once it failed, and nobody else what needs a person', () => {
  const failures = classes.flatMap((of) => codes.map((code) => ({ class: of, code, message: '' })));
  const failed = [undefined, ...failures].flatMap((failure) =>
    triggers.flatMap((trigger) => [true, false].map((isCollected) => ({ failure, trigger, isCollected }))),
  );
  for (const { failure, trigger, isCollected } of failed) {
    const { collectedAt, ...others } = someRun({ state: 'failed', trigger, ...(failure && { failure }) });
    const run = { ...others, ...(isCollected && { collectedAt }) };
    const isLate = failure?.code === 'missing' && (trigger === 'schedule' || trigger === 'hook');
    const isReadAgain = trigger === 'today' && (failure?.class === 'data' || !isCollected);
    const result = failure?.code.startsWith('result-') === true;
    const schedule = failure?.class === 'retryable' || isLate || isReadAgain;
    const expected = { person: true, schedule, result };
    expect([awaitsSource(run), lacksResult(run)]).toEqual([isLate, result]);
    for (const by of askers) {
      expect(mayTryAgain(run, by)).toBe(expected[by]);
      // Whoever opens the day gives the same answer.
      if (trigger === 'today') continue;
      const mode = by === 'result' ? 'resume' : 'run';
      const opening = decideOpening(run, { mode, runId: run.id, by, day: over });
      expect(opening.kind).toBe(expected[by] ? 'resume' : 'already-done');
    }
  }
});

it('only a run that failed is tried again, and one that waits for its result lacks it', () => {
  const statesOf = (code: string, is: (run: Run) => boolean) => {
    const failure = { class: 'retryable', code, message: '' } as const;
    return runStates.filter((state) => is(someRun({ state, trigger: 'schedule', failure })));
  };
  for (const by of askers)
    expect(statesOf('result-incomplete', (run) => mayTryAgain(run, by))).toEqual(['failed']);
  expect(statesOf('missing', awaitsSource)).toEqual(['failed']);
  expect(statesOf('result-incomplete', lacksResult)).toEqual(['awaiting-result', 'failed']);
});

const failedAs = (code: string) => ({ failure: { class: 'refused', code, message: '' } }) as const;

it.each<[boolean, string, Parameters<typeof someRun>[0]]>([
  [true, 'has bookings to send', { state: 'failed', counts: { pending: 1 } }],
  [true, 'carries bookings in a file that was not handed over', { counts: { carried: 1 } }],
  [true, 'was stopped by refusals', failedAs('too-many-refused')],
  [false, 'failed otherwise', { state: 'failed', ...failedAs('http-401') }],
  [false, 'only lacks its result', { counts: { carried: 1 }, file: { triggeredAt: 1 } }],
  [false, 'succeeded', { state: 'succeeded', counts: { pending: 1 } }],
  [false, 'was cancelled', { state: 'cancelled', counts: { carried: 1 } }],
])('a run may still send bookings: %s, because it %s', (expected, _, changes) => {
  expect(mayStillSend(someRun({ state: 'awaiting-result', ...changes }))).toBe(expected);
});

it('of a failed run, a person tries all failed steps again, and refused ones if they stopped it; others what may pass', () => {
  const retryable = { states: ['failed'], failureClass: 'retryable' };
  const run = someRun({ state: 'failed' });
  const stopped = someRun({ state: 'failed', ...failedAs('too-many-refused') });
  expect(stepsTriedAgain(run, 'person')).toEqual([{ states: ['failed'] }]);
  expect(stepsTriedAgain(stopped, 'person')).toEqual([{ states: ['failed', 'refused'] }]);
  expect(stepsTriedAgain(stopped, 'schedule')).toEqual([retryable]);
  const resultSteps = ['await-result', 'archive'].map((kind) => ({ kind, states: ['failed'] }));
  expect(stepsTriedAgain(run, 'result')).toEqual([retryable, ...resultSteps]);
});

it('the message about a source that is not there says until when it is waited for', () => {
  const message = addTriedUntil('No file: x', '06:00');
  expect(message).toBe('No file: x; it is tried again until 06:00');
  expect([message, 'No file: x'].map(dropTriedUntil)).toEqual(['No file: x', 'No file: x']);
});
