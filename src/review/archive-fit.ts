import type { Archive } from '../archive/archive.js';
import { LedgerUnusableError } from '../ledger/errors.js';
import {
  decideFit,
  isToBeMarked,
  type LedgerFit,
  type LedgerMark,
  parseMark,
  renderMark,
} from '../ledger/identity.js';
import type { ReadOnlyLedger } from '../ledger/ledger.js';

/** A ledger beside its archive. */
export interface FitParts {
  readonly archive: Archive;
  /** Undefined if there is none. */
  readonly ledger: Pick<ReadOnlyLedger, 'identify'> | undefined;
  /** The ledger's path, or its address without a password. */
  readonly place: string;
}

/**
 * What is wrong with a ledger that is not the one of its archive; undefined if nothing is. Days that the archive's ledger has sent would
 * be sent again, and its cases would be forgotten.
 *
 * @throws ArchiveError if the archive can't be read
 */
export async function findMisfit({
  archive,
  ledger,
  place,
}: FitParts): Promise<LedgerUnusableError | undefined> {
  const mark = await archive.readLedgerMark();
  const reason = explainMisfit(decideFit(await ledger?.identify(), mark), {
    hasLedger: ledger !== undefined,
    archive: archive.place,
    mark: mark === undefined ? undefined : parseMark(mark),
  });
  return reason === undefined ? undefined : new LedgerUnusableError(place, reason);
}

function explainMisfit(
  fit: LedgerFit,
  {
    hasLedger,
    archive,
    mark,
  }: { readonly hasLedger: boolean; readonly archive: string; readonly mark: LedgerMark | undefined },
): string | undefined {
  if (fit === 'fits' || fit === 'no-mark') return undefined;
  const run = mark?.latestRun;
  const latest = run ? `, whose latest run is ${run.id} of ${run.day}, ended at ${run.endedAt}` : '';
  const found = hasLedger ? 'another one' : 'none';
  const got = fit === 'older-ledger' ? 'an older copy of it' : found;
  return (
    `expected the ledger of the archive ${archive}${latest}, got: ${got}; nothing is reviewed. Restore that ledger, or correct the setting ` +
    'or archive; if that ledger is lost, `run --unknown-archive` goes on with this one, which does not know what the other one sent'
  );
}

/** Tells the archive of the ledger's latest run, unless it belongs to another ledger or knows of a later run. */
export async function noteLatestRun({
  archive,
  ledger,
}: Pick<FitParts, 'archive'> & { readonly ledger: Pick<ReadOnlyLedger, 'identify'> }): Promise<void> {
  // Read last, so that of two processes neither takes the place of a later run.
  const mark = await archive.readLedgerMark();
  const own = await ledger.identify();
  if (isToBeMarked(own, mark)) await archive.writeLedgerMark(renderMark(own));
}

/** Makes it the ledger of the archive, whichever that was. */
export async function adoptArchive(
  archive: Archive,
  ledger: Pick<ReadOnlyLedger, 'identify'>,
): Promise<void> {
  await archive.writeLedgerMark(renderMark(await ledger.identify()));
}
