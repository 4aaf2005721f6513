import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Booking } from '../../../src/booking/booking.js';
import { hashReference } from '../../../src/booking/booking.js';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import type { GuestNames } from '../../../src/booking/sending.js';
import type { FileAttempt, FileParts } from '../../../src/review/file/file-attempt.js';
import { defaultResultPattern, locateRemoteFiles } from '../../../src/review/file/remote-files.js';
import { defaultResultColumn, defaultResultValues } from '../../../src/review/file/result.js';
import type { ReviewFile } from '../../../src/rules/review-file.js';
import type { Run } from '../../../src/rules/run.js';
import type { Claim } from '../../../src/rules/step.js';
import { createDirectoryArchive } from '../../../src/storage/archive.js';
import { createDirectorySpool } from '../../../src/storage/spool.js';
import { chunkOf, claimStep, done, newRun, record, rightOf } from '../../contracts/ledger/days.js';
import { planFileRun } from '../../contracts/ledger/file-days.js';
import { openTemporaryLedger } from '../temporary-ledger.js';
import { fileBooking, linesOf, masterIdColumn } from './file-bookings.js';

export const now = Date.parse('2026-11-21T02:30:00Z');
export const day = createBusinessDay('2026-11-20', 'Europe/Madrid');
export const remote = locateRemoteFiles(day);

const batchSize = 2;
const callNothing = () => Promise.reject(new TypeError('expected no call'));

/** Bookings BR-0, BR-1, … for the file. */
export function fileBookings(count: number): Booking[] {
  return Array.from({ length: count }, (_, number) => fileBooking({ bookingReferenceId: `BR-${number}` }));
}

/**
 * A collected run of the day, two bookings per batch, with its own real ledger, spool and archive; no service can be
 * called.
 */
export async function prepareFileRun({
  bookings = fileBookings(5),
  id = '20261120-k3f9xq7d',
  ...names
}: {
  readonly bookings?: readonly Booking[];
  readonly id?: string;
  readonly masterIdName?: string;
  readonly masterIdColumn?: string;
  readonly guestNames?: GuestNames;
} = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'hotel-review-test-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const ledger = await openTemporaryLedger(() => now);
  const run = await ledger.runs.create(newRun(id, { delivery: 'file' }));
  const collect = await ledger.bookings.beginCollect(rightOf(run), {
    source: 'x',
    at: now,
    batchSize,
    ...names,
  });
  for (let first = 0; first < bookings.length; first += batchSize) {
    const kept = bookings.slice(first, first + batchSize);
    const referenceHashes = kept.map(({ bookingReferenceId }) => hashReference(bookingReferenceId));
    const batch = {
      stream: 'file' as const,
      number: first / batchSize,
      lines: linesOf(kept),
      referenceHashes,
    };
    await collect.store(chunkOf({ batches: [batch] }));
  }
  const collected = await collect.finish({ steps: planFileRun({ file: bookings.length }), at: now });
  const archiveRoot = join(folder, 'archive');
  const parts: FileParts = {
    ledger,
    service: { reviewBookedHotelsByFile: callNothing },
    sftp: { connect: callNothing },
    spool: createDirectorySpool({ root: join(folder, 'spool') }),
    archive: createDirectoryArchive({ root: archiveRoot, account: 'an-account' }),
    masterIdColumn,
    incomplete: 'post',
    pathPrefix: '',
    resultPattern: defaultResultPattern,
    resultNames: 'all',
    resultColumn: defaultResultColumn,
    resultValues: defaultResultValues,
    maxUnansweredShare: 0,
    stepMs: 60_000,
    resultPollMs: 1_000,
    resultQuietMs: 30_000,
    resultTimeoutMs: 3_600_000,
    tool: 'booked-hotel-review 9.9.9',
    clock: () => now,
    notify: () => {},
  };
  return {
    ledger,
    run: collected,
    parts,
    /** The path of a file of the run in the archive. */
    archived: (name: string) => join(archiveRoot, day.iso, id, name),
    /** Ends a step with its findings about the file. */
    async finish(step: string, file?: Partial<ReviewFile>, attempt = 1): Promise<Run> {
      const claim = await claimStep(ledger, collected, step, attempt);
      return (await record(ledger, claim, { ...done, ...(file && { file }) }, now)).run;
    },
  };
}

export function attemptOf(parts: FileParts, run: Run, claim: Claim): FileAttempt {
  return { ...parts, claim, run, day, remote, signal: new AbortController().signal };
}
