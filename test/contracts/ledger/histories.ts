import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BatchStream } from '../../../src/booking/sending.js';
import { FencedError } from '../../../src/ledger/errors.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import { toRow, withoutUndefined } from '../../../src/ledger/query.js';
import { type Attempt, toStep, toStoredStep } from '../../../src/ledger/steps.js';
import { planBatches } from '../../../src/rules/batch-plan.js';
import type { FailureClass, Run } from '../../../src/rules/run.js';
import type { Claim } from '../../../src/rules/step.js';
import { createPlayer, moves, movesToFileStep, type Played } from '../../rules/run-history.js';
import { createRunModel, type ModelStep, type RunModel, recount } from '../../rules/run-model.js';
import type { OpenedLedger, StepRow } from '../ledger.js';
import {
  at,
  batchOf,
  batchSize,
  chunkOf,
  fileLineOf,
  lineOf,
  newRun,
  record,
  references,
  rightOf,
  startCollect,
} from './days.js';
import { planFileRun } from './file-days.js';

export function describeHistories(opened: () => OpenedLedger): void {
  describe('whatever happens to a run', () => {
    it.each(['body', 'file'] as const)(
      'by %s, its rows match the state machine',
      async (delivery) => {
        let runs = 0;
        const other = await opened().reopen();
        await fc.assert(
          fc.asyncProperty(
            fc.integer({ min: 1, max: 10 }),
            fc.integer({ min: 1, max: 9 }),
            fc.integer({ min: 0, max: 4 }),
            moves,
            async (body, file, begun, more) => {
              const history = [...movesToFileStep(delivery === 'file' ? begun : 0), ...more];
              runs += 1;
              const lived = await start(opened().ledger, `${delivery}-${runs}`, {
                body,
                file: delivery === 'file' ? file : 0,
              });
              const play = createPlayer(lived.model);
              await expectSame(opened(), lived.model);
              for (const [index, move] of history.entries()) {
                const token = lived.model.run.token;
                const played = play(move);
                if (!played) continue;
                // Two processes work on it in turn.
                const { ledger } = index % 2 === 0 ? opened() : { ledger: other };
                await replay({ ...opened(), ledger }, lived, token, played);
                await expectSame(opened(), lived.model);
              }
              await expectEvidence(opened(), lived);
              await expectDelivered(opened().ledger, lived.model);
            },
          ),
          { numRuns: 14 },
        );
      },
      120_000,
    );
  });
}

/** A day of its own. */
function dayOf(id: string): string {
  const days = 86_400_000 * Number(id.replace(/\D/g, ''));
  return new Date(Date.UTC(2026, 0, 1) + days).toISOString().slice(0, 10);
}

/** A history so far. */
interface Lived {
  readonly model: RunModel;
  /** What is to be found of its attempts, in the order in which they ended. */
  readonly attempts: Attempt[];
  readonly claims: Claim[];
}

/** Starts the same run in the ledger and in the model. */
async function start(
  ledger: Ledger,
  id: string,
  { body, file }: { readonly body: number; readonly file: number },
): Promise<Lived> {
  const run = await ledger.runs.create(newRun(id, { day: dayOf(id), delivery: file > 0 ? 'file' : 'body' }));
  const collect = await startCollect(ledger, run);
  const batchesOf = (stream: BatchStream, count: number) =>
    Array.from({ length: Math.ceil(count / batchSize) }, (_, batch) =>
      batchOf(
        batch,
        references(count, `${id}-${stream}`).slice(batch * batchSize, (batch + 1) * batchSize),
        stream,
      ),
    );
  await collect.store(chunkOf({ batches: [...batchesOf('file', file), ...batchesOf('posted', body)] }));
  const collected = await ledger.runs.get(id);
  const plan = file > 0 ? planFileRun({ file, body }) : planBatches(body, batchSize);
  await collect.finish({ steps: plan, at });
  return { model: createRunModel(collected, plan, at), attempts: [], claims: [] };
}

/** Repeats in the ledger what was done in the model, and compares the results. */
async function replay(
  { ledger, endLeases }: OpenedLedger,
  { model: { run }, attempts, claims }: Lived,
  token: number,
  played: Played,
): Promise<void> {
  const running = claims.filter((claim) => isUnended(claim, attempts));
  switch (played.kind) {
    case 'claim-wrongly': {
      const right = { runId: run.id, token: played.token };
      expect(await ledger.steps.claim(right, played.name, played.attempt, at)).toBeUndefined();
      return;
    }
    case 'claim': {
      const { name, attempt, claim } = played;
      const claimed = await ledger.steps.claim(
        { runId: run.id, token },
        name,
        attempt,
        claim?.claimedAt ?? at,
      );
      const { run: current, lines, ...given } = claimed ?? {};
      expect(claimed && given).toEqual(claim);
      if (!claim || !current) return;
      claims.push(claim);
      expect(withoutPauses(current)).toEqual(run);
      const { slice } = claim.step;
      expect(lines).toEqual(slice && (await ledger.bookings.readBatch(run.id, slice.stream, slice.batch)));
      return;
    }
    case 'record': {
      const { found, recorded, at: recordedAt } = played;
      const claim = { ...played.claim, run };
      if (!recorded) {
        await expect(record(ledger, claim, found, recordedAt)).rejects.toThrow(FencedError);
        return;
      }
      const after = await record(ledger, claim, found, recordedAt);
      expect({ ...after, run: withoutPauses(after.run) }).toEqual(recorded);
      const attempt = withoutUndefined({ ...attemptOf(claim), ...found.evidence });
      attempts.push({ ...attempt, endedAt: recordedAt, outcome: recorded.ending });
      return;
    }
    case 'take-over':
      expect(withoutPauses(await ledger.runs.takeOver(run.id, { by: played.by }))).toEqual(run);
      // Whoever performed its steps may have sent them.
      attempts.push(...running.map(interruptedAttempt));
      return;
    case 'lose-owners':
      await endLeases();
      expect(await ledger.steps.reopenAbandoned(run.id)).toBe(played.reopened);
      if (played.reopened > 0) attempts.push(...running.map(interruptedAttempt));
      return;
    case 'settle':
      expect(await ledger.runs.settle(rightOf({ ...run, token }), played.settlement)).toBe(played.settled);
      return;
    case 'abandon':
      expect(await ledger.runs.abandon(run.id, played.abandonment)).toBe(played.abandoned);
      return;
  }
}

const attemptOf = ({ step, attempt, claimedAt }: Claim) => ({
  ...{ step: step.name, attempt, startedAt: claimedAt },
});

const interruptedAttempt = (claim: Claim): Attempt => ({
  ...attemptOf(claim),
  ...{ endedAt: claim.claimedAt, outcome: 'interrupted', code: 'owner-lost' },
});

const isUnended = ({ step, attempt }: Claim, attempts: readonly Attempt[]): boolean =>
  !attempts.some((one) => one.step === step.name && one.attempt === attempt);

/** The model has no clock. */
function withoutPauses({ resumedAt: _, ...run }: Run): Run {
  return { ...run, pausedMs: 0 };
}

async function expectSame({ ledger, readSteps }: OpenedLedger, { run, steps }: RunModel): Promise<void> {
  expect(withoutPauses(await ledger.runs.get(run.id))).toEqual(run);
  expect((await readSteps(run.id)).map((row) => fromRow(run.id, row))).toEqual(steps);
  const { repeated: _, ...counted } = recount(steps);
  const ofFailed = steps.filter(({ state }) => state === 'failed');
  const failed = ofFailed.find(({ failureClass }) => failureClass !== 'retryable') ?? ofFailed[0];
  expect(await ledger.runs.tally(run.id)).toEqual({
    ...counted,
    stored: run.counts.accepted,
    ...(failed && {
      firstFailed: { name: failed.name, code: failed.lastCode, failureClass: failed.failureClass },
    }),
  });
  const open = steps.filter(({ state }) => state === 'ready');
  expect(await ledger.steps.listOpen(run.id, { limit: 1_000 })).toEqual(
    open.map(({ position, name, attempts, notBefore }) => ({
      ...{ position, name, attempt: attempts + 1 },
      ...(notBefore !== undefined && { notBefore }),
    })),
  );
}

/** What a person can see of it: every attempt, what is left to do, and what was refused. */
async function expectEvidence({ ledger }: OpenedLedger, { model, attempts, claims }: Lived): Promise<void> {
  const { run, steps } = model;
  const { id } = run;
  const isHeld = ({ step, attempt, token }: Claim) =>
    token === run.token &&
    steps.some((one) => one.name === step.name && one.state === 'running' && one.attempts === attempt);
  for (const claim of claims) expect(await ledger.steps.holdsClaim(claim)).toBe(isHeld(claim));
  expect(await ledger.steps.renewClaims(claims)).toEqual(claims.filter((claim) => !isHeld(claim)));
  const running = steps.filter(({ state }) => state === 'running');
  expect(await ledger.steps.isBeingPerformed(id)).toBe(running.length > 0);
  for (const { name } of steps)
    expect(await ledger.steps.listAttempts(id, name)).toEqual(
      attempts.filter(({ step }) => step === name).toSorted((one, next) => one.attempt - next.attempt),
    );
  const troubles = attempts.filter(
    ({ step, outcome }) => outcome !== 'done' && !(step === 'await-result' && outcome === 'retry'),
  );
  const listed = await ledger.steps.listTroubles(id, 1_000);
  expect(listed.map(({ step, attempt }) => `${step} ${attempt}`).toSorted()).toEqual(
    troubles.map(({ step, attempt }) => `${step} ${attempt}`).toSorted(),
  );
  expect(listed.map(({ endedAt }) => endedAt)).toEqual(
    listed.map(({ endedAt }) => endedAt).toSorted((one, next) => next - one),
  );
  // The instant itself is no longer a wait.
  const now =
    steps.find(({ state, notBefore = 0 }) => state === 'ready' && notBefore > 0)?.notBefore ?? at + 30;
  const isDelayed = ({ notBefore = 0 }: ModelStep) => notBefore > now;
  const ready = steps.filter(({ state }) => state === 'ready');
  const delayed = ready
    .filter(isDelayed)
    .toSorted((one, next) => (one.notBefore ?? 0) - (next.notBefore ?? 0));
  const [next] = delayed;
  const oldest = running.toSorted((one, next) => (one.claimedAt ?? 0) - (next.claimedAt ?? 0))[0];
  expect(await ledger.steps.readOpenWork(id, now)).toEqual({
    ...{ performed: running.length, abandoned: 0, ready: ready.length - delayed.length },
    delayed: delayed.length,
    ...(oldest && { oldest: { step: oldest.name, kind: oldest.kind, since: oldest.claimedAt } }),
    ...(next && {
      next: {
        ...{ step: next.name, kind: next.kind, until: next.notBefore, code: next.lastCode },
        ...{ tries: next.tries, waits: next.waits },
        endedAt: Math.max(...attempts.filter(({ step }) => step === next.name).map(({ endedAt }) => endedAt)),
      },
    }),
  });
  for (const { kind, state, ...counted } of await ledger.steps.count(id)) {
    const alike = steps.filter((step) => step.kind === kind && step.state === state);
    const bookings = alike.reduce((sum, step) => sum + step.bookings, 0);
    expect(counted).toEqual({ steps: alike.length, bookings });
  }
  for (const { kind, ...times } of await ledger.steps.listTimes(id)) {
    const names = steps.filter((step) => step.kind === kind).map(({ name }) => name);
    const ofKind = attempts.filter(({ step }) => names.includes(step));
    expect(times).toEqual({
      ...{ steps: new Set(ofKind.map(({ step }) => step)).size, attempts: ofKind.length },
      startedAt: Math.min(...ofKind.map(({ startedAt }) => startedAt)),
      endedAt: Math.max(...ofKind.map(({ endedAt }) => endedAt)),
    });
  }
  const refused = steps.filter(({ state, kind }) => state === 'refused' && kind === 'batch');
  const expected = refused.map(({ name, lastCode, slice }) => ({
    ...{ step: name, code: lastCode, stream: slice?.stream, batch: slice?.batch, row: slice?.first },
    line: lineOf(referenceAt(model, 'posted', slice)),
  }));
  expect(await ledger.bookings.listRefused(id, 1_000)).toEqual(expected);
  expect(await ledger.bookings.listRefused(id, 1, 1)).toEqual(expected.slice(1, 2));
  await expectTraces(ledger, model, attempts);
}

function referenceAt(
  { run }: RunModel,
  stream: BatchStream,
  slice: { readonly batch: number; readonly first: number } | undefined,
): string {
  return `${run.id}-${stream}-${(slice?.batch ?? 0) * batchSize + (slice?.first ?? 0)}`;
}

/** Each booking is followed from its whole batch down to the half that holds it now. */
async function expectTraces(
  ledger: Ledger,
  { run, steps }: RunModel,
  attempts: readonly Attempt[],
): Promise<void> {
  const posted = run.counts.accepted - (run.delivery === 'file' ? countFile(steps) : 0);
  for (let place = 0; place < posted; place += 3) {
    const [batch, row] = [Math.floor(place / batchSize), place % batchSize];
    const carrying = steps
      .filter(
        ({ slice }) => slice?.batch === batch && slice.first <= row && slice.first + slice.bookings > row,
      )
      .toSorted((one, next) => next.bookings - one.bookings);
    const last = carrying.at(-1);
    const [trace] = await ledger.bookings.trace(`${run.id}-posted-${place}`);
    expect(trace).toMatchObject({
      ...{ stream: 'posted', batch, position: place, line: lineOf(`${run.id}-posted-${place}`) },
      step: { name: last?.name, state: last?.state },
    });
    expect(
      trace?.kind === 'booking' && trace.attempts.map(({ step, attempt }) => `${step} ${attempt}`),
    ).toEqual(
      carrying.flatMap(({ name }) =>
        attempts
          .filter(({ step }) => step === name)
          .toSorted((one, next) => one.attempt - next.attempt)
          .map(({ attempt }) => `${name} ${attempt}`),
      ),
    );
  }
}

function countFile(steps: readonly ModelStep[]): number {
  return steps.find(({ kind, bookings }) => kind !== 'batch' && bookings > 0)?.bookings ?? 0;
}

/** The next run of the day is told what was delivered, and nothing else. */
async function expectDelivered(ledger: Ledger, model: RunModel): Promise<void> {
  const { run, steps } = model;
  // Its own bookings are not what others have delivered.
  expect(await ledger.bookings.nextDelivered(run.id)).toBeUndefined();
  const next = await ledger.runs.create(
    newRun(`next of ${run.id}`, { day: run.day, topsUp: true, replaces: run.id }),
  );
  const found: string[] = [];
  let piece = await ledger.bookings.nextDelivered(next.id);
  while (piece) {
    found.push(piece.lines.toString());
    piece = await ledger.bookings.nextDelivered(next.id, piece.cursor);
  }
  const posted = steps
    .filter(({ kind, state }) => kind === 'batch' && state === 'done')
    .flatMap(({ slice }) => {
      const { batch = 0, first = 0, bookings = 0 } = slice ?? {};
      return Array.from({ length: bookings }, (_, row) =>
        lineOf(referenceAt(model, 'posted', { batch, first: first + row })),
      );
    });
  const isSent = steps.some(({ kind, state }) => kind === 'trigger' && state === 'done');
  const inFile = references(isSent ? countFile(steps) : 0, `${run.id}-file`).map(fileLineOf);
  expect(found.join('')).toBe([...posted, ...inFile].map((line) => `${line}\n`).join(''));
}

function fromRow(runId: string, raw: StepRow): ModelStep {
  const row = toRow(raw);
  const instant = (field: string) => (row[field] === undefined ? {} : { [field]: Number(row[field]) });
  return {
    ...toStep(runId, row),
    ...toStoredStep(row),
    ...instant('claimedAt'),
    ...instant('endedAt'),
    ...(row.lastCode !== undefined && { lastCode: String(row.lastCode) }),
    ...(row.failureClass !== undefined && { failureClass: row.failureClass as FailureClass }),
  };
}
