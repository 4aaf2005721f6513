import { findStayKey } from '../../../src/booking/booking.js';
import { readBooking } from '../../../src/booking/stored-line.js';
import { splitStoredLines } from '../../../src/ledger/batches.js';
import type { CollectedBatch } from '../../../src/ledger/collecting.js';

/** The keys by which the stays in a stored batch are found. */
export function findStayKeys(lines: Buffer, day = '2026-11-20'): NonNullable<CollectedBatch['stays']> {
  const keys = splitStoredLines(lines).map((line) => findStayKey(readBooking(line), day));
  return {
    hotelHashes: keys.map(({ hotelHash }) => hotelHash),
    lastDays: keys.map(({ lastDay }) => lastDay),
  };
}
