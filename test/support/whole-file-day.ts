import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { archiveOf } from './archived-run.js';
import type { CommandResult } from './command.js';
import { expectReport } from './expectations.js';
import { type FileDay, remotePath, resultPath } from './file-day.js';
import type { MadeBooking } from './made-bookings.js';

/** The review file of these bookings, which must need no quotes: spec 2.6, written down here once more. */
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
  /** By-file calls; one if not given. */
  readonly calls?: number;
  /** Bookings that were sent again because an outcome was unknown; none if not given. */
  readonly repeated?: number;
}

/**
 * The day is done and everything is in its place: each call found the whole file; the file and its result, and nothing
 * else, lie on the server; the archive holds both byte for byte; the spool is empty.
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

/** The run came to nothing for now, at that step and with that code. */
export function expectFailedStep(
  result: CommandResult,
  expected: { readonly step: string; readonly code: string; readonly delivered?: number },
): void {
  const { step, code, delivered = 0 } = expected;
  expectReport(result, { exitCode: 1, state: 'failed', counts: { delivered } });
  expect(result.report.error?.class).toBe('retryable');
  expect(result.report.error?.message).toContain(`${step} failed with ${code}`);
}
