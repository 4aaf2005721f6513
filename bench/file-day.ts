import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { makeBookings } from '../src/sandbox/bookings/made-bookings.js';
import type { MadeRecord } from '../src/sandbox/bookings/made-record.js';
import { csvFormat } from '../src/sandbox/bookings/record-formats.js';
import { createWorld } from '../src/sandbox/world/world.js';

export interface FileDay {
  /** YYYY-MM-DD */
  readonly day: string;
  /** How many bookings can be reviewed, each counted once. */
  readonly bookings: number;
}

export interface FileDayCounts {
  readonly bookings: number;
  readonly duplicates: number;
  readonly malformed: number;
}

/** Of a usual day about one in ten records is left out, is a duplicate or is malformed. */
const surplus = 1.2;
const chunkLength = 1 << 20;

/**
 * Writes a made-up day whose bookings can all stand in the review file: only the malformed records and the duplicates that
 * each contestant tells from bookings stay beside them. Left out are bookings that this product posts by body instead, names with
 * a line break, which it mends, and names with stray quotes, which Python's csv module reads as other names.
 */
export async function writeFileDay(path: string, { day, bookings }: FileDay): Promise<FileDayCounts> {
  const counts = { bookings: 0, duplicates: 0, malformed: 0 };
  const file = createWriteStream(path, { mode: 0o600 });
  const records = makeBookings({
    day,
    count: Math.ceil(bookings * surplus) + 100,
    seed: 7,
    world: createWorld({ seed: 1 }),
    wrongShare: 0.02,
  });
  let chunk = csvFormat.header;
  for (const record of records) {
    if (!isFit(record)) continue;
    if (record.kind === 'booking') counts.bookings += 1;
    else if (record.kind === 'duplicate') counts.duplicates += 1;
    else counts.malformed += 1;
    chunk += csvFormat.write(record);
    if (chunk.length >= chunkLength) {
      if (!file.write(chunk)) await once(file, 'drain');
      chunk = '';
    }
    if (counts.bookings === bookings) break;
  }
  file.end(chunk);
  await once(file, 'close');
  if (counts.bookings !== bookings) throw new Error(`made ${counts.bookings} of ${bookings} bookings`);
  return counts;
}

function isFit({ kind, missing, bookingClientName: guest }: MadeRecord): boolean {
  if (kind === 'quotes-not-escaped') return false;
  return missing === undefined && !/^(?:null|none)$|[\r\n]/i.test(guest ?? '');
}
