import { answerWithin } from '../base/abort.js';
import type { PeerFault } from '../base/peer-patience.js';
import { describeError, SafeError } from '../base/safe-error.js';
import { LedgerUnusableError } from '../ledger/errors.js';
import { decideFit, isToBeMarked, parseMark, renderMark } from '../ledger/identity.js';
import type { Ledger, ReadOnlyLedger } from '../ledger/ledger.js';
import { type Archive, ArchiveError } from '../storage/archive.js';

/** How long anybody waits for an archive that does not answer; less than PostgreSQL allows in a transaction. */
const archiveMs = 8_000;

/** The archive could not say which ledger it belongs to. The next try asks again. */
export class ArchiveAwayError extends SafeError {
  override readonly name = 'ArchiveAwayError';
  readonly fault: PeerFault;
  constructor(message: string, options: ErrorOptions) {
    super(message, options);
    this.fault = (options.cause instanceof ArchiveError ? options.cause.peer : undefined) ?? 'passing';
  }
}

/**
 * What is wrong with a ledger that is not the one of its archive; undefined if nothing is. Days that the archive's ledger has sent would
 * be sent again, and its cases would be forgotten.
 *
 * @throws ArchiveAwayError; what the ledger throws
 */
export async function findMisfit({
  archive,
  ledger,
  location,
}: {
  readonly archive: Archive;
  /** Undefined if there is none. */
  readonly ledger: ReadOnlyLedger | undefined;
  /** The ledger's path, or its address without a password. */
  readonly location: string;
}): Promise<LedgerUnusableError | undefined> {
  // Before the ledger, which may go on meanwhile: it would seem to be older than it is.
  const mark = await askForMark(archive);
  const fit = decideFit(await ledger?.identify(), mark);
  if (fit === 'fits' || fit === 'no-mark') return undefined;
  const run = mark === undefined ? undefined : parseMark(mark)?.latestRun;
  const latest = run ? `, whose latest run is ${run.id} of ${run.day}, ended at ${run.endedAt}` : '';
  const found = ledger ? 'another one' : 'none';
  const got = fit === 'older-ledger' ? 'an older copy of it' : found;
  return new LedgerUnusableError(
    location,
    `expected the ledger of the archive ${archive.path}${latest}, got: ${got}; nothing is reviewed. Restore that ledger, or correct the setting ` +
      'or archive; if that ledger is lost, `run --unknown-archive` continues with this one, which does not know what the other one sent',
  );
}

async function askForMark(archive: Archive): Promise<string | undefined> {
  try {
    return await answerWithin(archiveMs, archive.readLedgerMark());
  } catch (error) {
    throw new ArchiveAwayError(
      `the archive ${archive.path} does not say which ledger it belongs to: ${describeError(error)}; check that it is reachable, then try again`,
      { cause: error },
    );
  }
}

/** Tells the archive of the ledger's latest run, unless it belongs to another ledger or knows of a later run. */
export async function noteLatestRun(archive: Archive, ledger: ReadOnlyLedger): Promise<void> {
  for (;;) {
    const mark = await archive.readLedgerMark();
    const own = await ledger.identify();
    if (!isToBeMarked(own, mark)) return;
    await archive.writeLedgerMark(renderMark(own));
    // Another process may have ended a later run, and told the archive before this one did.
    if ((await ledger.identify()).changes === own.changes) return;
  }
}

/** Makes it the ledger of the archive, whichever that was. */
export async function adoptArchive(archive: Archive, ledger: Ledger): Promise<void> {
  await ledger.leaveCopiesBehind(await askForMark(archive));
  await archive.writeLedgerMark(renderMark(await ledger.identify()));
}
