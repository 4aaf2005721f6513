import { expect, it } from 'vitest';
import { openCases } from '../../src/cases/open-cases.js';
import { at } from '../contracts/ledger/days.js';
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
