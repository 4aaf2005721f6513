import { describe, expect, it } from 'vitest';
import type { RetryPolicy } from '../../../src/async/retry.js';
import { canaryStep } from '../../../src/ledger/canaries.js';
import type { Step, StepEnding } from '../../../src/ledger/step.js';
import type { StepOutcome } from '../../../src/review/delivery.js';
import { decideEnding, type PerformParts } from '../../../src/review/perform/step-runner.js';
import { fakeLedger } from '../../support/fake-ledger.js';
import { someRun } from '../some-run.js';

const now = 1_000_000;
const retry: RetryPolicy = { tries: 3, baseMs: 1_000, capMs: 60_000, retryAfterCapMs: 30_000, waits: 2 };
const evidence = { code: 'some-code', httpStatus: 200, answer: 'in the words of the service' };
const run = someRun({ id: '20261120-k3f9xq7d', day: '2026-11-20' });
const parts: PerformParts = {
  ledger: fakeLedger({}),
  deliveryOf: () => {
    throw new Error('nothing is sent');
  },
  limits: { maxRefusedShare: 1 },
  retry,
  random: () => 0.5,
  clock: () => now,
  notify: () => {},
};
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
  const slice = { form: 'body', batch: 12, first: 40, bookings } as const;
  return { ...upload, name: 'batch 12', kind: 'batch', slice, bookings, ...spent };
}

describe('what follows from an outcome:', () => {
  it.each<[string, StepOutcome, Step, StepEnding]>([
    ['done is done', { kind: 'done', evidence }, batchOf(500), { kind: 'done', evidence }],
    [
      'fatal stops the run with words for a person',
      { kind: 'fatal', evidence, advice: 'check the key' },
      batchOf(500),
      {
        kind: 'fatal',
        evidence,
        message:
          'batch 12 of run 20261120-k3f9xq7d ended with some-code, which retrying cannot fix. Check the key. Then run 2026-11-20 again.',
      },
    ],
    [
      'a refused batch is halved',
      { kind: 'refused', evidence },
      batchOf(5),
      {
        kind: 'halved',
        evidence,
        halves: [
          {
            name: 'batch 12.0',
            kind: 'batch',
            bookings: 3,
            slice: { form: 'body', batch: 12, first: 40, bookings: 3 },
          },
          {
            name: 'batch 12.1',
            kind: 'batch',
            bookings: 2,
            slice: { form: 'body', batch: 12, first: 43, bookings: 2 },
          },
        ],
      },
    ],
    [
      'a refused batch of one booking is refused',
      { kind: 'refused', evidence },
      batchOf(1),
      { kind: 'refused', evidence },
    ],
    [
      'a refused step that is not a batch fails',
      { kind: 'refused', evidence },
      upload,
      { kind: 'failed', evidence },
    ],
    [
      'a retryable one is retried later, and spends a try',
      { kind: 'retryable', evidence, ...clear },
      batchOf(500),
      { kind: 'retry', evidence, notBefore: now + 1_000, spendsTry: true, outcomeUnknown: false },
    ],
    [
      'and remembers that its outcome is unknown',
      { kind: 'retryable', evidence, ...clear, outcomeUnknown: true },
      batchOf(500),
      { kind: 'retry', evidence, notBefore: now + 1_000, spendsTry: true, outcomeUnknown: true },
    ],
    [
      'a wait that the service asked for spends no try',
      { kind: 'retryable', evidence, ...clear, retryAfterMs: 20_000 },
      batchOf(500, { tries: 2 }),
      { kind: 'retry', evidence, notBefore: now + 20_500, spendsTry: false, outcomeUnknown: false },
    ],
    [
      'a retryable one without tries left fails',
      { kind: 'retryable', evidence, ...clear },
      batchOf(500, { tries: 2 }),
      { kind: 'failed', evidence },
    ],
    [
      'one with neither waits nor tries left fails, too',
      { kind: 'retryable', evidence, ...clear, retryAfterMs: 20_000 },
      batchOf(500, { tries: 2, waits: 2 }),
      { kind: 'failed', evidence },
    ],
    [
      'an unknown refusal, once tries run out, halves a batch',
      { kind: 'retryable', evidence, ...clear, refusedWhenSpent: true },
      batchOf(2, { tries: 2 }),
      {
        kind: 'halved',
        evidence,
        halves: [
          {
            name: 'batch 12.0',
            kind: 'batch',
            bookings: 1,
            slice: { form: 'body', batch: 12, first: 40, bookings: 1 },
          },
          {
            name: 'batch 12.1',
            kind: 'batch',
            bookings: 1,
            slice: { form: 'body', batch: 12, first: 41, bookings: 1 },
          },
        ],
      },
    ],
    [
      'an unknown refusal, once tries run out, refuses a single booking',
      { kind: 'retryable', evidence, ...clear, refusedWhenSpent: true },
      batchOf(1, { tries: 2 }),
      { kind: 'refused', evidence },
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
        kind: 'fatal',
        evidence: { code: 'sftp-host-key-refused' },
        message:
          'upload of run 20261120-k3f9xq7d ended with sftp-host-key-refused, which retrying cannot fix. ' +
          'SFTP server s:22: it presented another host key. Ask its operator. Then run 2026-11-20 again.',
      },
    ],
    [
      'a waiting step looks again at that instant, and spends nothing, however often it has waited',
      { kind: 'waiting', evidence, until: now + 30_000 },
      { ...awaitResult, tries: 0, waits: 10_000 },
      { kind: 'retry', evidence, notBefore: now + 30_000, spendsTry: false, outcomeUnknown: false },
    ],
    [
      'and not before it, if that is a fractional instant',
      { kind: 'waiting', evidence, until: now + 0.1 },
      awaitResult,
      { kind: 'retry', evidence, notBefore: now + 1, spendsTry: false, outcomeUnknown: false },
    ],
    [
      'what did not arrive in time is overdue',
      { kind: 'overdue', evidence, file },
      awaitResult,
      { kind: 'overdue', evidence, file },
    ],
    [
      'a step that runs out of tries with an unknown outcome fails and remembers that',
      { kind: 'retryable', evidence, ...clear, outcomeUnknown: true },
      { ...trigger, tries: 2 },
      { kind: 'failed', evidence, outcomeUnknown: true },
    ],
  ])('%s', (_, outcome, step, ending) => {
    expect(decideEnding(outcome, step, run, parts)).toEqual(ending);
  });

  it.each<[StepOutcome, number, StepEnding['kind']]>([
    [{ kind: 'done', evidence }, 0, 'done'],
    [{ kind: 'retryable', evidence, ...clear }, 0, 'retry'],
    [{ kind: 'retryable', evidence, ...clear, outcomeUnknown: true }, 2, 'refused'],
    [{ kind: 'refused', evidence }, 0, 'refused'],
    [{ kind: 'fatal', evidence, advice: 'check the key' }, 0, 'refused'],
  ])('a canary is given up rather than fail its run (%#)', (outcome, tries, kind) => {
    const canary: Step = { ...trigger, ...canaryStep, tries };
    expect(decideEnding(outcome, canary, run, parts)).toMatchObject({
      kind,
      evidence,
    });
  });

  it('a fractional instant of the back-off is rounded up, never down', () => {
    const ending = decideEnding({ kind: 'retryable', evidence, ...clear }, batchOf(500), run, {
      ...parts,
      random: () => 0.000_01,
    });
    expect(ending).toMatchObject({ notBefore: now + 1 });
  });

  it.each<[StepOutcome, Step, StepEnding['kind']]>([
    [{ kind: 'done', evidence }, trigger, 'done'],
    [{ kind: 'overdue', evidence }, awaitResult, 'overdue'],
    [{ kind: 'waiting', evidence, until: now }, awaitResult, 'retry'],
    [{ kind: 'fatal', evidence, advice: 'check the key' }, upload, 'fatal'],
    [{ kind: 'refused', evidence }, upload, 'failed'],
    [{ kind: 'refused', evidence }, batchOf(2), 'halved'],
    [{ kind: 'refused', evidence }, batchOf(1), 'refused'],
    [{ kind: 'retryable', evidence, ...clear }, trigger, 'retry'],
    [{ kind: 'retryable', evidence, ...clear }, { ...trigger, tries: 2 }, 'failed'],
    [{ kind: 'retryable', evidence, ...clear, refusedWhenSpent: true }, { ...trigger, tries: 2 }, 'failed'],
  ])('the ending includes what was found out, and that nothing was sent (%#)', (outcome, step, kind) => {
    const decide = (found: StepOutcome) => decideEnding(found, step, run, parts);
    expect(decide({ ...outcome, file, nothingSent: true })).toMatchObject({ kind, file, nothingSent: true });
    expect(decide(outcome)).not.toHaveProperty('file');
    expect(decide(outcome)).not.toHaveProperty('nothingSent');
  });
});
