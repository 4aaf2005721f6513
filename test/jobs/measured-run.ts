import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { businessDayAt } from '../../src/booking/business-day.js';
import { type DayFolder, prepareDay } from '../support/day-folder.js';
import type { StandInHandler } from '../support/http-stand-in.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';

const timezone = 'Europe/Madrid';
/** Recent whenever this runs. */
export const yesterday = businessDayAt(new Date(), timezone).previous();
const csv = toCsv(makeBookings(120)).replaceAll('Hotelbeds', '"Beds ""R"" Us\\n"');
export const name = 'hotel-review.prom';

export async function prepare(handler?: StandInHandler) {
  const prepared = await prepareDay({}, handler);
  await prepared.folder.writeBookings(csv, yesterday.iso);
  return prepared;
}

export const runArguments = ['run', yesterday.iso, '--json', '--metrics-file', name];
export const run = (folder: DayFolder) => folder.run(runArguments);

/** The samples in the file, by name and labels. */
export async function readSamples(folder: DayFolder): Promise<ReadonlyMap<string, number>> {
  const text = await readFile(join(folder.path, name), 'utf8');
  return toSamples(text);
}

/** The samples, by name and labels. */
export function toSamples(text: string): ReadonlyMap<string, number> {
  const lines = text.split('\n').filter((line) => line.startsWith('hotel_review_'));
  return new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(' ');
      return [line.slice('hotel_review_'.length, end), Number(line.slice(end))];
    }),
  );
}
