import { createStayKeys } from '../../../src/booking/booking-keys.js';
import type { StayKeys } from '../../../src/review/collected.js';
import type { BookingForm } from '../../../src/review/step.js';
import { readBooking } from '../../../src/review/stored/stored-line.js';
import { splitStoredLines } from '../../../src/review/stored-batches.js';

/** The keys by which the stays in a stored batch are found. */
export function findStayKeys(lines: Buffer, form: BookingForm): StayKeys {
  const findKey = createStayKeys();
  const keys = splitStoredLines(lines).map((line) => findKey(readBooking(line, form)));
  return {
    hotelHashes: keys.map(({ hotelHash }) => hotelHash),
    lastDays: keys.map(({ lastDay }) => lastDay),
  };
}
