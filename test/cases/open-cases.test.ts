import { expect, it } from 'vitest';
import { followMappings } from '../../src/cases/follow-mappings.js';
import { openCases } from '../../src/cases/open-cases.js';
import { at } from '../contracts/ledger/days.js';
import { rowOf, syncRows } from '../contracts/mapping-copy/pages.js';
import { openCases as openSome, seenAt } from '../desk/cases/some-cases.js';
import { deliverBookings, someBooking } from '../desk/some-bookings.js';
import { openTemporaryLedger } from '../review/temporary-ledger.js';

const hotel = { providerName: 'hotelbeds', providerHotelId: 'H-1', serviceId: 7 };

it('What later runs say about bookings of several days is followed from the first of these days', async () => {
  const ledger = await openTemporaryLedger(() => at);
  const sent: readonly [day: string, reference: string, providerHotelId: string][] = [
    ['2026-11-17', 'BR-1', 'H-1'],
    ['2026-11-18', 'BR-1', 'H-2'],
    ['2026-11-19', 'BR-2', 'H-1'],
    ['2026-11-20', 'BR-2', 'H-2'],
  ];
  for (const [day, bookingReferenceId, providerHotelId] of sent)
    await deliverBookings(ledger, day, [someBooking({ bookingReferenceId, providerHotelId })], { day });
  const stay = { checkIn: '2026-11-25', checkOut: '2026-11-27' };
  const named = (reference: string, day: string) => ({
    ...{ ...hotel, origin: 'email' as const, at },
    stay: { reference, day, ...stay },
  });
  // The later one is found first.
  await openCases([named('BR-2', '2026-11-19'), named('BR-1', '2026-11-17')], {
    ...{ ledger, today: '2026-11-21', clock: () => at },
  });
  const held = await ledger.cases.find(1);
  expect(held?.bookings.map(({ reference, resolved }) => [reference, resolved?.as])).toEqual([
    ['BR-2', 'rebooked'],
    ['BR-1', 'rebooked'],
  ]);
});

/** Opens a case for each of these hotels, as booked as master hotel 7, and corrects all of them by a move to 8. */
async function openCorrected(hotels: readonly string[]) {
  const ledger = await openTemporaryLedger(() => at);
  const stays = [['BR-1', '2026-12-24']] as const;
  await openSome(
    ledger,
    hotels.map((one) => ({ hotel: one, booked: 7, copy: 7, stays })),
  );
  const moved = hotels.map((one) => rowOf(one, 8));
  await syncRows(ledger.mappings, moved, seenAt + 1);
  const parts = { ledger, today: '2026-11-21', clock: () => at };
  await followMappings({ ...parts, escalateAfterMs: 86_400_000 });
  return parts;
}

it('Any number of cases is corrected at once', async () => {
  const { ledger, today } = await openCorrected(Array.from({ length: 26 }, (_, index) => `H-${index}`));
  expect(await ledger.cases.list({ state: 'corrected', today })).toHaveLength(26);
});

it('A verdict reopens a corrected case only if its own hotel is mapped as booked once more', async () => {
  const hotels = ['H-1', 'H-2'];
  const parts = await openCorrected(hotels);
  const { ledger, today } = parts;
  await syncRows(ledger.mappings, [rowOf('H-2', 7)], seenAt + 2);
  const stay = { reference: 'BR-2', day: '2026-11-20', checkIn: '2026-12-24', checkOut: '2026-12-27' };
  const named = { ...hotel, origin: 'email', at, stay } as const;
  await openCases(
    hotels.map((providerHotelId) => ({ ...named, providerHotelId })),
    parts,
  );
  const cases = await ledger.cases.list({ state: 'all', today });
  const states = cases.map(({ providerHotelId, state }) => `${providerHotelId} ${state}`);
  expect(states.toSorted()).toEqual(['H-1 corrected', 'H-2 open']);
});
