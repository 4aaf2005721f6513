import type { RetryPolicy } from '../../../src/base/retry.js';
import { hashReference } from '../../../src/booking/booking.js';
import type { BatchStream } from '../../../src/booking/sending.js';
import type { Collect, CollectedBatch, CollectedChunk } from '../../../src/ledger/collecting.js';
import type { Ledger, ReadOnlyLedger } from '../../../src/ledger/ledger.js';
import { planBatches } from '../../../src/rules/batch-plan.js';
import type { Decide, NewRun } from '../../../src/rules/changes.js';
import type { Run } from '../../../src/rules/run.js';
import { decideChange } from '../../../src/rules/state-machine.js';
import type { Claim, Claimed, Outcome, Recorded, Right } from '../../../src/rules/step.js';
import { lineOfBooking } from '../../support/made-bookings.js';
import { findStayKeys } from './stay-keys.js';

export const day = '2026-11-20';
export const batchSize = 4;
export const at = Date.UTC(2026, 10, 21, 1, 30);

export function lineOf(reference: string | undefined, bookingClientName = 'Ana Gil'): string {
  const booking = {
    serviceId: 7,
    ...(reference !== undefined && { bookingReferenceId: reference }),
    bookingClientName,
    providerHotelId: '007',
  };
  return lineOfBooking(booking);
}

/** A line that may be in the review file. */
export function fileLineOf(bookingReferenceId: string): string {
  const booking = {
    serviceId: 7,
    bookingReferenceId,
    bookingClientName: 'Ana Gil',
    providerName: 'hotelbeds',
    providerHotelId: '007',
    checkInDate: '2026-11-20',
    checkOutDate: '2026-11-23',
  };
  return lineOfBooking(booking);
}

export function batchOf(
  number: number,
  references: readonly (string | undefined)[],
  stream: BatchStream = 'posted',
): CollectedBatch {
  const render = (reference: string | undefined) =>
    stream === 'file' && reference !== undefined ? fileLineOf(reference) : lineOf(reference);
  const lines = toLines(references.map(render));
  return {
    stream,
    number,
    referenceHashes: references.map(hashReference),
    stays: findStayKeys(lines),
    lines,
  };
}

export function toLines(lines: readonly string[]): Buffer {
  return Buffer.from(lines.map((line) => `${line}\n`).join(''));
}

export function chunkOf(parts: Partial<CollectedChunk>): CollectedChunk {
  return { batches: [], duplicates: 0, filtered: 0, rejects: [], warnings: [], ...parts };
}

export function rightOf({ id, token }: Run): Right {
  return { runId: id, token };
}

export function newRun(id: string, changes: Partial<NewRun> = {}): NewRun {
  return { id, day, delivery: 'body', trigger: 'manual', startedAt: at, ...changes };
}

export function startCollect(ledger: Ledger, run: Run, size = batchSize): Promise<Collect> {
  return ledger.bookings.beginCollect(rightOf(run), { source: 'bookings.csv', at, batchSize: size });
}

/** References `PREFIX-0`, `PREFIX-1`, … */
export function references(count: number, prefix = 'BR'): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
}

/** A run with collected bookings and planned batches, `batch 0`, `batch 1`, …. */
export async function collectedRun(
  ledger: Ledger,
  id: string,
  {
    bookings = references(10),
    ...changes
  }: Partial<NewRun> & { bookings?: readonly (string | undefined)[] } = {},
): Promise<Run> {
  const run = await ledger.runs.create(newRun(id, changes));
  return collectInto(ledger, run, bookings);
}

export async function collectInto(
  ledger: Ledger,
  run: Run,
  bookings: readonly (string | undefined)[],
): Promise<Run> {
  const collect = await startCollect(ledger, run);
  const batches: CollectedBatch[] = [];
  for (let start = 0; start < bookings.length; start += batchSize) {
    batches.push(batchOf(start / batchSize, bookings.slice(start, start + batchSize)));
  }
  await collect.store(chunkOf({ batches }));
  return collect.finish({ steps: planBatches(bookings.length, batchSize), at });
}

export async function claimStep(ledger: Ledger, run: Run, step: string, attempt = 1): Promise<Claimed> {
  const claim = await ledger.steps.claim(rightOf(run), step, attempt, at);
  if (!claim) throw new Error(`expected a claim of ${step}, attempt ${attempt}, got: none`);
  return claim;
}

/** What an attempt found in a test, and how the rule is to take it: so a test can say which ending it wants. */
export type Found = Outcome & {
  /** There is no try left. */
  readonly isSpent?: true;
  /** The wait before the next try. */
  readonly waitMs?: number;
  /** Its batch counts as one booking. */
  readonly isAlone?: true;
};

/** The real decision, under a policy that leads to the wanted ending. */
export function decideFor({ isSpent, waitMs = 1_000, isAlone }: Found): Decide {
  const retry: RetryPolicy = {
    ...{ tries: isSpent ? 0 : Number.POSITIVE_INFINITY, waits: Number.POSITIVE_INFINITY },
    ...{ baseMs: waitMs, capMs: waitMs, retryAfterCapMs: 0 },
  };
  return (attempted) => {
    const claim = isAlone ? asAlone(attempted.claim) : attempted.claim;
    return decideChange({ ...attempted, claim }, { retry, jitter: 1 });
  };
}

function asAlone(claim: Claim): Claim {
  const { slice, ...step } = claim.step;
  return slice ? { ...claim, step: { ...step, slice: { ...slice, bookings: 1 } } } : claim;
}

export function record(ledger: Ledger, claim: Claimed, found: Found, recordedAt: number): Promise<Recorded> {
  return ledger.steps.record(claim, found, recordedAt, decideFor(found));
}

/** Claims a step and records its outcome. */
export async function perform(
  ledger: Ledger,
  run: Run,
  step: string,
  found: Found,
  attempt = 1,
): Promise<Recorded> {
  return record(ledger, await claimStep(ledger, run, step, attempt), found, at);
}

export const done = {
  kind: 'done',
  evidence: { code: 'ok', httpStatus: 200, statusCode: 2000, answer: 'Success', sha256: 'ab12' },
} as const;
export const refused = {
  kind: 'refused',
  isAlone: true,
  evidence: { code: 'code-2009', httpStatus: 200, statusCode: 2009, answer: 'Invalid hotel data of Ana Gil' },
} as const;
export const halved = {
  kind: 'refused',
  evidence: { code: 'code-2009', httpStatus: 200, statusCode: 2009 },
} as const;
const unavailable = { kind: 'retryable', outcomeUnknown: false, refusedWhenSpent: false } as const;
export const failed = {
  ...unavailable,
  isSpent: true,
  evidence: { code: 'http-503', httpStatus: 503 },
} as const;
export const fatal = {
  kind: 'fatal',
  evidence: { code: 'http-403', httpStatus: 403 },
  advice: 'check apiKey',
} as const;
export const interrupted = { kind: 'interrupted', evidence: { code: 'stopped' } } as const;

export function retry({
  notBefore = at + 1_000,
  spendsTry = true,
  outcomeUnknown = false,
  code = 'timeout',
} = {}): Found {
  const evidence = { code };
  const asked = !spendsTry && { retryAfterMs: 0 };
  return { ...unavailable, ...asked, evidence, outcomeUnknown, waitMs: notBefore - at };
}

/** Everything that a writer could have changed, for comparing before and after. */
export async function look(ledger: ReadOnlyLedger, runId: string) {
  return {
    run: await ledger.runs.get(runId),
    tally: await ledger.runs.tally(runId),
    open: await ledger.steps.listOpen(runId, { limit: 1_000 }),
    rejects: await ledger.rejects.count(runId),
    warnings: await ledger.rejects.countWarnings(runId),
  };
}

export async function openNames(ledger: Ledger, runId: string): Promise<string[]> {
  return (await ledger.steps.listOpen(runId, { limit: 1_000 })).map(({ name }) => name);
}

export async function idsOf(runs: AsyncIterable<Run>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of runs) ids.push(id);
  return ids;
}
