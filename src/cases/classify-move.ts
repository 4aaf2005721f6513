import type { CaseMove } from './case.js';
import type { MasterHotel } from './watch-store.js';

/** Below this, a provider may have corrected its own hotels: that two agree says that the master hotels are one. */
const leastProviders = 2;

/**
 * What happened to a booked mapping, by the copy alone; undefined where the copy still has the booked master hotel.
 *
 * - `unmapped`: its mapping was deleted
 * - `merged`: more than half of the booked master hotel's provider hotels, of at least two providers, moved to the same
 *   other one: two numbers for one hotel have become one
 * - `re-pointed`: it moved without them, so the guest may arrive at another hotel
 *
 * @param booked what the copy knows about the booked master hotel
 */
export function classifyMove(
  { serviceId, copyServiceId }: { readonly serviceId: number; readonly copyServiceId?: number | undefined },
  booked: MasterHotel | undefined,
): CaseMove | undefined {
  if (copyServiceId === undefined) return 'unmapped';
  if (copyServiceId === serviceId) return undefined;
  const { hotels = 0, left = [] } = booked ?? {};
  const moved = left.filter((hotel) => hotel.copyServiceId === copyServiceId);
  const providers = new Set(moved.map(({ providerName }) => providerName));
  return providers.size >= leastProviders && 2 * moved.length > hotels + left.length
    ? 'merged'
    : 're-pointed';
}
