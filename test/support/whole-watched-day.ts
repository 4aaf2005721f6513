import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { CommandResult } from './command.js';
import { day as businessDay } from './day-folder.js';
import { expectReport } from './expectations.js';
import { remotePath, resultPath } from './file-day.js';
import { listNames, type WatchedFileDay } from './watched-file-day.js';

export interface ExpectedWhole {
  /** By-file calls that the service saw. */
  readonly calls: number;
  readonly repeated?: number;
  /** What was recorded as done when the run was cut off, and how often it had been claimed. */
  readonly recorded?: ReadonlyMap<string, number>;
  /** In the archive, beside the file, its result and the manifest. */
  readonly alsoArchived?: readonly string[];
}

const [fileName, resultName] = ['20112026.csv', '20112026_Result.csv'];

/** The day is whole, wherever one looks: report, service, server, archive, spool, ledger. */
export async function expectWhole(
  day: WatchedFileDay,
  result: CommandResult,
  { calls, repeated, recorded = new Map(), alsoArchived = [] }: ExpectedWhole,
): Promise<void> {
  const { folder, ledger, service, standIn, server, complete, incomplete, file } = day;
  const bookings = complete.length + incomplete.length;
  const sums = { read: bookings, accepted: bookings, delivered: bookings, duplicates: 0, rejected: 0 };
  const counts = { ...sums, refused: 0, pending: 0, ...(repeated !== undefined && { repeated }) };
  expect(result.stderr).not.toContain('unexpected');
  expectReport(result, { exitCode: 0, state: 'succeeded', counts });
  const archivedTo = await day.archiveFolder();
  expect(result.report.file).toEqual({
    remotePath,
    sha256: createHash('sha256').update(file).digest('hex'),
    rows: complete.length,
    resultName,
    archivedTo,
  });

  expect(service.calls.map((call) => [call.path, call.file?.equals(file)])).toEqual(
    Array(calls).fill([remotePath, true]),
  );
  await day.arrivals.check();
  expect(new Set(standIn.accepted().map((hotel) => hotel.BookingReferenceId))).toEqual(
    new Set(incomplete.map((booking) => booking.BookingReferenceId)),
  );

  expect(day.listRemote()).toEqual([fileName, resultName]);
  const received = readFileSync(server.disk(resultPath));
  expect(readFileSync(server.disk(remotePath)).equals(file)).toBe(true);
  expect(listNames(archivedTo)).toEqual([fileName, resultName, ...alsoArchived, 'manifest.json']);
  expect(readFileSync(join(archivedTo, fileName)).equals(file)).toBe(true);
  expect(readFileSync(join(archivedTo, resultName)).equals(received)).toBe(true);
  expect(listNames(day.spoolFolder)).toEqual([]);

  const atEnd = await day.recorded();
  expect(await ledger.run()).toMatchObject({ state: 'succeeded', done: atEnd.size, running: 0, ready: 0 });
  expect(new Map([...recorded.keys()].map((name) => [name, atEnd.get(name)])), 'not again').toEqual(recorded);
  await ledger.expectSound();
  const { exitCode, stdout } = await folder.run(['verify', businessDay]);
  expect(stdout).not.toContain('DIFFERS');
  expect(exitCode).toBe(0);
}
