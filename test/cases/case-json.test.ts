import { expect, it } from 'vitest';
import { caseToCells, findCases, showCase, shownCaseToJson } from '../../src/cases/shown-cases.js';
import { openCases, threeCases } from '../desk/cases/some-cases.js';
import { openTemporaryLedger } from '../review/temporary-ledger.js';

const now = Date.UTC(2026, 10, 21, 2);
const today = '2026-11-21';
const openedAt = '2026-11-20T04:00:00.000Z';

it('A case is printed whole, with null for what is unknown', async () => {
  const ledger = await openTemporaryLedger(() => now);
  await openCases(ledger, threeCases);
  const item = await showCase(ledger, 2, { today, now, labels: [] });
  if (!item) throw new Error('expected case 2, got: none');
  const history = [{ at: now, who: 'bea', action: 'case-assigned' as const, details: { assignee: 'Bea' } }];
  expect(shownCaseToJson({ ...item, history })).toEqual({
    ...{
      id: 2,
      providerName: 'expedia',
      providerHotelId: 'E-2',
      serviceId: 8,
      copyServiceId: null,
      copy: 'unmapped',
    },
    ...{ state: 'open', origins: ['affected'], bookings: 1, openBookings: 1, firstCheckIn: '2026-11-25' },
    ...{ hasUnknownCheckIn: false, inHouse: 0, inHouseUntil: null, leftBookings: 0 },
    ...{ openedAt, stateSince: openedAt, move: null, assignee: null, note: null },
    ...{ bookedHotel: null, copyHotel: null, distanceKm: null, hoursToCheckIn: null },
    bookingList: [
      {
        ...{ reference: 'BR-3', checkIn: '2026-11-25', checkOut: '2027-03-01', state: 'open' },
        ...{ isNamed: false, place: 1 },
      },
    ],
    history: [{ at: '2026-11-21T02:00:00.000Z', who: 'bea', action: 'case-assigned', assignee: 'Bea' }],
  });
});

it('A case of a CSV has a cell for each column', async () => {
  const ledger = await openTemporaryLedger(() => now);
  await openCases(ledger, threeCases);
  const [item] = await findCases(ledger, { state: 'all', ids: [3], today }, now);
  if (!item) throw new Error('expected case 3, got: none');
  expect(caseToCells({ ...item, extraValues: { Price: '9' } })).toMatchObject({
    ...{ id: 3, origins: 'affected', copyServiceId: 70, Price: '9', bookedHotelName: undefined },
  });
});
