import { readStoredBatches } from '../../ledger/batches.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { Run } from '../../ledger/run.js';
import type { Spool, SpooledFile } from '../../spool/spool.js';
import { lineEnd } from './csv.js';
import type { FileParts } from './file-attempt.js';
import { renderReviewHeader } from './review-line.js';

/** The file to be sent. */
export const reviewName = ({ id }: Run): string => `${id}.csv`;
/** Its result, or a candidate for it. */
export const resultName = ({ id }: Run): string => `${id}.result.csv`;
/** What was on the server before. */
export const earlierName = ({ id }: Run): string => `${id}.earlier.csv`;

/** Everything a run has in the spool, including partial files: their names begin with the run's id. */
export async function listSpooled(spool: Pick<Spool, 'list'>, runId: string): Promise<readonly string[]> {
  return (await spool.list()).filter((name) => name.startsWith(runId));
}

export async function removeSpooled(spool: Pick<Spool, 'list' | 'remove'>, runId: string): Promise<void> {
  await spool.remove(await listSpooled(spool, runId));
}

/** The file, written again from the ledger, differs from the recorded one. */
export class ChangedFileError extends Error {
  override readonly name = 'ChangedFileError';
}

/**
 * Writes the review file from the ledger to the spool, in the order of the bookings.
 *
 * @throws ChangedFileError once the guest names are gone
 */
export async function spoolReviewFile(parts: FileParts, run: Run): Promise<SpooledFile> {
  if (run.linesBlanked)
    throw new ChangedFileError(
      `the guest names of run ${run.id} were removed after guestNameDays, so its review file can't be written again: replay the day.`,
    );
  return parts.spool.write(reviewName(run), renderReviewFile(parts, run));
}

/**
 * Ensures that the recorded review file is in the spool: another worker may have written it on another machine.
 *
 * @throws ChangedFileError if ledger and settings produce other bytes than were recorded
 */
export async function ensureSpooled(parts: FileParts, run: Run): Promise<void> {
  const expected = run.file?.sha256;
  if ((await parts.spool.measure(reviewName(run)))?.sha256 === expected) return;
  const { sha256 } = await spoolReviewFile(parts, run);
  if (sha256 !== expected)
    throw new ChangedFileError(
      `the review file of run ${run.id} differs from the recorded one: was service.masterIdColumn changed?`,
    );
}

/** The bytes of the review file, in the order of the bookings. */
export async function* renderReviewFile(
  parts: Pick<FileParts, 'masterIdColumn'> & { readonly ledger: ReadOnlyLedger },
  run: Run,
): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${renderReviewHeader(parts.masterIdColumn)}${lineEnd}`);
  for await (const { lines } of readStoredBatches(parts.ledger, run, 'file')) yield lines;
}
