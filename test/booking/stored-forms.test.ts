import { expect, it } from 'vitest';
import { findStayKey, hashReference } from '../../src/booking/booking.js';
import { rendererVersion, renderItems } from '../../src/booking/item-line.js';
import { fileBooking } from '../review/file/file-bookings.js';
import { lineOfBooking } from '../support/made-bookings.js';

/**
 * What ledgers hold of a booking. If this fails, ledgers that exist are read differently: their lines and keys must stay readable, and where
 * an item's bytes change, `rendererVersion` must, too.
 */
it('A booking is stored, found and sent as it was by earlier versions', () => {
  const booking = fileBooking({ bookingClientName: 'Ana "Nina", Ñandú' });
  const line = lineOfBooking(booking);
  const { referenceHash, ...key } = {
    ...findStayKey(booking, '2026-11-20'),
    referenceHash: hashReference('BR-1042'),
  };
  expect({
    rendererVersion,
    line,
    item: renderItems(Buffer.from(`${line}\n`), 1).toString(),
    sparse: renderItems(Buffer.from('7,,,,,,\n'), 1).toString(),
    ...key,
    referenceHash,
  }).toMatchInlineSnapshot(`
    {
      "hotelHash": 1565513929,
      "item": "{"ServiceId":100200,"BookingReferenceId":"BR-1042","BookingClientName":"Ana \\"Nina\\", Ñandú","ProviderName":"hotelbeds","ProviderHotelId":"00123","CheckInDate":"2026-11-20","CheckOutDate":"2026-11-23"}",
      "lastDay": 20780,
      "line": "100200,BR-1042,"Ana ""Nina"", Ñandú",hotelbeds,00123,20112026,23112026",
      "referenceHash": 3212573111,
      "rendererVersion": 1,
      "sparse": "{"ServiceId":7}",
    }
  `);
});
