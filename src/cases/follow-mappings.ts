import type { HeldCase } from './case.js';
import { automatic, toDecision } from './case-decision.js';
import type { NotifyCases } from './case-events.js';
import type { CaseStore } from './case-store.js';
import { applyMoves, escalateIfDue } from './case-transitions.js';

export interface FollowParts {
  readonly ledger: { readonly cases: CaseStore };
  /** How long a reported case may stay uncorrected. */
  readonly escalateAfterMs: number;
  readonly clock: () => number;
  readonly notify?: NotifyCases | undefined;
}

const casesPerTransaction = 500;

/**
 * Corrects the cases whose mapping moved after their evidence, and escalates those that were reported too long ago. Belongs
 * after each sync, and before and after new findings: what was corrected before a verdict is reopened by it.
 */
export async function followMappings({ ledger, escalateAfterMs, clock, notify }: FollowParts): Promise<void> {
  const { cases } = ledger;
  const moves = new Map((await cases.listMoved()).map(({ id, moves }) => [id, moves]));
  const correct = (held: HeldCase) => {
    const now = clock();
    const next = applyMoves(held, moves.get(held.id) ?? [], now);
    return toDecision(held, next, [{ who: automatic, at: now, action: 'case-corrected' }]);
  };
  const corrected = await change(cases, [...moves.keys()], correct);
  if (corrected > 0) notify?.({ type: 'case-corrected', cases: corrected });
  const escalate = (held: HeldCase) => {
    const now = clock();
    const next = escalateIfDue(held, escalateAfterMs, now);
    return toDecision(held, next, [{ who: automatic, at: now, action: 'case-escalated' }]);
  };
  const escalated = await change(cases, await cases.listReported(clock() - escalateAfterMs), escalate);
  if (escalated > 0) notify?.({ type: 'case-escalated', cases: escalated });
}

/** Returns how many cases changed. */
async function change(
  cases: CaseStore,
  ids: readonly number[],
  decide: Parameters<CaseStore['changeById']>[1],
): Promise<number> {
  let changed = 0;
  for (let from = 0; from < ids.length; from += casesPerTransaction)
    changed += (await cases.changeById(ids.slice(from, from + casesPerTransaction), decide)).length;
  return changed;
}
