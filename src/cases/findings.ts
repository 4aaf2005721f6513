import { forEachGivingWay } from '../async/give-way.js';
import type { ProviderHotel } from '../ledger/mappings.js';
import { type CaseKey, type CaseMove, type CaseOrigin, keyOfCase } from './case.js';

/** A mapping that is wrong or doubtful, and who found it. */
export interface Finding extends ProviderHotel {
  /** The master hotel, as booked. */
  readonly serviceId: number;
  readonly origin: CaseOrigin;
  readonly move?: CaseMove | undefined;
  /** When the verdict or the move happened, in epoch milliseconds. Only a later move corrects the case. */
  readonly at: number;
  /** The bookings that it names. */
  readonly references?: readonly string[] | undefined;
}

/** All findings about one case; those that differ only in the bookings they name are merged. */
export interface CaseFindings extends CaseKey {
  readonly findings: readonly MergedFinding[];
}

export interface MergedFinding extends Pick<Finding, 'origin' | 'move' | 'at'> {
  readonly references: Set<string>;
}

/**
 * Gathers findings by case. Merged, a finding that names a booking takes a sixth of the memory: a day may have a hundred
 * thousand.
 */
export function createFindings() {
  const cases = new Map<string, CaseKey & { readonly merged: Map<string, MergedFinding> }>();
  let count = 0;

  return {
    /** The number of findings. */
    get count(): number {
      return count;
    },
    add({ providerName, providerHotelId, serviceId, origin, move, at, references = [] }: Finding): void {
      const hotels = { providerName, providerHotelId, serviceId };
      const key = keyOfCase(hotels);
      const found = cases.get(key) ?? { ...hotels, merged: new Map() };
      cases.set(key, found);
      const identity = `${origin} ${move} ${at}`;
      const same = found.merged.get(identity);
      if (same) for (const reference of references) same.references.add(reference);
      else found.merged.set(identity, { origin, move, at, references: new Set(references) });
      count += 1;
    },
    /** In the order of each case's first finding. */
    list(): readonly CaseFindings[] {
      return Array.from(cases.values(), ({ merged, ...key }) => ({
        ...key,
        findings: [...merged.values()],
      }));
    },
    clear(): void {
      cases.clear();
      count = 0;
    },
  };
}

/** Groups findings that are all known already. */
export async function groupFindings(findings: readonly Finding[]): Promise<readonly CaseFindings[]> {
  const gathered = createFindings();
  await forEachGivingWay(findings, undefined, gathered.add);
  return gathered.list();
}
