import type { SourceRecord } from '../../src/booking/source.js';
import type { DeliveryKind } from '../../src/rules/run.js';
import { makeBookings } from '../support/made-bookings.js';
import type { Troubles } from './service-double.js';

export interface Scenario {
  readonly name: string;
  readonly delivery: DeliveryKind;
  readonly records: readonly SourceRecord[];
  /** Of the bookings that are to be sent. */
  readonly references: readonly string[];
  readonly troubles: Troubles;
  /** What lies on the SFTP server before, by path. */
  readonly earlier: Readonly<Record<string, string>>;
}

function toRecords(rows: readonly object[]): SourceRecord[] {
  return rows.map((fields, index) => ({ place: index + 1, fields: { ...fields } }));
}

const posted = makeBookings(16);

/** Four batches and a canary: one is halved twice, one gets a 503 first, and the answer to one gets lost. */
export const byBody: Scenario = {
  name: 'by body',
  delivery: 'body',
  records: toRecords([...posted, ...posted.slice(0, 1), { ...posted[1], ServiceId: 0 }]),
  references: posted.map(({ BookingReferenceId }) => BookingReferenceId),
  troubles: { refused: 'BR-6', unavailableOnce: 'BR-9', unansweredOnce: 'BR-14' },
  earlier: {},
};

const made = makeBookings(11);
const incomplete = new Set(['BR-3', 'BR-7', 'BR-10']);
const columns = 'BookingReferenceId,BookingClientName,ProviderName,ProviderHotelId,CheckInDate,CheckOutDate';
const header = `Service Mappings Id,${columns}`;
const oldLine = '7,OLD-1,Ana,Expedia,1,01122026,02122026';

/**
 * Eight bookings in the file, three beside it; an older file and its result are still there, and the new
 * result grows.
 */
export const byFile: Scenario = {
  name: 'by file',
  delivery: 'file',
  records: toRecords(
    made.map((booking) =>
      incomplete.has(booking.BookingReferenceId) ? { ...booking, BookingClientName: '' } : booking,
    ),
  ),
  references: made.map(({ BookingReferenceId }) => BookingReferenceId),
  troubles: { incorrect: 'BR-4' },
  earlier: {
    'VerifyMappings/112026/20112026.csv': `${header}\n${oldLine}\n`,
    'VerifyMappings/112026/20112026_Result.csv': `${header},IsCorrectMapping\n${oldLine},True\n`,
  },
};
