import type { CaseMove } from './case.js';
import type { MasterHotel } from './watch-store.js';

/** A single provider may just have corrected its own hotels; if two agree, the master hotels are one. */
const minProviders = 2;

/**
 * What happened to a booked mapping, judged by the copy alone; undefined if the copy still has the booked master hotel.
 *
 * - `unmapped`: its mapping was deleted
 * - `merged`: more than half of the booked master hotel's provider hotels, of at least two providers, moved to the same
 *   other one: two ids of one hotel have become one
 * - `re-pointed`: it moved alone, so the guest may arrive at another hotel
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
  return providers.size >= minProviders && 2 * moved.length > hotels + left.length ? 'merged' : 're-pointed';
}
