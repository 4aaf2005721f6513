import { describe, expect, it } from 'vitest';
import { renderBookings } from '../../jobs/booking-list.js';
import { unknownPair } from '../../src/mappings/hotels/compare-hotels.js';
import type { ListedBooking } from '../../src/review/verdicts/listing.js';
import { command } from '../support/plain-command.js';

const day = '2026-11-20';
const movedAt = '2026-11-18T10:00:00.000Z';

const booking: ListedBooking = {
  day,
  runId: 'r1',
  fields: {
    ServiceId: 100_200,
    BookingReferenceId: 'BR-1042',
    ProviderName: 'hotelbeds',
    ProviderHotelId: '00123',
    CheckInDate: '2026-12-01',
  },
  ...{ copyServiceId: 100_300, copy: 'mapped', hotels: unknownPair },
};

describe('the table of a list of bookings', () => {
  const whys = (bookings: readonly ListedBooking[]) =>
    renderBookings(
      {
        ...{ count: bookings.length, bookings, isRange: false, areDoubted: false },
        ...{ hasHotels: false, keptLabels: ['Price'], today: day },
      },
      command,
    ).map((line) => line.trim().split(/ {2,}/).slice(6));

  it('says what the local copy flagged, with the values of the copy', () => {
    expect(
      whys([
        { ...booking, reason: 'other-master', movedAt },
        { ...booking, reason: 'moved', movedAt },
        { ...booking, reason: 'moved', copyServiceId: null, copy: 'unmapped', movedAt },
      ]),
    ).toEqual([
      ['copy', 'why', 'Price'],
      ['100300', 'other-master', '-'],
      ['100300', 'moved 2026-11-18', '-'],
      ['-', 'deleted 2026-11-18', '-'],
      [],
    ]);
  });

  it('says what kept bookings out of the file', () => {
    expect(
      whys([
        { ...booking, reason: 'missing', field: 'ProviderHotelId', kept: { Price: '9' } },
        { ...booking, reason: 'reads-as-null', field: 'BookingClientName' },
      ]).slice(1, 3),
    ).toEqual([
      ['100300', 'no ProviderHotelId', '9'],
      ['100300', 'BookingClientName reads as null', '-'],
    ]);
  });

  it('says what the service refused, and in which step', () => {
    expect(whys([{ ...booking, code: 'code-2009', step: 'batch 0.1' }]).slice(0, 2)).toEqual([
      ['copy', 'why', 'step', 'Price'],
      ['100300', 'code-2009', 'batch 0.1', '-'],
    ]);
  });
});
