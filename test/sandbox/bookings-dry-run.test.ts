import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DayCounts } from '../../src/sandbox/bookings/day-text.js';
import { makeBookings } from '../../src/sandbox/bookings/made-bookings.js';
import { writeDayFile } from '../../src/sandbox/bookings/write-day.js';
import { isCorrectlyMapped } from '../../src/sandbox/world/world.js';
import { createDayFolder, day } from '../support/day-folder.js';
import { madeDay, world } from './made-days.js';

/** Nothing listens here, and a dry run makes no calls. */
const baseUrl = 'http://127.0.0.1:9/api/3.0';
const sftp = { host: '127.0.0.1', username: 'nobody', password: 'none', hostKey: `SHA256:${'A'.repeat(43)}` };

/** Enough of each kind of record. */
const count = 4_000;

interface DryRun {
  readonly counts: Readonly<Record<'read' | 'accepted' | 'duplicates' | 'rejected', number>>;
  readonly rejects: readonly { readonly reason: string; readonly count: number }[];
  readonly warnings: readonly unknown[];
  readonly sha256: string;
  readonly file?: { readonly rows: number };
}

const bySum = (rejects: readonly { readonly reason: string; readonly count: number }[]) =>
  Object.fromEntries(rejects.map(({ reason, count }) => [reason, count]));

async function collect(format: 'csv' | 'ndjson', name: string, seed: number) {
  const folder = await createDayFolder({
    baseUrl,
    settings: { source: { kind: format, path: name }, file: { sftp } },
  });
  const made = await writeDayFile(join(folder.path, name), madeDay({ seed, count }), format);
  const dryRun = async (...args: string[]) => {
    const result = await folder.run(['run', '--day', day, '--dry-run', '--json', ...args]);
    expect(result.exitCode, result.stderr).toBe(0);
    return result.json as DryRun;
  };
  return { folder, made, dryRun };
}

function expectSameCounts(dry: DryRun, made: DayCounts): void {
  expect(dry.counts).toMatchObject({
    read: made.records,
    accepted: made.bookings,
    duplicates: made.duplicates,
    rejected: made.rejected,
  });
  expect(bySum(dry.rejects)).toEqual(bySum(made.rejects));
  expect(dry.warnings).toEqual([]);
}

describe('a made-up day', () => {
  it.each([
    { format: 'csv', name: 'day.csv', seed: 1 },
    { format: 'csv', name: 'day.csv.gz', seed: 2 },
    { format: 'ndjson', name: 'day.ndjson', seed: 1 },
    { format: 'ndjson', name: 'day.ndjson.gz', seed: 2 },
  ] as const)('is read with the counts that it reports: $name', async ({ format, name, seed }) => {
    const { made, dryRun } = await collect(format, name, seed);
    expect(made.records).toBe(count);
    expectSameCounts(await dryRun(), made);
    const byFile = await dryRun('--delivery', 'file');
    expectSameCounts(byFile, made);
    expect(byFile.file?.rows).toBe(made.bookings - made.unfitForFile);
  });

  it('has the same bookings in both formats', async () => {
    const csv = await collect('csv', 'day.csv', 3);
    const ndjson = await collect('ndjson', 'day.ndjson', 3);
    expect((await csv.dryRun()).sha256).toBe((await ndjson.dryRun()).sha256);
  });

  it('has exactly the wrong mappings and missing fields that its counts report', async () => {
    const { folder, made, dryRun } = await collect('csv', 'day.csv', 1);
    const out = join(folder.path, 'bodies');
    await dryRun('--out', out);
    const names = (await readdir(out)).filter((name) => name.endsWith('.json'));
    const bodies = await Promise.all(names.map((name) => readFile(join(out, name), 'utf8')));
    const hotels = bodies.flatMap(
      (body) => (JSON.parse(body) as { Hotels: Record<string, string>[] }).Hotels,
    );
    expect(hotels).toHaveLength(made.bookings);
    const wrong = hotels.filter(
      ({ ServiceId, ProviderName, ProviderHotelId }) =>
        !isCorrectlyMapped(
          { serviceId: Number(ServiceId), providerName: ProviderName, providerHotelId: ProviderHotelId },
          world,
        ),
    );
    expect(wrong).toHaveLength(made.wrongMappings);
    expect(new Set(wrong.map(({ BookingReferenceId }) => BookingReferenceId))).toEqual(
      new Set(
        [...makeBookings(madeDay({ count }))]
          .filter(({ kind, isWrong }) => kind === 'booking' && isWrong)
          .map(({ bookingReferenceId }) => bookingReferenceId),
      ),
    );
    expect(hotels.filter((hotel) => Object.keys(hotel).length < 7)).toHaveLength(made.incomplete);
    expect(hotels.filter((hotel) => !('BookingClientName' in hotel))).toHaveLength(
      made.missing.bookingClientName ?? 0,
    );
  });
});
