import { describe, expect, it } from 'vitest';
import { canaryStep } from '../../src/rules/canary.js';
import type { Run } from '../../src/rules/run.js';
import { claimStep, decideChange } from '../../src/rules/state-machine.js';
import type { Ending, Outcome, Step, StepKind, StoredStep } from '../../src/rules/step.js';
import { someRun } from '../review/some-run.js';

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
    expect(claim(run, ready, 7)).toStrictEqual({ run: {}, step, mayRepeat: false });
    const claimed = claimStep(run, ready, { attempt: 2, at, worker: 'w1' });
    expect(claimed?.step).toEqual({ ...step, worker: 'w1' });
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

const retries = { tries: 3, baseMs: 1_000, capMs: 60_000, retryAfterCapMs: 30_000, waits: 2 };
const evidence = { code: 'http-503' };
const again = { position: 2, name: 'batch 2', attempt: 3 };

interface Ended {
  readonly of?: Run;
  readonly step?: Partial<StoredStep>;
  readonly mayRepeat?: boolean;
  readonly others?: readonly StepKind[];
  readonly jitter?: number;
}

/** Its second of three tries. */
function end(outcome: Outcome, ended: Ended = {}) {
  const { of = run, mayRepeat = false, others, jitter = 0.5 } = ended;
  const { position, repeated, ...shown } = { ...running, ...ended.step };
  const { bookings } = shown;
  const slice = { stream: 'posted', batch: 2, first: 0, bookings } as const;
  const claimed: Step = { ...shown, runId: of.id, ...(shown.kind === 'batch' && { slice }) };
  const claim = { step: claimed, attempt: 2, token: 7, claimedAt: at - 1, mayRepeat };
  const attempted = { run: of, claim, outcome, at, position, repeated, others };
  return decideChange(attempted, { retry: retries, jitter });
}

const closed = (state: string) => ({ state, endedAt: at, lastCode: 'http-503' });
const reopened = (changes: object) => ({ state: 'ready', notBefore: null, lastCode: 'http-503', ...changes });
const done: Outcome = { kind: 'done', evidence };
const clear = { kind: 'retryable', evidence, outcomeUnknown: false, refusedWhenSpent: false } as const;
const unclear: Outcome = { ...clear, outcomeUnknown: true };
const asked: Outcome = { ...clear, retryAfterMs: 20_000 };
const poisoned: Outcome = { ...clear, refusedWhenSpent: true };
const refused: Outcome = { kind: 'refused', evidence };
const fatal: Outcome = { kind: 'fatal', evidence, advice: 'check the key' };
const waiting = (forMs: number): Outcome => ({ kind: 'waiting', evidence, until: at + forMs });
const interrupted: Outcome = { kind: 'interrupted', evidence };
const halves = ['batch 2.0', 'batch 2.1'];
const openedHalf = (name: string) => ({ position: 2, name, attempt: 1 });
const [alone, spent] = [{ bookings: 1 }, { tries: 2 }];
const failed = { ...closed('failed'), failureClass: 'retryable' };
const failedOnce = { openSteps: 5, failedSteps: 2, failuresInRow: 3 };
const message = `batch 2 of run ${run.id} ended with http-503, which retrying cannot fix. Check the key. Then run ${run.day} again.`;
const failure = { class: 'fatal', code: 'http-503', message };

describe('an attempt that ends', () => {
  it.each<[Ending, Outcome, Partial<StoredStep>, ofRun: object, ofStep: object, opened: readonly object[]]>([
    ['done', done, {}, { delivered: 9, openSteps: 5, failuresInRow: 0 }, closed('done'), []],
    ['refused', refused, alone, { refused: 2, openSteps: 5, failuresInRow: 0 }, closed('refused'), []],
    ['failed', clear, spent, failedOnce, failed, []],
    ['failed', unclear, spent, failedOnce, { ...failed, outcomeUnknown: true }, []],
    ['halved', refused, {}, { openSteps: 7, failuresInRow: 0 }, closed('halved'), halves.map(openedHalf)],
    [
      'retry',
      clear,
      {},
      { failuresInRow: 3 },
      reopened({ outcomeUnknown: false, notBefore: at + 1_000, tries: 2 }),
      [{ ...again, notBefore: at + 1_000 }],
    ],
    // A wait that the service asked for spends no try, and is no failure in a row.
    [
      'retry',
      { ...asked, outcomeUnknown: true },
      {},
      {},
      reopened({ outcomeUnknown: true, notBefore: at + 20_500, waits: 2 }),
      [{ ...again, notBefore: at + 20_500 }],
    ],
    ['interrupted', interrupted, {}, {}, reopened({ outcomeUnknown: true }), [again]],
    [
      'fatal',
      fatal,
      {},
      { state: 'failed', finishedAt: at, failure },
      reopened({ outcomeUnknown: false }),
      [],
    ],
  ])('as %s changes the run, the step and what can be queued (%#)', (ending, outcome, step, ...expected) => {
    const change = end(outcome, { step });
    expect(change.ending).toBe(ending);
    expect([change.run, change.step, change.opened]).toEqual(expected);
    const inserts = halves.map((name) => ({ name, kind: 'batch', bookings: 2, repeated: 1 }));
    expect(change.inserts).toMatchObject(ending === 'halved' ? inserts : []);
    expect(change.settled).toBe(ending === 'fatal');
  });

  it.each<[string, Outcome, Partial<StoredStep>, Ending, ofStep?: object]>([
    ['no try left, in spite of waits that are left', clear, { ...spent, waits: 0 }, 'failed'],
    ['neither waits nor tries left', asked, { ...spent, waits: 2 }, 'failed'],
    ['no try left, but a wait that is asked for', asked, spent, 'retry', { notBefore: at + 20_500 }],
    ['an unknown refusal, once tries run out', poisoned, spent, 'halved'],
    ['the same of a single booking', poisoned, { ...spent, ...alone }, 'refused'],
    ['the same of what is no batch', poisoned, { ...spent, kind: 'trigger' }, 'failed'],
    ['a refusal of what is no batch', refused, { kind: 'upload' }, 'failed', { failureClass: 'refused' }],
    ['a look, however often', waiting(9), { waits: 10_000 }, 'retry', { notBefore: at + 9, waits: 10_001 }],
    ['a fractional instant, rounded up', waiting(0.1), {}, 'retry', { notBefore: at + 1 }],
  ])('with %s', (_, outcome, step, ending, ofStep = {}) => {
    expect(end(outcome, { step })).toMatchObject({ ending, step: ofStep });
  });

  it('is tried again no sooner than its back-off says, if that is a fraction of a millisecond', () => {
    expect(end(clear, { jitter: 0.000_01 }).step).toMatchObject({ notBefore: at + 1 });
  });

  it('keeps advice that is a sentence as it is', () => {
    const { failure } = end({ ...fatal, advice: 'Ask its operator.' }).run;
    expect(failure?.message).toMatch(/cannot fix\. Ask its operator\. Then run/);
  });

  it.each<[StepKind, object, object, number]>([
    ['write', { kind: 'upload', bookings: 4 }, { bookings: 0 }, 5],
    ['upload', { kind: 'trigger', bookings: 4 }, { bookings: 0 }, 5],
    ['trigger', { kind: 'await-result', bookings: 0 }, { bookings: 4 }, 9],
  ])('done: %s hands the bookings on, until they are delivered', (kind, next, own, delivered) => {
    const change = end(done, { step: { name: kind, kind } });
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
    const step = { name: kind, kind, bookings: 0 };
    const change = end(done, { step });
    expect(change.inserts).toHaveLength(steps);
    expect(change.run).toMatchObject({ openSteps: 5 + steps, delivered: 5 });
    expect(end(clear, { step: { ...step, ...spent } }).inserts).toEqual([]);
  });

  it('overdue leaves it to the next run, unless something else is open', () => {
    const late: Outcome = { kind: 'overdue', evidence, until: at + 9 };
    const step = { name: 'await-result', kind: 'await-result', bookings: 0 } as const;
    const later = end(late, { step });
    expect(later).toMatchObject({ ending: 'retry', run: {}, opened: [{ notBefore: at + 9 }] });
    expect(later.step).toEqual(reopened({ outcomeUnknown: false, notBefore: at + 9, waits: 2 }));
    const onlyThis = end(late, { step, of: runOf({ openSteps: 1, failedSteps: 0 }) });
    expect(onlyThis).toMatchObject({ ending: 'overdue', run: { overdueAt: at }, opened: [], settled: true });
    expect(onlyThis.step).toEqual(reopened({ outcomeUnknown: false }));
    expect(end(waiting(9), { step, of: runOf({ openSteps: 1 }) })).toMatchObject({ ending: 'retry' });
    const besideFailed = end(late, { step, of: runOf({ openSteps: 1 }) });
    expect(besideFailed).toMatchObject({ ending: 'overdue', settled: false });
  });

  it('in a run that has failed already does not end it again', () => {
    const change = end(fatal, { of: runOf({ state: 'failed' }) });
    expect(change).toMatchObject({ run: {}, settled: false });
    expect(change.run).not.toHaveProperty('failure');
  });

  it.each<[Outcome, Partial<StoredStep>, Ending]>([
    [done, {}, 'done'],
    [clear, {}, 'retry'],
    [unclear, spent, 'refused'],
    [refused, {}, 'refused'],
    [fatal, {}, 'refused'],
  ])(
    'of a canary gives that up rather than fail its run, and says nothing about the service (%#)',
    (...given) => {
      const [outcome, changes, ending] = given;
      const change = end(outcome, { step: { ...canaryStep, ...changes } });
      expect(change.ending).toBe(ending);
      expect(change.run).not.toHaveProperty('failuresInRow');
    },
  );

  it('says that names may have come, if they had been removed', () => {
    const of = runOf({ namesBlankedAt: 1 });
    expect(end(interrupted, { of }).run).toEqual({ namesBlankedAt: null });
  });
});

describe('a repetition', () => {
  it.each<[Outcome, Partial<StoredStep>, object]>([
    [{ ...done, nothingSent: true }, {}, { repeated: 0, outcomeUnknown: false }],
    [{ ...refused, nothingSent: true }, alone, { repeated: 0, outcomeUnknown: true }],
    [clear, {}, { repeated: 0, outcomeUnknown: true }],
    [clear, spent, { repeated: 0, outcomeUnknown: true }],
    [fatal, {}, { repeated: 0, outcomeUnknown: true }],
  ])('is taken back if nothing was sent, or surely nothing done: %o', (outcome, changes, ofStep) => {
    // Its own bookings, of three that may have been sent twice.
    const step = { ...changes, bookings: 1 };
    const change = end(outcome, { step, mayRepeat: true });
    expect(change.run).toMatchObject({ repeated: 2 });
    expect(change.step).toMatchObject(ofStep);
    expect(end(outcome, { step }).run).not.toHaveProperty('repeated');
  });

  it.each<[Outcome, Partial<StoredStep>]>([
    [done, {}],
    [refused, alone],
    [refused, {}],
    [interrupted, {}],
    [unclear, {}],
    [unclear, spent],
  ])('stays counted otherwise: %o', (outcome, step) => {
    const change = end(outcome, { step, mayRepeat: true });
    expect(change.run).not.toHaveProperty('repeated');
    expect(change.step).not.toHaveProperty('repeated');
  });
});

describe('what is known about the file', () => {
  const result = { name: 'r.csv', size: 1, mtimeMs: 1 } as never;

  it('grows, and a judgement without its result belongs to other bytes', () => {
    const of = runOf({ delivery: 'file', file: { rows: 9, result } });
    const found = (findings: object) => end({ ...done, ...findings }, { of }).run.file;
    expect(found({ file: { sha256: 'ab' } })).toEqual({ rows: 9, result, sha256: 'ab' });
    expect(found({ file: { sha256: 'ab' }, verdicts: [] })).toEqual({ rows: 9, sha256: 'ab' });
    expect(found({ file: { result }, verdicts: [] })).toEqual({ rows: 9, result });
    expect(found({})).toBeUndefined();
  });

  it.each([done, clear, refused, fatal, interrupted])(
    'is recorded however the attempt ends: $kind',
    (outcome) => {
      const file = { rows: 500, sha256: 'ab' };
      expect(end({ ...outcome, file }).run).toMatchObject({ file });
    },
  );
});

describe('a file run', () => {
  const of = runOf({ delivery: 'file', openSteps: 3 });
  const trigger = { name: 'trigger', kind: 'trigger' } as const;
  const stateAfter = (outcome: Outcome, ended: Ended) => end(outcome, { of, ...ended }).run.state;

  it('awaits its result once it is triggered and nothing is left to send', () => {
    expect(stateAfter(done, { step: trigger, others: [] })).toBe('awaiting-result');
    expect(stateAfter(done, { others: ['await-result'] })).toBe('awaiting-result');
    expect(stateAfter(refused, { step: alone, others: ['archive', 'canary'] })).toBe('awaiting-result');
  });

  it.each<[string, Outcome, Ended]>([
    ['the trigger is still to be done', done, { others: ['trigger'] }],
    ['the trigger failed', clear, { step: { ...trigger, ...spent }, others: [] }],
    ['the trigger is tried again', clear, { step: trigger, others: [] }],
    ['another batch is open', done, { others: ['await-result', 'batch'] }],
    ['this batch is tried again', clear, { others: ['await-result'] }],
    ['this batch was halved', refused, { others: ['await-result'] }],
    ['no result is looked for', done, { others: [] }],
    ['a canary is tried again, whose result nobody looks for', clear, { step: canaryStep, others: [] }],
    ['it stops', fatal, { step: trigger, others: ['await-result'] }],
    [
      'it has ended',
      done,
      { of: runOf({ delivery: 'file', state: 'failed', openSteps: 3 }), others: ['await-result'] },
    ],
    ['nobody looked at the others', done, {}],
  ])('goes on while %s', (_, outcome, ended) => {
    expect(stateAfter(outcome, ended)).not.toBe('awaiting-result');
  });

  it.each(['await-result', 'archive'] as const)('awaits it while %s is tried again', (kind) => {
    expect(stateAfter(clear, { step: { kind }, others: [] })).toBe('awaiting-result');
    expect(stateAfter(clear, { step: { kind, ...spent }, others: [] })).toBeUndefined();
  });
});
