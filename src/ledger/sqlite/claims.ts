import { FencedError, type Recorded, type Right, type SharedRight } from '../../review/ledger.js';
import { claimStep, mayAwaitResult, patchRun, recordEnding } from '../../review/state-machine.js';
import type { Claim, Claimed, StepEnding } from '../../review/step.js';
import { insertAttempt, insertSteps } from '../run-statements.js';
import { toRun, toStep, toStoredStep } from '../stored-run.js';
import { findBatch } from './collecting.js';
import type { Database } from './database.js';
import {
  changeRun,
  changeSteps,
  execute,
  findRun,
  findStep,
  findStepWithSuccessors,
  readProgress,
  tables,
} from './steps.js';

export function claim(
  database: Database,
  right: Right | SharedRight,
  name: string,
  attempt: number,
  at: number,
  leaseUntil: number,
): Claimed | undefined {
  const { runId, token } = right;
  const row = findRun(database, runId);
  const number = Number(row?.number);
  const stepRow = row && findStep(database, number, name);
  if (!stepRow) return undefined;
  const run = toRun(row);
  const step = toStoredStep(stepRow);
  const change = claimStep(run, step, { token, attempt, at });
  if (!change) return undefined;
  changeSteps(database, number, { which: { name }, set: change.step, leaseUntil });
  changeRun(database, number, change.run);
  const shown = toStep(runId, stepRow);
  const { slice } = shown;
  const lines = slice && findBatch(database, number, slice.form, slice.batch);
  return {
    step: shown,
    attempt,
    token: run.token,
    claimedAt: at,
    mayRepeat: change.mayRepeat,
    run: patchRun(run, change.run),
    ...(lines && { lines }),
  };
}

/** @throws FencedError when the step is not performed under this claim any more. */
export function record(database: Database, claim: Claim, ending: StepEnding, at: number): Recorded {
  const { runId, name } = claim.step;
  const row = findRun(database, runId);
  const number = Number(row?.number);
  const found = row && findStepWithSuccessors(database, number, name);
  if (!found) throw new FencedError(runId);
  const run = toRun(row);
  const change = recordEnding({
    run,
    ...found,
    claim,
    ending,
    at,
    others: mayAwaitResult(run) ? readProgress(database, number, name) : undefined,
  });
  if (!change) throw new FencedError(runId);
  const { steps, inserts } = change;
  for (const each of steps) changeSteps(database, number, each);
  if (inserts.length > 0) execute(database, insertSteps(tables, number, inserts, found.step.position));
  changeRun(database, number, change.run);
  execute(database, insertAttempt(tables, number, claim, ending, at));
  return { run: patchRun(run, change.run), opened: change.opened, settled: change.settled };
}

/** @throws FencedError when the step is not performed under this claim any more. */
export function checkClaim(database: Database, claim: Claim): { readonly run: number } {
  const run = findClaimed(database, claim);
  if (run === undefined) throw new FencedError(claim.step.runId);
  return { run };
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

export function isBeingPerformed(database: Database, run: number, now: number): boolean {
  const step = database.get(
    `SELECT 1 FROM steps WHERE run = ? AND state = 'running' AND lease_until > ? LIMIT 1`,
    run,
    now,
  );
  return step !== undefined;
}
