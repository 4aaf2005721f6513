import type { HotelContent } from '../../../src/ledger/hotels.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import type { CaseOrigin, CaseStay } from '../../../src/rules/case.js';
import { applyEvidence, toDecision } from '../../../src/rules/case-transitions.js';
import { rowOf, syncRows } from '../../contracts/mapping-copy/pages.js';

export const seenAt = Date.UTC(2026, 10, 20, 4);

export interface SomeCase {
  readonly provider?: string;
  /** The provider's hotel id. */
  readonly hotel: string;
  /** What was booked, and what the copy has now; null for a deleted mapping. */
  readonly booked: number;
  readonly copy: number | null;
  /** What found it, and when. */
  readonly origin?: CaseOrigin;
  readonly at?: number;
  /** The business day of its bookings. */
  readonly day?: string;
  /** Reference and check-in of each booking. */
  readonly stays: readonly (readonly [reference: string | undefined, checkIn: string | undefined])[];
}

/** Opens these cases in their order: their ids count from 1. */
export async function openCases(ledger: Ledger, cases: readonly SomeCase[]): Promise<void> {
  for (const { provider = 'hotelbeds', hotel, booked, copy, day = '2026-11-20', ...item } of cases) {
    const { origin = 'affected', at = seenAt, stays: given } = item;
    const key = { providerName: provider, providerHotelId: hotel, serviceId: booked };
    const stays = given.map(
      ([reference, checkIn]): CaseStay => ({
        ...(reference !== undefined && { reference }),
        ...(checkIn !== undefined && { checkIn, checkOut: '2027-03-01' }),
        day,
      }),
    );
    await ledger.cases.changeByKey([key], (held) => {
      const evidence = { at, references: new Set<string>(), isBookedInCopy: false, stays };
      const next = applyEvidence(held, { origin, ...evidence }, seenAt);
      return next && toDecision(held, next, [{ who: 'hotel-review', at: seenAt, action: 'case-opened' }]);
    });
    await syncRows(ledger.mappings, [rowOf(hotel, booked, { providerName: provider })], seenAt - 1);
    await syncRows(
      ledger.mappings,
      [rowOf(hotel, copy ?? booked, { providerName: provider, isDeleted: copy === null })],
      seenAt,
    );
  }
}

export async function loadHotels(ledger: Ledger, hotels: readonly HotelContent[], id = 'load') {
  await ledger.hotels.beginLoad({ id, file: `${id}.csv`, at: seenAt });
  await ledger.hotels.addHotels({ id, after: 0, hotels });
  await ledger.hotels.finishLoad(id, seenAt);
}

export const hotels: readonly HotelContent[] = [
  {
    ...{ serviceId: 7, name: 'Grand Plaza', address: 'Calle Mayor 1', city: 'Madrid', country: 'Spain' },
    ...{ countryCode: 'ES', phones: '+34 91 1', coordinates: { latitude: 40.4, longitude: -3.7 } },
  },
  {
    ...{ serviceId: 70, name: 'Hôtel Étoile', city: 'Paris', country: 'France', countryCode: 'FR' },
    coordinates: { latitude: 48.85, longitude: 2.35 },
  },
  { serviceId: 8, name: 'Park Inn', city: 'Lisbon', country: 'Portugal', countryCode: 'PT' },
];

/** Three cases, and the order in which their guests check in: 2, 3, 1. */
export const threeCases: readonly SomeCase[] = [
  {
    ...{ hotel: 'H-1', booked: 7, copy: 70 },
    stays: [
      ['BR-1', '2026-12-05'],
      ['BR-2', '2026-12-09'],
      [undefined, '2026-12-11'],
    ],
  },
  { provider: 'expedia', hotel: 'E-2', booked: 8, copy: null, stays: [['BR-3', '2026-11-25']] },
  { hotel: 'H-3', booked: 9, copy: 70, stays: [['BR-4', '2026-12-01']] },
];
