import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatOfName, writeDayFile } from '../src/sandbox/bookings/day-file.js';
import { createWorld } from '../src/sandbox/world.js';

/**
 * How long it takes to make up a day of a million bookings and write it into a file, and what memory that takes: at
 * most 4 s for CSV, and 200 MB for all of them together, tsx included.
 */
const rows = Number(process.argv[2] ?? 1_000_000);
const limitSeconds = 4;
const limitMb = 200;
const rounds = 3;
const folder = await mkdtemp(join(tmpdir(), 'hotel-review-bench-'));
const world = createWorld({ seed: 1 });
let holds = true;

for (const name of ['day.csv', 'day.ndjson', 'day.csv.gz', 'day.ndjson.gz']) {
  const path = join(folder, name);
  const taken: number[] = [];
  let bytes = 0;
  for (let round = 0; round < rounds; round += 1) {
    const started = performance.now();
    await writeDayFile(
      path,
      { day: '2026-11-20', count: rows, seed: 7, world, wrongShare: 0.02 },
      formatOfName(path) ?? 'csv',
    );
    taken.push((performance.now() - started) / 1000);
    bytes = (await stat(path)).size;
    await rm(path);
  }
  const best = Math.min(...taken);
  if (name === 'day.csv' && best > (limitSeconds * rows) / 1_000_000) holds = false;
  const rate = `${Math.round(rows / best).toLocaleString('en')} rows/s`;
  console.log(`${name}: ${best.toFixed(2)} s at best of ${rounds}, ${rate}, ${(bytes / 1e6).toFixed(0)} MB`);
}
const peakMb = process.resourceUsage().maxRSS / 1024;
console.log(`peak resident memory: ${peakMb.toFixed(0)} MB (limit ${limitMb} MB)`);
await rm(folder, { recursive: true });
process.exitCode = holds && peakMb <= limitMb ? 0 : 1;
