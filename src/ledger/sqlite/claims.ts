import { patchRun } from '../changes.js';
import { database, one, type Query } from '../query.js';
import { changeRun } from '../run-changes.js';
import { findLocked } from '../runs.js';
import { placeOfBatch } from '../sealing.js';
import type { Claim, Claimed, Right, SharedRight, Slice } from '../step.js';
import { changeSteps, storedStepColumns, toStep, toStoredStep } from '../steps.js';
import type { Database } from './database.js';

/** Every step is claimed with this. It names what is read: each column adds to the cost of a row. */
const selectClaimedStep = `SELECT ${storedStepColumns.join(', ')}, after, form, batch, first, not_before
  FROM steps WHERE run = ? AND name = ?`;

export function* claim(
  right: Right | SharedRight,
  name: string,
  attempt: number,
  at: number,
  leaseUntil: number,
): Query<Claimed | undefined> {
  const { rules } = yield* database();
  const { runId, token } = right;
  const stored = yield* findLocked(runId);
  const row = stored && (yield* one(selectClaimedStep, stored.number, name));
  if (!row) return undefined;
  const { number, run } = stored;
  const change = rules.claimStep(run, toStoredStep(row), { token, attempt, at });
  if (!change) return undefined;
  yield* changeSteps(number, { which: { name }, set: change.step }, leaseUntil);
  yield* changeRun(number, change.run);
  const step = toStep(runId, row);
  const lines = step.slice && (yield* findLines(number, step.slice));
  return {
    step,
    attempt,
    token: run.token,
    claimedAt: at,
    mayRepeat: change.mayRepeat,
    run: patchRun(run, change.run),
    ...(lines && { lines }),
  };
}

function* findLines(run: number, { form, batch }: Slice): Query<Buffer | undefined> {
  const { sealing } = yield* database();
  const row = yield* one(
    'SELECT lines FROM batches WHERE run = ? AND form = ? AND batch = ?',
    run,
    form,
    batch,
  );
  return row && sealing.openLines(row.lines, placeOfBatch(run, form, batch));
}

/** The row number of the claim's run, if the claim is still valid. */
export function findClaimed(database: Database, { step, attempt, token }: Claim): number | undefined {
  const row = database.get(
    `SELECT runs.number FROM runs JOIN steps ON steps.run = runs.number AND steps.name = ?
     WHERE runs.id = ? AND runs.token = ? AND steps.state = 'running' AND steps.attempts = ? AND steps.token = ?`,
    step.name,
    step.runId,
    token,
    attempt,
    token,
  );
  return row && Number(row.number);
}

/** @returns the claims that are outdated */
export function renewClaims(database: Database, claims: readonly Claim[], leaseUntil: number): Claim[] {
  return claims.filter((claim) => {
    const run = findClaimed(database, claim);
    if (run !== undefined) renewLease(database, run, claim.step.name, leaseUntil);
    return run === undefined;
  });
}

function renewLease(database: Database, run: number, step: string, until: number): void {
  database.run('UPDATE steps SET lease_until = ? WHERE run = ? AND name = ?', until, run, step);
}
