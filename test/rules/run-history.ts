import fc from 'fast-check';
import type { Abandonment, Settlement } from '../../src/rules/changes.js';
import { isResultStep } from '../../src/rules/file-chain.js';
import type { Asker } from '../../src/rules/run.js';
import type { Claim } from '../../src/rules/step.js';
import { type Found, failed, fatal, halved, interrupted, retry } from '../contracts/ledger/days.js';
import { fileSteps } from '../contracts/ledger/file-days.js';
import type { RunModel } from './run-model.js';

/**
 * What can happen to a run; `pick` selects one of its steps, or one of the claims made so far. A claim may also be made wrongly, which is
 * stale or premature: for another attempt than the next one, under an older token, or of a step that has ended, is performed, or is not there yet.
 */
export type Move =
  | { readonly kind: 'claim'; readonly pick: number }
  | {
      readonly kind: 'claim-wrongly';
      readonly pick: number;
      readonly shift: -1 | 0 | 1;
      readonly isOfOther: boolean;
    }
  | { readonly kind: 'record'; readonly pick: number; readonly found: FoundOf }
  | { readonly kind: 'take-over'; readonly by: Asker }
  | { readonly kind: 'lose-owners' }
  | { readonly kind: 'settle'; readonly settlement: Settlement }
  | { readonly kind: 'abandon' };

/** What is found, and its name in a counterexample. */
interface FoundOf {
  readonly name: string;
  readonly of: (claim: Claim) => Found;
  readonly toString: () => string;
}

/** One per way in which the facts of an outcome differ. A refused step that can't be halved is refused or fails. */
const outcomes: Readonly<Record<string, (claim: Claim) => Found>> = {
  done: () => ({ kind: 'done', evidence: { code: 'ok', httpStatus: 200, sha256: 'ab12' } }),
  'done before': () => ({ kind: 'done', evidence: { code: 'ok' }, nothingSent: true }),
  'done with findings': () => ({
    kind: 'done',
    evidence: { code: 'ok' },
    file: { rows: 6, remotePath: 'VerifyMappings/112026/20112026.csv' },
  }),
  refused: () => halved,
  failed: () => failed,
  'failed without answer': () => ({ ...failed, outcomeUnknown: true }),
  'failed without sending': () => ({ ...failed, nothingSent: true }),
  retry: () => retry(),
  'no answer': () => retry({ outcomeUnknown: true }),
  wait: () => retry({ spendsTry: false }),
  'nothing sent': () => ({ ...retry(), nothingSent: true, file: { rows: 7 } }),
  overdue: ({ step }) =>
    isResultStep(step.kind)
      ? { kind: 'overdue', evidence: { code: 'result-absent' }, until: 0 }
      : interrupted,
  fatal: () => fatal,
  interrupted: () => interrupted,
};

const found = Object.entries(outcomes).map(([name, of]): FoundOf => ({ name, of, toString: () => name }));

const settlements: readonly Omit<Settlement, 'at'>[] = [
  { state: 'failed', failure: { class: 'retryable', code: 'steps-failed', message: '2 steps failed' } },
  { state: 'failed', failure: { class: 'refused', code: 'too-many-refused', message: 'refused 2 of 9' } },
  { state: 'succeeded' },
  { state: 'cancelled' },
];

/** Mostly claims and ordinary endings, so that histories get far. */
const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 30, arbitrary: fc.record({ kind: fc.constant('claim' as const), pick: fc.nat() }) },
  {
    weight: 30,
    arbitrary: fc.record({
      kind: fc.constant('record' as const),
      pick: fc.nat(),
      found: fc.oneof(
        { weight: 3, arbitrary: fc.constantFrom(...found.slice(0, 3)) },
        { weight: 1, arbitrary: fc.constantFrom(...found.filter(({ name }) => name === 'refused')) },
        { weight: 3, arbitrary: fc.constantFrom(...found) },
      ),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('claim-wrongly' as const),
      pick: fc.nat(),
      shift: fc.constantFrom(-1 as const, 0 as const, 1 as const),
      isOfOther: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('take-over' as const),
      by: fc.constantFrom<Asker>('person', 'schedule', 'result'),
    }),
  },
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

export const moves: fc.Arbitrary<Move[]> = fc.array(move, { minLength: 5, maxLength: 60, size: 'max' });

/** The first steps of a file run, one after the other. */
export function movesToFileStep(count: number): Move[] {
  const done = found.slice(0, 1);
  return Array.from({ length: count }, (): Move[] =>
    done.flatMap((found): Move[] => [
      { kind: 'claim', pick: 0 },
      { kind: 'record', pick: 1, found },
    ]),
  ).flat();
}

/** What a move does to the model, and its outcome: to be compared with that of another implementation. */
export type Played =
  | {
      readonly kind: 'claim';
      readonly name: string;
      readonly attempt: number;
      readonly claim: Claim | undefined;
    }
  | {
      readonly kind: 'claim-wrongly';
      readonly name: string;
      readonly attempt: number;
      readonly token: number;
    }
  | {
      readonly kind: 'record';
      readonly claim: Claim;
      readonly found: Found;
      readonly at: number;
      readonly recorded: ReturnType<RunModel['record']>;
    }
  | { readonly kind: 'take-over'; readonly by: Asker }
  | { readonly kind: 'lose-owners'; readonly reopened: number }
  | { readonly kind: 'settle'; readonly settlement: Settlement; readonly settled: boolean }
  | { readonly kind: 'abandon'; readonly abandonment: Abandonment; readonly abandoned: boolean };

/** Applies moves to a model. Claims are kept after their end: recording under an outdated one is part of a history. */
export function createPlayer(model: RunModel) {
  const claims: Claim[] = [];
  let at = model.run.startedAt;
  const isHeld = ({ step, attempt, token }: Claim) =>
    token === model.run.token &&
    model.steps.some(
      ({ name, state, attempts }) => name === step.name && state === 'running' && attempts === attempt,
    );

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
      case 'claim-wrongly': {
        const step = choose<{ readonly name: string; readonly attempts?: number }>(
          [...model.steps, ...fileSteps.map((name) => ({ name })), { name: 'batch 99' }],
          next.pick,
        );
        if (!step) return undefined;
        const { name, attempts = 0 } = step;
        const attempt = attempts + 1 + next.shift;
        const token = model.run.token - (next.isOfOther ? 1 : 0);
        const claim = model.claim(name, attempt, at, token);
        if (!claim) return { kind: 'claim-wrongly', name, attempt, token };
        // It was the right one after all.
        claims.unshift(claim);
        return { kind: 'claim', name, attempt, claim };
      }
      case 'record': {
        // Mostly under one that is still held.
        const held = claims.filter(isHeld);
        const claim = choose(next.pick % 4 > 0 && held.length > 0 ? held : claims.slice(0, 6), next.pick);
        if (!claim) return undefined;
        const found = next.found.of(claim);
        return { kind: 'record', claim, found, at, recorded: model.record(claim, found, at) };
      }
      case 'take-over':
        model.takeOver(next.by);
        return next;
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
