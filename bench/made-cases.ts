import type { Ledger } from '../src/ledger/ledger.js';

import { bookedServiceId, hotelOf } from './many-days.js';

export interface MadeCases {
  readonly cases: number;
  readonly bookingsOfEach: number;
}

const casesAtOnce = 500;
/** In the future whenever this runs. */
const checkIn = (place: number) => `2199-${String(1 + (place % 12)).padStart(2, '0')}-15`;

/** Opens cases of mappings that no day of the ledger needs to have, through the ledger's port. */
export async function fillCases(
  { cases }: Ledger,
  { cases: count, bookingsOfEach }: MadeCases,
): Promise<void> {
  const at = Date.UTC(2026, 10, 20);
  for (let first = 0; first < count; first += casesAtOnce) {
    const keys = Array.from({ length: Math.min(casesAtOnce, count - first) }, (_, index) => ({
      ...hotelOf(first + index),
      serviceId: bookedServiceId(first + index),
    }));
    await cases.changeByKey(keys, (_, { providerHotelId }) => ({
      case: { state: 'open', stateSince: at, origins: ['suspect'], openedAt: at, evidenceAt: at },
      bookings: Array.from({ length: bookingsOfEach }, (_, index) => ({
        place: index + 1,
        reference: `BR-${index}-${Number(providerHotelId)}`,
        ...{ checkIn: checkIn(index + Number(providerHotelId)), checkOut: '2199-12-31' },
        ...{ day: '2026-11-20', addedAt: at, isNamed: index === 0 },
      })),
      actions: [{ who: 'bench', at, action: 'case-opened' }],
    }));
  }
}
