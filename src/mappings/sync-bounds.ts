import type { MappingSync } from './mapping-copy.js';

/** Where a sync begins when nothing was ever synced. */
const firstBound = 0;

/** From which change on a cycle asks, and what the one after it must not forget. */
export interface SyncBounds {
  readonly since: number;
  readonly keepsSince?: number;
}

/**
 * The lower bound of a new cycle: where the last one began by the service's clock, less an overlap, so that nothing falls
 * between the two. A cycle that is asked for from a later instant leaves a gap: the next one still begins before it.
 *
 * @param asked the lower bound that a person asked for, epoch milliseconds
 */
export function decideBounds(
  last: MappingSync | undefined,
  { asked, overlapMs }: { readonly asked?: number | undefined; readonly overlapMs: number },
): SyncBounds {
  const reached = last && readReached(last, overlapMs);
  if (asked === undefined) return { since: reached ?? firstBound };
  return reached !== undefined && asked > reached ? { since: asked, keepsSince: reached } : { since: asked };
}

/**
 * Up to where nothing is missing in the copy, epoch milliseconds. A cycle that did not end has reached nothing beyond where
 * it began.
 *
 * @param overlapMs taken off where a cycle has ended
 */
export function readReached(
  { endedAt, keepsSince, since, serviceBeganAt, at }: MappingSync,
  overlapMs: number,
): number {
  if (keepsSince !== undefined) return keepsSince;
  if (endedAt === undefined) return since;
  return Math.max(firstBound, (serviceBeganAt ?? at) - overlapMs);
}
