import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { serviceFields } from '../booking/booking.js';
import type { BusinessDay } from '../booking/business-day.js';
import { createSeededRandom } from './seeded-random.js';

const guests = [
  'Ana Núñez',
  'Björn Åkesson',
  "Siobhán O'Neill",
  'Null',
  'Wang 伟',
  'Zoë "Z" Brandt',
  'García, Luis',
];
const providers = ['NorthStar', 'Bedlink', 'Room & Co', 'Atlántico'];

export interface GeneratedDay {
  readonly day: BusinessDay;
  readonly count: number;
  readonly seed: number;
}

/** Writes a day of made-up bookings as CSV, among them a duplicate and a few that cannot be sent. */
export async function writeBookings(path: string, { day, count, seed }: GeneratedDay): Promise<void> {
  const random = createSeededRandom(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const checkOut = day.next().iso;

  function* rows(): Generator<string> {
    yield `${serviceFields.join(',')}\n`;
    let previous = '';
    for (let number = 1; number <= count; number += 1) {
      if (previous !== '' && random() < 0.005) {
        yield previous;
        continue;
      }
      const serviceId = random() < 0.005 ? '' : String(100_000 + Math.floor(random() * 900_000));
      const hotelId = `H${String(Math.floor(random() * 1e6)).padStart(7, '0')}`;
      const cells = [serviceId, `BR-${number}`, pick(guests), pick(providers), hotelId, day.iso, checkOut];
      previous = `${cells.map(quote).join(',')}\n`;
      yield previous;
    }
  }

  await pipeline(Readable.from(rows()), createWriteStream(path, { mode: 0o600 }));
}

function quote(cell: string): string {
  return /[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
