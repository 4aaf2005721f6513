import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { FailureClass } from '../../src/ledger/run.js';
import { archiveOf } from './archived-run.js';
import type { CommandResult } from './command.js';
import { day as businessDay } from './day-folder.js';
import { expectReport } from './expectations.js';
import { type FileDay, remotePath, resultPath } from './file-day.js';
import type { MadeBooking } from './made-bookings.js';
import { listNames, type WatchedFileDay } from './watched-file-day.js';

/** The review file of these bookings, which must need no quotes. Written by spec 2.6, independently of the code. */
export function toReviewFile(bookings: readonly MadeBooking[]): string {
  const dayFirst = (date: string) => date.split('-').reverse().join('');
  const lines = bookings.map(({ CheckInDate, CheckOutDate, ...others }) =>
    [...Object.values(others), dayFirst(CheckInDate), dayFirst(CheckOutDate)].join(','),
  );
  const columns =
    'BookingReferenceId,BookingClientName,ProviderName,ProviderHotelId,CheckInDate,CheckOutDate';
  return `Service Mappings Id,${columns}\n${lines.join('\n')}\n`;
}

export interface WholeDay {
  readonly bookings: readonly MadeBooking[];
  /** By-file calls; one by default. */
  readonly calls?: number;
  /** Bookings that were sent again because an outcome was unknown; none by default. */
  readonly repeated?: number;
}

/**
 * The day is done and everything is in its place: each call found the whole file; the server holds the file, its
 * result and nothing else; the archive holds both byte for byte; the spool is empty.
 */
export function expectWholeDay(
  { folder, service, server, listRemote }: FileDay,
  result: CommandResult,
  { bookings, calls = 1, repeated = 0 }: WholeDay,
): void {
  const total = bookings.length;
  const counts = { read: total, accepted: total, delivered: total, refused: 0, pending: 0, repeated };
  expectReport(result, { exitCode: 0, state: 'succeeded', counts });

  const file = Buffer.from(toReviewFile(bookings));
  expect(service.calls).toHaveLength(calls);
  for (const call of service.calls) {
    expect(call.path).toBe(remotePath);
    expect(call.file?.equals(file)).toBe(true);
  }
  expect(listRemote()).toEqual(['20112026.csv', '20112026_Result.csv']);
  expect(readFileSync(server.disk(remotePath)).equals(file)).toBe(true);
  const archive = archiveOf(result);
  expect(archive.read('20112026.csv').equals(file)).toBe(true);
  expect(archive.read('20112026_Result.csv')).toEqual(readFileSync(server.disk(resultPath)));
  const spool = join(folder.path, 'data', 'spool');
  expect(existsSync(spool) ? readdirSync(spool) : []).toEqual([]);
}

/** The run has stopped for now, at this step and with this code. */
export function expectFailedStep(
  result: CommandResult,
  expected: {
    readonly step: string;
    readonly code: string;
    readonly delivered?: number;
    /** Whether it is tried again without a person. */
    readonly class?: FailureClass;
  },
): void {
  const { step, code, delivered = 0 } = expected;
  expectReport(result, { exitCode: 1, state: 'failed', counts: { delivered } });
  expect(result.report.error?.class).toBe(expected.class ?? 'retryable');
  expect(result.report.error?.message).toContain(`${step} failed with ${code}`);
}

export interface ExpectedWhole {
  /** By-file calls that the service received. */
  readonly calls: number;
  readonly repeated?: number;
  /** What was recorded as done when the run was cut off, and how often it had been claimed. */
  readonly recorded?: ReadonlyMap<string, number>;
  /** In the archive, beside the file, its result and the manifest. */
  readonly alsoArchived?: readonly string[];
}

const [fileName, resultName] = ['20112026.csv', '20112026_Result.csv'];

/** The day is whole in every respect: report, service, server, archive, spool, ledger. */
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
    resultRowsIgnored: 0,
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
  expect(archiveOf(result).names()).toEqual([fileName, resultName, ...alsoArchived, 'manifest.json']);
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
