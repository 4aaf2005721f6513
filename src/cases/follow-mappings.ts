import type { Ledger } from '../ledger/ledger.js';
import type { HeldCase } from './case.js';
import { automatic, toDecision } from './case-decision.js';
import type { NotifyCases } from './case-events.js';

import { applyMoves, escalateIfDue } from './case-transitions.js';
import { changeCases } from './change-cases.js';

export interface FollowParts {
  readonly ledger: Ledger;
  /** How long a reported case may stay uncorrected. */
  readonly escalateAfterMs: number;
  readonly clock: () => number;
  readonly notify?: NotifyCases | undefined;
}

/**
 * Corrects the cases whose mapping moved after the evidence, and escalates those that were reported too long ago. Call it
 * after each sync, and before and after new findings: a verdict reopens what was corrected before it.
 */
export async function followMappings({ ledger, escalateAfterMs, clock, notify }: FollowParts): Promise<void> {
  const { cases } = ledger;
  const moves = new Map((await cases.listMoved()).map(({ id, moves }) => [id, moves]));
  const correct = (held: HeldCase) => {
    const now = clock();
    const next = applyMoves(held, moves.get(held.id) ?? [], now);
    return toDecision(held, next, [{ who: automatic, at: now, action: 'case-corrected' }]);
  };
  const corrected = await changeCases(cases, [...moves.keys()], correct);
  if (corrected > 0) notify?.({ type: 'case-corrected', cases: corrected });
  const escalate = (held: HeldCase) => {
    const now = clock();
    const next = escalateIfDue(held, escalateAfterMs, now);
    return toDecision(held, next, [{ who: automatic, at: now, action: 'case-escalated' }]);
  };
  const escalated = await changeCases(cases, await cases.listReported(clock() - escalateAfterMs), escalate);
  if (escalated > 0) notify?.({ type: 'case-escalated', cases: escalated });
}
