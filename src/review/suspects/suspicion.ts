import type { CopiedMapping } from '../../mappings/mapping-copy.js';

const dayMs = 86_400_000;

/** What the local copy of the mappings knows of a provider's hotel, as far as it matters to a booking. */
export type KnownMapping = Pick<CopiedMapping, 'serviceId' | 'movedAt'>;

/**
 * Why a booking's mapping is doubtful; undefined where the copy has nothing against it. A hotel whose mapping was deleted
 * has no other master: it is doubtful as long as it counts as moved.
 *
 * @param serviceId the master hotel that the booking has
 * @param now epoch milliseconds
 */
export function findSuspicion(
  serviceId: number,
  mapping: KnownMapping,
  { now, suspectDays }: { readonly now: number; readonly suspectDays: number },
): 'other-master' | 'moved' | undefined {
  if (mapping.serviceId !== undefined && mapping.serviceId !== serviceId) return 'other-master';
  if (mapping.movedAt === undefined) return undefined;
  return now - mapping.movedAt < suspectDays * dayMs ? 'moved' : undefined;
}
