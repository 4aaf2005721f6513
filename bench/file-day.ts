import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { makeBookings } from '../src/sandbox/bookings/made-bookings.js';
import { csvFormat, type MadeRecord } from '../src/sandbox/bookings/record-formats.js';
import { createWorld } from '../src/sandbox/world/world.js';

export interface FileDay {
  /** YYYY-MM-DD */
  readonly day: string;
  /** Number of bookings that can be reviewed, without duplicates. */
  readonly bookings: number;
}

export interface FileDayCounts {
  readonly bookings: number;
  readonly duplicates: number;
  readonly malformed: number;
}

/** About one in ten records of a generated day is left out, a duplicate or malformed. */
const surplus = 1.2;
const chunkLength = 1 << 20;

/**
 * Writes a generated day whose bookings can all be in the review file, plus malformed records and duplicates that every
 * contestant recognises. Leaves out bookings that this product would post by body, names with a line break, which it
 * repairs, and names with stray quotes, which Python's csv module reads differently.
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
