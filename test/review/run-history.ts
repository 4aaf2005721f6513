import fc from 'fast-check';
import type { Abandonment, Settlement } from '../../src/ledger/runs.js';
import type { Claim, StepEnding } from '../../src/ledger/step.js';
import { halveBatch } from '../../src/review/body/body-delivery.js';
import type { RunModel } from './run-model.js';

/** What can happen to a run; `pick` selects one of its steps, or one of the claims made so far. */
export type Move =
  | { readonly kind: 'claim'; readonly pick: number }
  | { readonly kind: 'record'; readonly pick: number; readonly ending: EndingOf }
  | { readonly kind: 'take-over' }
  | { readonly kind: 'lose-owners' }
  | { readonly kind: 'settle'; readonly settlement: Settlement }
  | { readonly kind: 'abandon' };

/** An ending, and its name in a counterexample. */
interface EndingOf {
  readonly name: string;
  readonly of: (claim: Claim) => StepEnding;
  readonly toString: () => string;
}

/** One per way in which the facts of an ending differ. A step that can't be halved is refused or fails. */
const endings: Readonly<Record<string, (claim: Claim) => StepEnding>> = {
  done: () => ({ kind: 'done', evidence: { code: 'ok', httpStatus: 200, sha256: 'ab12' } }),
  'done before': () => ({ kind: 'done', evidence: { code: 'ok' }, nothingSent: true }),
  'done with findings': () => ({
    kind: 'done',
    evidence: { code: 'ok' },
    file: { rows: 6, remotePath: 'VerifyMappings/112026/20112026.csv' },
  }),
  refused: (claim) => refuse(claim),
  failed: () => ({ kind: 'failed', evidence: { code: 'http-503', httpStatus: 503 } }),
  'failed without answer': () => ({ kind: 'failed', evidence: { code: 'timeout' }, outcomeUnknown: true }),
  'failed without sending': () => ({ kind: 'failed', evidence: { code: 'sftp-drop' }, nothingSent: true }),
  retry: (claim) => retry(claim, true, false),
  'no answer': (claim) => retry(claim, true, true),
  wait: (claim) => retry(claim, false, false),
  'nothing sent': (claim) => ({ ...retry(claim, true, false), nothingSent: true, file: { rows: 7 } }),
  overdue: ({ step }) =>
    step.kind === 'batch'
      ? { kind: 'interrupted', evidence: { code: 'stopped' } }
      : { kind: 'overdue', evidence: { code: 'result-absent' } },
  fatal: () => ({ kind: 'fatal', evidence: { code: 'http-403' }, message: 'check apiKey' }),
  interrupted: () => ({ kind: 'interrupted', evidence: { code: 'stopped' } }),
};

function retry({ step }: Claim, spendsTry: boolean, outcomeUnknown: boolean): StepEnding {
  const notBefore = 1_000 * (step.attempts + 1);
  return { kind: 'retry', evidence: { code: 'timeout' }, notBefore, spendsTry, outcomeUnknown };
}

function refuse({ step }: Claim): StepEnding {
  const evidence = { code: 'code-2009', httpStatus: 200, statusCode: 2009 };
  const { slice } = step;
  if (!slice) return { kind: 'failed', evidence };
  if (step.bookings < 2) return { kind: 'refused', evidence };
  return { kind: 'halved', evidence, halves: halveBatch({ ...step, slice }) };
}

const settlements: readonly Omit<Settlement, 'at'>[] = [
  { state: 'failed', failure: { class: 'retryable', code: 'steps-failed', message: '2 steps failed' } },
  { state: 'failed', failure: { class: 'refused', code: 'too-many-refused', message: 'refused 2 of 9' } },
  { state: 'awaiting-result' },
  { state: 'succeeded' },
  { state: 'cancelled' },
];

/** Mostly claims and ordinary endings, so that histories get far. */
const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 10, arbitrary: fc.record({ kind: fc.constant('claim' as const), pick: fc.nat() }) },
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant('record' as const),
      pick: fc.nat(),
      ending: fc.constantFrom(
        ...Object.entries(endings).map(([name, of]): EndingOf => ({ name, of, toString: () => name })),
      ),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'take-over' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'lose-owners' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'abandon' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      settlement: fc
        .constantFrom(...settlements, ...settlements.slice(0, 2), ...settlements.slice(0, 2))
        .map((settlement) => ({ ...settlement, at: 0 })),
    }),
  },
);

export const moves: fc.Arbitrary<Move[]> = fc.array(move, { minLength: 5, maxLength: 60 });

/** What a move does to the model, and its outcome: to be compared with that of another implementation. */
export type Played =
  | {
      readonly kind: 'claim';
      readonly name: string;
      readonly attempt: number;
      readonly claim: Claim | undefined;
    }
  | {
      readonly kind: 'record';
      readonly claim: Claim;
      readonly ending: StepEnding;
      readonly at: number;
      readonly recorded: ReturnType<RunModel['record']>;
    }
  | { readonly kind: 'take-over' }
  | { readonly kind: 'lose-owners'; readonly reopened: number }
  | { readonly kind: 'settle'; readonly settlement: Settlement; readonly settled: boolean }
  | { readonly kind: 'abandon'; readonly abandonment: Abandonment; readonly abandoned: boolean };

/** Applies moves to a model. Claims are kept after their end: recording under an outdated one is part of a history. */
export function createPlayer(model: RunModel) {
  const claims: Claim[] = [];
  let at = model.run.startedAt;

  return function play(next: Move): Played | undefined {
    at += 1;
    switch (next.kind) {
      case 'claim': {
        const step = choose(
          model.steps.filter(({ state }) => state === 'ready'),
          next.pick,
        );
        if (!step) return undefined;
        const attempt = step.attempts + 1;
        const claim = model.claim(step.name, attempt, at);
        if (claim) claims.unshift(claim);
        return { kind: 'claim', name: step.name, attempt, claim };
      }
      case 'record': {
        const claim = choose(claims.slice(0, 6), next.pick);
        if (!claim) return undefined;
        const ending = next.ending.of(claim);
        return { kind: 'record', claim, ending, at, recorded: model.record(claim, ending, at) };
      }
      case 'take-over':
        model.takeOver();
        return { kind: 'take-over' };
      case 'lose-owners':
        model.endLeases();
        return { kind: 'lose-owners', reopened: model.reopenAbandoned() };
      case 'settle': {
        const settlement = { ...next.settlement, at };
        return { kind: 'settle', settlement, settled: model.settle(settlement) };
      }
      case 'abandon': {
        const abandonment = { reason: 'sent by hand', at };
        return { kind: 'abandon', abandonment, abandoned: model.abandon(abandonment) };
      }
    }
  };
}

function choose<One>(all: readonly One[], pick: number): One | undefined {
  return all[pick % all.length];
}
