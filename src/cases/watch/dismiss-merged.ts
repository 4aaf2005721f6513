import type { Ledger } from '../../ledger/ledger.js';

import type { Case, HeldCase } from '../case.js';
import { applyCommand } from '../case-commands.js';
import { automatic, toDecision } from '../case-decision.js';

import { changeCases } from '../change-cases.js';
import { classifyMove } from '../classify-move.js';

/** The most that a look-up in the copy takes. */
const lookedUpAtOnce = 1_000;

/**
 * Dismisses the cases of re-pointed mappings once the other mappings of their master hotel have followed: the move was the
 * first of a merge. Cases that anything but the watch found, too, stay. Returns how many were dismissed.
 */
export async function dismissMerged(
  { cases, mappings, watch }: Ledger,
  clock: () => number,
): Promise<number> {
  const rePointed = (await cases.listActive()).filter(isOnlyRePointed);
  if (rePointed.length === 0) return 0;
  const masters = await watch.readMasterHotels([...new Set(rePointed.map(({ serviceId }) => serviceId))]);
  const merged = new Map<number, number>();
  for (let first = 0; first < rePointed.length; first += lookedUpAtOnce) {
    const some = rePointed.slice(first, first + lookedUpAtOnce);
    const copied = await mappings.lookUp(some);
    for (const [index, { id, serviceId }] of some.entries()) {
      const copyServiceId = copied[index]?.serviceId;
      if (copyServiceId === undefined) continue;
      const move = classifyMove({ serviceId, copyServiceId }, masters.get(serviceId));
      if (move === 'merged') merged.set(id, copyServiceId);
    }
  }
  return changeCases(cases, [...merged.keys()], (held) =>
    isOnlyRePointed(held) ? dismiss(held, merged.get(held.id) ?? 0, clock()) : undefined,
  );
}

function isOnlyRePointed({ origins, move }: Case): boolean {
  return move === 're-pointed' && origins.every((origin) => origin === 'watch');
}

function dismiss(held: HeldCase, into: number, now: number) {
  const dismissed = applyCommand(held, 'dismiss', now);
  if (!dismissed) return undefined;
  const note = `master hotel ${held.serviceId} was merged into ${into}: its other mappings followed`;
  const act = { who: automatic, at: now, action: 'case-dismissed' as const, details: { mergedInto: into } };
  return toDecision(held, { ...dismissed, move: 'merged', note }, [act]);
}
