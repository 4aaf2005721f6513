import { createHash } from 'node:crypto';
import { startTimeLimit } from '../../base/abort.js';
import { lineEnd } from '../../base/csv-cells.js';
import { formatDuration } from '../../base/format.js';
import { defaultMasterIdColumn } from '../../booking/booking.js';
import type { BusinessDay } from '../../booking/business-day.js';
import type { IncompleteBookings } from '../../booking/sending.js';
import { putReferences, renderReviewHeader } from '../../booking/stored-line.js';
import { readStoredBatches, type StoredBatch } from '../../ledger/batches.js';
import { FencedError } from '../../ledger/errors.js';
import type { Ledger, ReadOnlyLedger } from '../../ledger/ledger.js';
import type { Run } from '../../rules/run.js';
import type { Claim, Outcome } from '../../rules/step.js';
import type { ReviewService } from '../../service/client.js';
import { type Archive, ArchiveError } from '../../storage/archive.js';
import { KeyError } from '../../storage/day-keys.js';
import type { Spool, SpooledFile } from '../../storage/spool.js';
import { SftpError, type SftpServer, type SftpSession } from '../../transports/sftp/sftp.js';
import type { Notify } from '../events.js';
import type { ResultRules } from './judge-result.js';
import { type RemoteFiles, TooManyRowsError } from './remote-files.js';
import type { ResultReading } from './result.js';

/** What the steps of a file delivery work with. */
export interface FileParts extends ResultRules, ResultReading {
  readonly ledger: Ledger;
  readonly service: Pick<ReviewService, 'reviewBookedHotelsByFile'>;
  readonly sftp: SftpServer;
  /** How long an attempt of a step may use the server. */
  readonly stepMs: number;
  readonly spool: Spool;
  readonly archive: Archive;
  /** Whether the file may have empty cells: with `leave-empty` only. */
  readonly incomplete: IncompleteBookings;
  /** Prepended to the path from the SFTP root in the by-file call. */
  readonly pathPrefix: string;
  /** See createResultNameTest. */
  readonly resultPattern: string;
  /** The longest pause between two looks. */
  readonly resultPollMs: number;
  readonly resultQuietMs: number;
  readonly resultTimeoutMs: number;
  /** Name and version of this program, for the manifest. */
  readonly tool: string;
  readonly clock: () => number;
  readonly notify: Notify;
}

/** A look at the server for a run. */
export interface ServerLook {
  readonly sftp: SftpServer;
  /** How long an attempt of a step may use the server. */
  readonly stepMs: number;
  readonly resultPattern: string;
  readonly run: Run;
  readonly day: BusinessDay;
  readonly signal: AbortSignal;
}

/** One attempt of a step of a file delivery, with what it works with. */
export interface FileAttempt extends FileParts, ServerLook {
  readonly claim: Claim;
  readonly remote: RemoteFiles;
}

/**
 * Call this right before anything irreversible: a suspended owner whose claim has expired must not remove, replace or
 * trigger what belongs to the new owner.
 *
 * @throws FencedError
 */
export async function expectClaim({ ledger, claim, run }: FileAttempt): Promise<void> {
  if (!(await ledger.steps.holdsClaim(claim))) throw new FencedError(run.id);
}

/** Runs `work` in a session of its own, for a limited time, and converts failures into outcomes. */
export async function inSession(
  attempt: FileAttempt,
  work: (session: SftpSession) => Promise<Outcome>,
): Promise<Outcome> {
  return convertFailures(() => useSession(attempt, work));
}

/** Runs `work` in a session of its own, for a limited time. @throws SftpError */
export async function useSession<Found>(
  { sftp, stepMs, signal }: Pick<ServerLook, 'sftp' | 'stepMs' | 'signal'>,
  work: (session: SftpSession) => Promise<Found>,
): Promise<Found> {
  const limit = startTimeLimit(signal, stepMs, () => {
    const message = `the step has used the SFTP server for ${formatDuration(stepMs)}, longer than any step should`;
    return new SftpError('retryable', 'step-too-slow', message);
  });
  try {
    const session = await sftp.connect({ signal: limit.signal });
    try {
      return await work(session);
    } finally {
      await session.close();
    }
  } finally {
    limit.stop();
  }
}

/**
 * Converts failures of the SFTP server, the archive and the local disk into outcomes; rethrows all others.
 */
export async function convertFailures(work: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await work();
  } catch (error) {
    const outcome = toOutcome(error);
    if (outcome) return outcome;
    throw error;
  }
}

function toOutcome(error: unknown): Outcome | undefined {
  if (error instanceof SftpError) {
    const { kind, code, message } = error;
    switch (kind) {
      case 'retryable':
        return {
          ...retryable(`sftp-${code}`, message),
          ...(code === 'no-local-space' && { file: { excess: { code: `sftp-${code}`, message } } }),
        };
      case 'denied':
        return { kind: 'refused', evidence: { code: `sftp-${code}`, answer: message } };
      case 'fatal':
        return { kind: 'fatal', evidence: { code: `sftp-${code}`, answer: message }, advice: message };
      case 'excessive':
        return failExcessive(`sftp-${code}`, message);
    }
  }
  if (error instanceof TooManyRowsError) return failExcessive(error.code, error.message);
  if (error instanceof ArchiveError) {
    const { code, message, peer } = error;
    return code === 'unwritable' || code === 'unreadable'
      ? retryable(peer === 'refused' ? 'archive-refused' : `archive-${code}`, message)
      : { kind: 'refused', evidence: { code: `archive-${code}`, answer: message } };
  }
  if (error instanceof KeyError)
    return { kind: 'fatal', evidence: { code: `key-${error.code}` }, advice: error.message };
  // System messages name the call and the path, never file contents.
  if (error instanceof Error && 'syscall' in error && 'code' in error)
    return retryable(`local-${String(error.code).toLowerCase()}`, error.message);
  return undefined;
}

/** The same server would offer the same again. */
function failExcessive(code: string, message: string): Outcome {
  const file = { excess: { code, message } };
  return { kind: 'refused', class: 'data', evidence: { code, answer: message }, file };
}

function retryable(code: string, answer: string): Outcome {
  return {
    kind: 'retryable',
    evidence: { code, answer },
    outcomeUnknown: false,
    refusedWhenSpent: false,
  };
}

/** Whether the cause is on this machine or in the archive, so that waiting for the server does not help. */
export function isOurFault(code: string): boolean {
  return code === 'sftp-no-local-space' || code === 'sftp-local-file' || /^(?:local|archive)-/.test(code);
}

/** The file to be sent. */
export const reviewName = ({ id }: Run): string => `${id}.csv`;
/** A file of that name on the server that is its result, or a candidate for it. */
export const resultName = ({ id }: Run, name: string): string =>
  `${id}.${createHash('sha256').update(name).digest('hex').slice(0, 12)}.result.csv`;
/** What was on the server before. */
export const earlierName = ({ id }: Run): string => `${id}.earlier.csv`;

/** Everything a run has in the spool, including partial files: their names begin with the run's id. */
export async function listSpooled(spool: Spool, runId: string): Promise<readonly string[]> {
  return (await spool.list()).filter((name) => name.startsWith(runId));
}

export async function removeSpooled(spool: Spool, runId: string): Promise<void> {
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
  return parts.spool.write(reviewName(run), renderReviewFile(parts.ledger, run));
}

/**
 * Ensures that the recorded review file is in the spool: another worker may have written it on another machine.
 *
 * @throws ChangedFileError if the ledger produces other bytes than were recorded
 */
export async function ensureSpooled(parts: FileParts, run: Run): Promise<void> {
  const expected = run.file?.sha256;
  if ((await parts.spool.measure(reviewName(run)))?.sha256 === expected) return;
  const { sha256 } = await spoolReviewFile(parts, run);
  if (sha256 !== expected)
    throw new ChangedFileError(
      `the review file of run ${run.id} differs from the recorded one: the ledger no longer holds its bookings as they were written.`,
    );
}

/** What the master id is called in the file of a run. */
export const masterIdColumnOf = ({ masterIdColumn = defaultMasterIdColumn }: Run): string => masterIdColumn;

/** The bytes of the review file, in the order of the bookings. */
export async function* renderReviewFile(ledger: ReadOnlyLedger, run: Run): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${renderReviewHeader(masterIdColumnOf(run))}${lineEnd}`);
  for await (const { lines } of readRows(ledger, run)) yield lines;
}

/** Its rows, batch by batch. */
export async function* readRows(ledger: ReadOnlyLedger, run: Run): AsyncGenerator<StoredBatch> {
  for await (const { batch, lines } of readStoredBatches(ledger, run, 'file'))
    yield { batch, lines: run.guestNames === 'omit' ? putReferences(lines) : lines };
}
