import type { Claim } from '../../review/step.js';
import { findClaimed } from './claims.js';
import type { Database } from './database.js';
import { interruptRunningSteps } from './runs.js';

/** @returns the claims that are outdated */
export function renewClaims(database: Database, claims: readonly Claim[], leaseUntil: number): Claim[] {
  return claims.filter((claim) => {
    const claimed = findClaimed(database, claim);
    if (claimed) {
      database.run(
        'UPDATE steps SET lease_until = ? WHERE run = ? AND name = ?',
        leaseUntil,
        Number(claimed.number),
        claim.step.name,
      );
    }
    return !claimed;
  });
}

export function reopenAbandoned(database: Database, run: number, now: number): number {
  return interruptRunningSteps(database, run, now);
}

export function isBeingPerformed(database: Database, run: number, now: number): boolean {
  const step = database.get(
    `SELECT 1 FROM steps WHERE run = ? AND state = 'running' AND lease_until > ? LIMIT 1`,
    run,
    now,
  );
  return step !== undefined;
}
