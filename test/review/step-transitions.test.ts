import { describe, expect, it } from 'vitest';
import type { Run } from '../../src/rules/run.js';
import { claimStep } from '../../src/rules/state-machine.js';
import type { PlannedStep, Step, StepKind, StoredStep } from '../../src/rules/step.js';
import { decideFor, type Found } from '../contracts/ledger/days.js';
import { someRun } from './some-run.js';

const at = Date.UTC(2026, 10, 21, 1, 30);
const counts = { accepted: 20, delivered: 5, refused: 1, repeated: 3 };
const started: Partial<Run> = {
  state: 'delivering',
  openSteps: 6,
  failedSteps: 1,
  failuresInRow: 2,
  token: 7,
};
const runOf = (changes: Partial<Run> = {}) => someRun({ ...started, ...changes, counts });
const run = runOf();

const ready: StoredStep = {
  ...{ name: 'batch 2', kind: 'batch', state: 'ready', bookings: 4, attempts: 1, tries: 1, waits: 1 },
  ...{ position: 2, repeated: 1, outcomeUnknown: false },
};
const running: StoredStep = { ...ready, state: 'running', token: 7, attempts: 2 };

describe('a claim', () => {
  const claim = (of: Run, step: StoredStep, token?: number, attempt = 2) =>
    claimStep(of, step, { token, attempt, at });

  it('takes a step that is ready', () => {
    const step = { state: 'running', token: 7, attempts: 2, claimedAt: at, outcomeUnknown: false };
    expect(claim(run, ready, 7)).toEqual({ run: {}, step, mayRepeat: false });
    expect(claim(run, ready)).toBeDefined();
    expect(claim(runOf({ state: 'awaiting-result' }), ready)).toBeDefined();
  });

  it('counts the bookings as repeated, if nobody knows what became of the last attempt: once', () => {
    expect(claim(run, { ...ready, repeated: 0, outcomeUnknown: true })).toMatchObject({
      ...{ run: { repeated: 7 }, step: { repeated: 1, outcomeUnknown: false }, mayRepeat: true },
    });
    const again = claim(run, { ...ready, outcomeUnknown: true });
    expect(again).toMatchObject({ step: { repeated: 2, outcomeUnknown: false }, mayRepeat: true });
    expect(again?.run).toEqual({});
  });

  it.each([
    ['under an old token', run, ready, 6, 2],
    ['of an attempt that was already made', run, ready, 7, 1],
    ['of an attempt that is not yet due', run, ready, 7, 3],
    ['of a step that is done', run, { ...ready, state: 'done' }, 7, 2],
    ['of a step that is running', run, { ...ready, state: 'running' }, 7, 2],
    ['in a run that is being collected', runOf({ state: 'collecting' }), ready, 7, 2],
    ['in a run that has failed', runOf({ state: 'failed' }), ready, 7, 2],
    ['of a result that is overdue', runOf({ overdueAt: at }), ready, 7, 2],
  ] as const)('is refused %s', (_, of, step, token, attempt) => {
    expect(claim(of, step, token, attempt)).toBeUndefined();
  });
});

const slice = { stream: 'posted', batch: 2, first: 0, bookings: 4 } as const;
const halfOf = (name: string, first: number): PlannedStep => ({
  ...{ name, kind: 'batch', bookings: 2, slice: { ...slice, first, bookings: 2 } },
});
const halves = [halfOf('batch 2.0', 0), halfOf('batch 2.1', 2)] as const;
const evidence = { code: 'http-503' };
const again = { position: 2, name: 'batch 2', attempt: 3 };

interface Ended {
  readonly of?: Run;
  readonly step?: StoredStep;
  readonly mayRepeat?: boolean;
  readonly others?: readonly StepKind[];
}

function end(found: Found, { of = run, step = running, mayRepeat = false, others }: Ended = {}) {
  const { position, repeated, ...shown } = step;
  const claimed: Step = { ...shown, runId: of.id, ...(step.kind === 'batch' && { slice }) };
  const claim = { step: claimed, attempt: 2, token: 7, claimedAt: at - 1, mayRepeat };
  return decideFor(found)({ run: of, claim, outcome: found, at, position, repeated, others });
}

const closed = (state: string) => ({ state, endedAt: at, lastCode: 'http-503' });
const reopened = (changes: object) => ({ state: 'ready', notBefore: null, lastCode: 'http-503', ...changes });
const clear = { kind: 'retryable', evidence, outcomeUnknown: false, refusedWhenSpent: false } as const;
const retry: Found = { ...clear, waitMs: 9 };
const failed: Found = { ...clear, isSpent: true };
const refused: Found = { kind: 'refused', evidence, isAlone: true };
const halved: Found = { kind: 'refused', evidence };
const fatal: Found = { kind: 'fatal', evidence, advice: 'check the key' };
const message = `batch 2 of run ${run.id} ended with http-503, which retrying cannot fix. Check the key. Then run ${run.day} again.`;

describe('an attempt that ends', () => {
  it.each<[Found, object, object, readonly object[]]>([
    [{ kind: 'done', evidence }, { delivered: 9, openSteps: 5, failuresInRow: 0 }, closed('done'), []],
    [refused, { refused: 5, openSteps: 5, failuresInRow: 0 }, closed('refused'), []],
    [
      failed,
      { openSteps: 5, failedSteps: 2, failuresInRow: 3 },
      { ...closed('failed'), failureClass: 'retryable' },
      [],
    ],
    [
      { ...failed, outcomeUnknown: true },
      { openSteps: 5, failedSteps: 2, failuresInRow: 3 },
      { ...closed('failed'), failureClass: 'retryable', outcomeUnknown: true },
      [],
    ],
    [
      halved,
      { openSteps: 7, failuresInRow: 0 },
      closed('halved'),
      [
        { position: 2, name: 'batch 2.0', attempt: 1 },
        { position: 2, name: 'batch 2.1', attempt: 1 },
      ],
    ],
    [
      retry,
      { failuresInRow: 3 },
      reopened({ outcomeUnknown: false, notBefore: at + 9, tries: 2 }),
      [{ ...again, notBefore: at + 9 }],
    ],
    [
      { ...clear, waitMs: 9, retryAfterMs: 0, outcomeUnknown: true },
      {},
      reopened({ outcomeUnknown: true, notBefore: at + 9, waits: 2 }),
      [{ ...again, notBefore: at + 9 }],
    ],
    [{ kind: 'interrupted', evidence }, {}, reopened({ outcomeUnknown: true }), [again]],
    [
      fatal,
      {
        state: 'failed',
        finishedAt: at,
        failure: { class: 'fatal', code: 'http-503', message },
      },
      reopened({ outcomeUnknown: false }),
      [],
    ],
  ])('%o changes the run, the step and what can be queued', (ending, ofRun, ofStep, opened) => {
    const change = end(ending);
    expect(change.run).toEqual(ofRun);
    expect(change.step).toEqual(ofStep);
    expect(change.opened).toEqual(opened);
    expect(change.inserts).toEqual(
      change.ending === 'halved' ? halves.map((half) => ({ ...half, repeated: 1 })) : [],
    );
    expect(change.settled).toBe(change.ending === 'fatal');
  });

  it.each<[StepKind, object | undefined, object, number]>([
    ['write', { kind: 'upload', bookings: 4 }, { bookings: 0 }, 5],
    ['upload', { kind: 'trigger', bookings: 4 }, { bookings: 0 }, 5],
    ['trigger', { kind: 'await-result', bookings: 0 }, { bookings: 4 }, 9],
  ])('done: %s hands the bookings on, until they are delivered', (kind, next, own, delivered) => {
    const change = end({ kind: 'done', evidence }, { step: { ...running, name: kind, kind } });
    expect(change.inserts).toMatchObject([next]);
    expect(change.opened).toMatchObject([{ position: 2, attempt: 1 }]);
    expect(change.step).toMatchObject(own);
    expect(change.run).toMatchObject({ openSteps: 6, delivered });
  });

  it.each<[StepKind, number]>([
    ['await-result', 1],
    ['archive', 0],
    ['canary', 0],
  ])('done: %s inserts %d', (kind, steps) => {
    const step = { ...running, name: kind, kind, bookings: 0 };
    const change = end({ kind: 'done', evidence }, { step });
    expect(change.inserts).toHaveLength(steps);
    expect(change.run).toMatchObject({ openSteps: 5 + steps, delivered: 5 });
    expect(end(failed, { step }).inserts).toEqual([]);
  });

  it('overdue leaves it to the next run, unless something else is open', () => {
    const late: Found = { kind: 'overdue', evidence, until: at + 9 };
    const step: StoredStep = { ...running, name: 'await-result', kind: 'await-result', bookings: 0 };
    const later = end(late, { step });
    expect(later).toMatchObject({ ending: 'retry', run: {}, opened: [{ notBefore: at + 9 }] });
    expect(later.step).toEqual(reopened({ outcomeUnknown: false, notBefore: at + 9, waits: 2 }));
    const alone = end(late, { step, of: runOf({ openSteps: 1, failedSteps: 0 }) });
    expect(alone).toMatchObject({ ending: 'overdue', run: { overdueAt: at }, opened: [], settled: true });
    expect(alone.step).toEqual(reopened({ outcomeUnknown: false }));
    expect(end(late, { step, of: runOf({ openSteps: 1 }) })).toMatchObject({
      ending: 'overdue',
      settled: false,
    });
  });

  it('refused fails what is no batch, for good', () => {
    const change = end(halved, { step: { ...running, name: 'upload', kind: 'upload' } });
    expect(change).toMatchObject({ ending: 'failed', inserts: [] });
    expect(change.step).toEqual({ ...closed('failed'), failureClass: 'refused' });
  });

  it('interrupted is called so', () => {
    expect(end({ kind: 'interrupted', evidence }).ending).toBe('interrupted');
  });

  it('in a run that has failed already does not end it again', () => {
    const change = end(fatal, { of: runOf({ state: 'failed' }) });
    expect(change).toMatchObject({ run: {}, settled: false });
    expect(change.run).not.toHaveProperty('failure');
  });

  it('of a canary that was given up says nothing about the service', () => {
    const canary = { ...running, kind: 'canary' as const };
    expect(end(refused, { step: canary }).run).not.toHaveProperty('failuresInRow');
  });

  it('says that names may have come, if they had been removed', () => {
    const of = runOf({ namesBlankedAt: 1 });
    expect(end({ kind: 'interrupted', evidence }, { of }).run).toEqual({ namesBlankedAt: null });
  });
});

describe('a repetition', () => {
  it.each<[Found, object]>([
    [
      { kind: 'done', evidence, nothingSent: true },
      { repeated: 0, outcomeUnknown: false },
    ],
    [
      { ...refused, nothingSent: true },
      { repeated: 0, outcomeUnknown: true },
    ],
    [retry, { repeated: 0, outcomeUnknown: true }],
    [failed, { repeated: 0, outcomeUnknown: true }],
    [fatal, { repeated: 0, outcomeUnknown: true }],
  ])('is taken back if nothing was sent, or surely nothing done: %o', (ending, ofStep) => {
    const change = end(ending, { mayRepeat: true });
    expect(change.run).toMatchObject({ repeated: -1 });
    expect(change.step).toMatchObject(ofStep);
    expect(end(ending).run).not.toHaveProperty('repeated');
  });

  it.each<[Found]>([
    [{ kind: 'done', evidence }],
    [refused],
    [halved],
    [{ kind: 'interrupted', evidence }],
    [{ ...clear, outcomeUnknown: true }],
    [{ ...failed, outcomeUnknown: true }],
  ])('stays counted otherwise: %o', (ending) => {
    const change = end(ending, { mayRepeat: true });
    expect(change.run).not.toHaveProperty('repeated');
    expect(change.step).not.toHaveProperty('repeated');
  });
});

describe('what is known about the file', () => {
  const result = { name: 'r.csv', size: 1, mtimeMs: 1 } as never;

  it('grows, and a judgement without its result belongs to other bytes', () => {
    const of = runOf({ delivery: 'file', file: { rows: 9, result } });
    const found = (findings: object) => end({ kind: 'done', evidence, ...findings }, { of }).run.file;
    expect(found({ file: { sha256: 'ab' } })).toEqual({ rows: 9, result, sha256: 'ab' });
    expect(found({ file: { sha256: 'ab' }, verdicts: [] })).toEqual({ rows: 9, sha256: 'ab' });
    expect(found({ file: { result }, verdicts: [] })).toEqual({ rows: 9, result });
    expect(found({})).toBeUndefined();
  });
});

describe('a file run', () => {
  const of = runOf({ delivery: 'file', openSteps: 3 });
  const trigger: StoredStep = { ...running, name: 'trigger', kind: 'trigger' };
  const done = { kind: 'done', evidence } as const;
  const stateAfter = (ending: Found, ended: Ended) => end(ending, { of, ...ended }).run.state;

  it('awaits its result once it is triggered and nothing is left to send', () => {
    expect(stateAfter(done, { step: trigger, others: [] })).toBe('awaiting-result');
    expect(stateAfter(done, { others: ['await-result'] })).toBe('awaiting-result');
    expect(stateAfter(refused, { others: ['archive', 'canary'] })).toBe('awaiting-result');
  });

  it.each<[string, Found, Ended]>([
    ['the trigger is still to be done', done, { others: ['trigger'] }],
    ['the trigger failed', failed, { step: trigger, others: [] }],
    ['the trigger is tried again', retry, { step: trigger, others: [] }],
    ['another batch is open', done, { others: ['await-result', 'batch'] }],
    ['this batch is tried again', retry, { others: ['await-result'] }],
    ['this batch was halved', halved, { others: ['await-result'] }],
    ['no result is looked for', done, { others: [] }],
    [
      'a canary is tried again, whose result nobody looks for',
      retry,
      { step: { ...running, kind: 'canary' }, others: [] },
    ],
    ['it stops', fatal, { step: trigger, others: ['await-result'] }],
    [
      'it has ended',
      done,
      { of: runOf({ delivery: 'file', state: 'failed', openSteps: 3 }), others: ['await-result'] },
    ],
    ['nobody looked at the others', done, {}],
  ])('goes on while %s', (_, ending, ended) => {
    expect(stateAfter(ending, ended)).not.toBe('awaiting-result');
  });

  it.each(['await-result', 'archive'] as const)('awaits it while %s is tried again', (kind) => {
    const step = { ...running, kind };
    expect(stateAfter(retry, { step, others: [] })).toBe('awaiting-result');
    expect(stateAfter(failed, { step, others: [] })).toBeUndefined();
  });
});
