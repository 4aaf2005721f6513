import { isDeepStrictEqual } from 'node:util';
import type { Outcome } from './outcome.js';
import type { Happening } from './outside.js';

type Call = Extract<Happening, { kind: 'call' }>;

/** A day as it was lived, with or without deaths. */
export interface LivedDay {
  readonly outcome: Outcome;
  readonly log: readonly Happening[];
  /** What the run says: bookings sent again after a call whose outcome was unknown. */
  readonly repeated: number;
  /** Those that the service should get. */
  readonly references: readonly string[];
}

/** What a death has changed that it must not change; one line for each fault. */
export function findFaults(lived: LivedDay, undisturbed: LivedDay): string[] {
  return [
    ...compareOutcomes(lived.outcome, undisturbed.outcome),
    ...findLost(lived),
    ...findSentAgain(lived.log),
    ...findNeedless(lived.log),
    ...judgeRepeated(lived),
  ];
}

function compareOutcomes(found: Outcome, expected: Outcome): string[] {
  const parts = Object.keys(expected) as (keyof Outcome)[];
  return parts
    .filter((part) => !isDeepStrictEqual(found[part], expected[part]))
    .map((part) => `${part}: ${JSON.stringify(found[part])}, expected ${JSON.stringify(expected[part])}`);
}

/** Every booking must have arrived in a call that the service accepted, unless it was refused. */
function findLost({ log, references, outcome }: LivedDay): string[] {
  const arrived = new Set(
    log.flatMap((one) => (one.kind === 'call' && one.isAccepted ? one.references : [])),
  );
  const isRefused = (reference: string) => outcome.refused.some((line) => line.includes(`,${reference},`));
  return references
    .filter((reference) => !arrived.has(reference) && !isRefused(reference))
    .map((reference) => `lost: ${reference}`);
}

/** Whether what was done there was recorded: the next commit came before the next death. */
function isRecorded(log: readonly Happening[], at: number): boolean {
  return log.slice(at + 1).find(({ kind }) => kind === 'commit' || kind === 'death')?.kind === 'commit';
}

/** What was recorded as accepted must not be sent again. */
function findSentAgain(log: readonly Happening[]): string[] {
  return log.flatMap((one, at) => (isRecorded(log, at) ? findAgain(one, log.slice(at + 1)) : []));
}

function findAgain(one: Happening, later: readonly Happening[]): string[] {
  switch (one.kind) {
    case 'message':
      return later.some((other) => other.kind === 'message' && other.id === one.id)
        ? [`told again: ${one.says}`]
        : [];
    case 'published':
      return later.some((other) => other.kind === 'published') ? [`published again: ${one.path}`] : [];
    case 'call':
      return one.references
        .filter((reference) => one.isAccepted && one.isAnswered && isCalledFor(later, reference))
        .map((reference) => `sent again: ${reference}`);
    case 'commit':
    case 'death':
      return [];
  }
}

/** A review by file is not started again once its result is there. */
function findNeedless(log: readonly Happening[]): string[] {
  return log.flatMap((one) =>
    one.kind === 'call' && one.isNeedless ? [`called in spite of its result: ${one.references}`] : [],
  );
}

function isCalledFor(log: readonly Happening[], reference: string): boolean {
  return log.some((one) => one.kind === 'call' && one.references.includes(reference));
}

/**
 * The bookings of each call without a clear and recorded answer count when they are sent again, once; so do those
 * of a step that a dead process had begun, because whether it made the call is unknown, too.
 */
function judgeRepeated({ log, repeated }: LivedDay): string[] {
  const expected = new Set(
    log.flatMap((one, at) => {
      if (one.kind === 'call') return isUnclear(log, one, at) ? listSentAgain(log, one, at) : [];
      return one.kind === 'death' && !isAfterCall(log, at) ? (one.begun?.references ?? []) : [];
    }),
  ).size;
  return repeated === expected ? [] : [`repeated: ${repeated}, expected ${expected}`];
}

function isUnclear(log: readonly Happening[], call: Call, at: number): boolean {
  return !call.isAnswered || !isRecorded(log, at);
}

/** A canary is no booking. */
function listSentAgain(log: readonly Happening[], { references }: Call, at: number): readonly string[] {
  const isSame = (one: Happening) => one.kind === 'call' && isDeepStrictEqual(one.references, references);
  const bookings = references.filter((reference) => !reference.startsWith('CANARY-'));
  return log.slice(at + 1).some(isSame) ? bookings : [];
}

/** Whether the step that the death interrupted had made its call. */
function isAfterCall(log: readonly Happening[], at: number): boolean {
  return log.slice(0, at).findLast(({ kind }) => kind === 'commit' || kind === 'call')?.kind === 'call';
}
