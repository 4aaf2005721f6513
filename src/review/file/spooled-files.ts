import { createHash } from 'node:crypto';
import { SftpError, type SftpSession } from '../../sftp/sftp.js';
import type { Spool, SpooledFile } from '../../spool/spool.js';
import type { BatchReader } from '../ledger.js';
import type { Sighting } from '../review-file.js';
import type { Run } from '../run.js';
import { readStoredBatches } from '../stored-batches.js';
import { lineEnd } from './csv.js';
import type { FileAttempt, FileParts } from './file-attempt.js';
import { limitReceived, limitRows } from './received-size.js';
import { type JoinedResult, startJoin } from './result-join.js';
import { renderReviewHeader } from './review-line.js';

/** The file to be sent. */
export const reviewName = ({ id }: Run): string => `${id}.csv`;
/** Its result, or a candidate for it. */
export const resultName = ({ id }: Run): string => `${id}.result.csv`;
/** What was on the server before. */
export const earlierName = ({ id }: Run): string => `${id}.earlier.csv`;

/** The checksum of a spooled file, in hexadecimal; undefined if there is none. */
export async function hashSpooled(spool: Pick<Spool, 'measure'>, name: string): Promise<string | undefined> {
  return (await spool.measure(name))?.sha256;
}

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
  if ((await hashSpooled(parts.spool, reviewName(run))) === expected) return;
  const { sha256 } = await spoolReviewFile(parts, run);
  if (sha256 !== expected)
    throw new ChangedFileError(
      `the review file of run ${run.id} differs from the recorded one: was service.masterIdColumn changed?`,
    );
}

/** The bytes of the review file, in the order of the bookings. */
export async function* renderReviewFile(
  parts: Pick<FileParts, 'masterIdColumn'> & { readonly ledger: BatchReader },
  run: Run,
): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${renderReviewHeader(parts.masterIdColumn)}${lineEnd}`);
  for await (const { lines } of readStoredBatches(parts.ledger, run, 'file')) yield lines;
}

/** A result as it was read. */
export interface ReadResult extends JoinedResult {
  /** The checksum of the bytes that were judged. */
  readonly sha256: string;
}

/**
 * Downloads a result to the spool and joins it with the bookings that were sent while it arrives; undefined if it changes
 * or disappears meanwhile.
 */
export async function fetchResult(
  parts: FileParts,
  { run, remote }: FileAttempt,
  session: SftpSession,
  seen: Sighting,
): Promise<ReadResult | undefined> {
  const { ledger, spool, masterIdColumn } = parts;
  const { resultColumn, resultValues } = parts;
  const join = startJoin(
    {
      readSent: () => readStoredBatches(ledger, run, 'file'),
      readBytes: () => spool.read(resultName(run)),
    },
    {
      ...{ masterIdColumn, resultColumn, resultValues },
      onRows: limitRows(run.file),
    },
  );
  const hash = createHash('sha256');
  try {
    const localPath = await spool.locate(resultName(run));
    const received = await session.download(`${remote.folder}/${seen.name}`, localPath, {
      limit: limitReceived(run.file),
      async onBytes(piece) {
        hash.update(piece);
        await join.take(piece);
      },
    });
    // What was read did not change meanwhile, whatever its time was in the listing.
    if (received.size !== seen.size) return undefined;
    return { ...(await join.end()), sha256: hash.digest('hex') };
  } catch (error) {
    const isMoving =
      error instanceof SftpError && (error.code === 'changed-while-reading' || error.code === 'no-such-file');
    if (isMoving) return undefined;
    throw error;
  }
}
