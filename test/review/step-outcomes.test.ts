import { describe, expect, it } from 'vitest';
import type { RetryPolicy } from '../../src/base/retry.js';
import { canaryStep } from '../../src/rules/canary.js';
import type { Change } from '../../src/rules/changes.js';
import { decideChange, type Policy } from '../../src/rules/state-machine.js';
import type { Ending, Outcome, Step } from '../../src/rules/step.js';
import { someRun } from './some-run.js';

const now = 1_000_000;
const retry: RetryPolicy = { tries: 3, baseMs: 1_000, capMs: 60_000, retryAfterCapMs: 30_000, waits: 2 };
const evidence = { code: 'some-code', httpStatus: 200, answer: 'in the words of the service' };
const run = someRun({ id: '20261120-k3f9xq7d', day: '2026-11-20', state: 'delivering' });
const policy: Policy = { retry, jitter: 0.5 };

function decide(outcome: Outcome, step: Step, jitter = policy.jitter): Change {
  const claim = { step, attempt: 2, token: 1, claimedAt: now - 1, mayRepeat: false };
  const attempted = { run, claim, outcome, at: now, position: 0, repeated: 0 };
  return decideChange(attempted, { ...policy, jitter });
}

/** What a change does to the step itself. */
function shown({ ending, run: { failure }, step, inserts }: Change) {
  const { notBefore, tries, waits, outcomeUnknown } = step;
  return {
    ending,
    ...(failure && { message: failure.message }),
    ...(inserts.length > 0 && { halves: inserts }),
    ...(ending === 'retry' && {
      notBefore,
      ...(tries !== undefined && { tries }),
      ...(waits !== undefined && { waits }),
    }),
    ...(outcomeUnknown && { outcomeUnknown }),
  };
}

const clear = { outcomeUnknown: false, refusedWhenSpent: false };

const upload: Step = {
  runId: 'run',
  name: 'upload',
  kind: 'upload',
  state: 'ready',
  bookings: 0,
  attempts: 1,
  tries: 1,
  waits: 1,
};

const trigger: Step = { ...upload, name: 'trigger', kind: 'trigger', bookings: 500, tries: 0 };
const awaitResult: Step = { ...upload, name: 'await-result', kind: 'await-result' };
const file = { rows: 500, sha256: 'ab' };

function batchOf(bookings: number, spent: Partial<Step> = {}): Step {
  const slice = { stream: 'posted', batch: 12, first: 40, bookings } as const;
  return { ...upload, name: 'batch 12', kind: 'batch', slice, bookings, ...spent };
}

describe('what follows from an outcome:', () => {
  it.each<[string, Outcome, Step, ReturnType<typeof shown>]>([
    ['done is done', { kind: 'done', evidence }, batchOf(500), { ending: 'done' }],
    [
      'fatal stops the run with words for a person',
      { kind: 'fatal', evidence, advice: 'check the key' },
      batchOf(500),
      {
        ending: 'fatal',
        message:
          'batch 12 of run 20261120-k3f9xq7d ended with some-code, which retrying cannot fix. Check the key. Then run 2026-11-20 again.',
      },
    ],
    [
      'a refused batch is halved',
      { kind: 'refused', evidence },
      batchOf(5),
      {
        ending: 'halved',
        halves: [
          {
            name: 'batch 12.0',
            kind: 'batch',
            bookings: 3,
            slice: { stream: 'posted', batch: 12, first: 40, bookings: 3 },
          },
          {
            name: 'batch 12.1',
            kind: 'batch',
            bookings: 2,
            slice: { stream: 'posted', batch: 12, first: 43, bookings: 2 },
          },
        ],
      },
    ],
    [
      'a refused batch of one booking is refused',
      { kind: 'refused', evidence },
      batchOf(1),
      { ending: 'refused' },
    ],
    ['a refused step that is not a batch fails', { kind: 'refused', evidence }, upload, { ending: 'failed' }],
    [
      'a retryable one is retried later, and spends a try',
      { kind: 'retryable', evidence, ...clear },
      batchOf(500),
      { ending: 'retry', notBefore: now + 1_000, tries: 2 },
    ],
    [
      'and remembers that its outcome is unknown',
      { kind: 'retryable', evidence, ...clear, outcomeUnknown: true },
      batchOf(500),
      { ending: 'retry', notBefore: now + 1_000, tries: 2, outcomeUnknown: true },
    ],
    [
      'a wait that the service asked for spends no try',
      { kind: 'retryable', evidence, ...clear, retryAfterMs: 20_000 },
      batchOf(500, { tries: 2 }),
      { ending: 'retry', notBefore: now + 20_500, waits: 2 },
    ],
    [
      'a retryable one without tries left fails',
      { kind: 'retryable', evidence, ...clear },
      batchOf(500, { tries: 2 }),
      { ending: 'failed' },
    ],
    [
      'one with neither waits nor tries left fails, too',
      { kind: 'retryable', evidence, ...clear, retryAfterMs: 20_000 },
      batchOf(500, { tries: 2, waits: 2 }),
      { ending: 'failed' },
    ],
    [
      'an unknown refusal, once tries run out, halves a batch',
      { kind: 'retryable', evidence, ...clear, refusedWhenSpent: true },
      batchOf(2, { tries: 2 }),
      {
        ending: 'halved',
        halves: [
          {
            name: 'batch 12.0',
            kind: 'batch',
            bookings: 1,
            slice: { stream: 'posted', batch: 12, first: 40, bookings: 1 },
          },
          {
            name: 'batch 12.1',
            kind: 'batch',
            bookings: 1,
            slice: { stream: 'posted', batch: 12, first: 41, bookings: 1 },
          },
        ],
      },
    ],
    [
      'an unknown refusal, once tries run out, refuses a single booking',
      { kind: 'retryable', evidence, ...clear, refusedWhenSpent: true },
      batchOf(1, { tries: 2 }),
      { ending: 'refused' },
    ],
    [
      'a fatal step of a file run states which one, and what to do',
      {
        kind: 'fatal',
        evidence: { code: 'sftp-host-key-refused' },
        advice: 'SFTP server s:22: it presented another host key. Ask its operator.',
      },
      upload,
      {
        ending: 'fatal',
        message:
          'upload of run 20261120-k3f9xq7d ended with sftp-host-key-refused, which retrying cannot fix. ' +
          'SFTP server s:22: it presented another host key. Ask its operator. Then run 2026-11-20 again.',
      },
    ],
    [
      'a waiting step looks again at that instant, and spends nothing, however often it has waited',
      { kind: 'waiting', evidence, until: now + 30_000 },
      { ...awaitResult, tries: 0, waits: 10_000 },
      { ending: 'retry', notBefore: now + 30_000, waits: 10_001 },
    ],
    [
      'and not before it, if that is a fractional instant',
      { kind: 'waiting', evidence, until: now + 0.1 },
      awaitResult,
      { ending: 'retry', notBefore: now + 1, waits: 2 },
    ],
    [
      'what did not arrive in time is overdue',
      { kind: 'overdue', evidence, file, until: now },
      awaitResult,
      { ending: 'overdue' },
    ],
    [
      'a step that runs out of tries with an unknown outcome fails and remembers that',
      { kind: 'retryable', evidence, ...clear, outcomeUnknown: true },
      { ...trigger, tries: 2 },
      { ending: 'failed', outcomeUnknown: true },
    ],
  ])('%s', (_, outcome, step, ending) => {
    expect(shown(decide(outcome, step))).toEqual(ending);
  });

  it.each<[Outcome, number, Ending]>([
    [{ kind: 'done', evidence }, 0, 'done'],
    [{ kind: 'retryable', evidence, ...clear }, 0, 'retry'],
    [{ kind: 'retryable', evidence, ...clear, outcomeUnknown: true }, 2, 'refused'],
    [{ kind: 'refused', evidence }, 0, 'refused'],
    [{ kind: 'fatal', evidence, advice: 'check the key' }, 0, 'refused'],
  ])('a canary is given up rather than fail its run (%#)', (outcome, tries, kind) => {
    const canary: Step = { ...trigger, ...canaryStep, tries };
    expect(decide(outcome, canary).ending).toBe(kind);
  });

  it('a fractional instant of the back-off is rounded up, never down', () => {
    const change = decide({ kind: 'retryable', evidence, ...clear }, batchOf(500), 0.000_01);
    expect(shown(change)).toMatchObject({ notBefore: now + 1 });
  });

  it.each<[Outcome, Step, Ending]>([
    [{ kind: 'done', evidence }, trigger, 'done'],
    [{ kind: 'fatal', evidence, advice: 'check the key' }, upload, 'fatal'],
    [{ kind: 'refused', evidence }, batchOf(2), 'halved'],
    [{ kind: 'retryable', evidence, ...clear }, trigger, 'retry'],
    [{ kind: 'retryable', evidence, ...clear, refusedWhenSpent: true }, { ...trigger, tries: 2 }, 'failed'],
  ])('its name is recorded, and what was found out about the file (%#)', (outcome, step, ending) => {
    expect(decide({ ...outcome, file }, step)).toMatchObject({ ending, run: { file } });
    expect(decide(outcome, step).run).not.toHaveProperty('file');
  });
});
