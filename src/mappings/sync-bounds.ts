import type { MappingSync } from '../ledger/mappings.js';

/** The lower bound of the very first sync. */
export const firstBound = 0;

/** The lower bound of a cycle, and the one that the next cycle must keep. */
interface SyncBounds {
  readonly since: number;
  readonly keepsSince?: number;
}

/**
 * The lower bound of a new cycle: the start of the last one by the service's clock, minus an overlap so that nothing is
 * missed in between. A requested bound later than that leaves a gap, so the next cycle still starts before it.
 *
 * @param asked the lower bound that a person requested, epoch milliseconds
 */
export function decideBounds(
  last: MappingSync | undefined,
  { asked, overlapMs }: { readonly asked?: number | undefined; readonly overlapMs: number },
): SyncBounds {
  const reached = last && readCompleteUntil(last, overlapMs);
  if (asked === undefined) return { since: reached ?? firstBound };
  return reached !== undefined && asked > reached ? { since: asked, keepsSince: reached } : { since: asked };
}

/**
 * The instant up to which the copy is complete, epoch milliseconds. An unfinished cycle is complete only up to its start.
 *
 * @param overlapMs subtracted where the cycle has ended
 */
export function readCompleteUntil(
  { endedAt, keepsSince, since, serviceBeganAt, at }: MappingSync,
  overlapMs: number,
): number {
  if (keepsSince !== undefined) return keepsSince;
  if (endedAt === undefined) return since;
  return Math.max(firstBound, (serviceBeganAt ?? at) - overlapMs);
}
