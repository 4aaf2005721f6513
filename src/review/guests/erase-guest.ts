import type { Archive } from '../../archive/archive.js';
import { measure } from '../../async/measure.js';
import { readStoredBatches } from '../../ledger/batches.js';
import type { ErasedContent } from '../../ledger/erasing.js';
import { eraseKeptAt } from '../../ledger/kept-columns.js';
import type { Ledger } from '../../ledger/ledger.js';
import { isActive, type Run } from '../../ledger/run.js';
import { type BookingForm, bookingForms } from '../../ledger/step.js';
import type { Spool } from '../../spool/spool.js';
import { listEveryRun } from '../every-run.js';
import { manifestName } from '../file/manifest.js';
import { removeSpooled } from '../file/spooled-files.js';
import { createLineEraser, type Erasure, eraseRecords } from './erase-records.js';
import { isLineOf } from './guest.js';
import { findRecords, listKeptFiles } from './guest-files.js';

export interface EraseParts {
  readonly ledger: Ledger;
  readonly archive: Archive;
  readonly spool: Spool;
}

/** Something of the guest that was changed, or would be. */
export interface ErasedPlace {
  readonly runId: string;
  readonly day: string;
  readonly place: ErasedContent['place'] | 'spool';
  readonly name: string;
  /** Absent for what was removed rather than rewritten. */
  readonly sha256Before?: string;
  readonly sha256After?: string;
}

/** Where something is left, and what to do about it. */
export interface LeftPlace {
  readonly runId: string;
  readonly day: string;
  readonly place: ErasedPlace['place'];
  readonly why: string;
}

interface ErasedPlaces {
  readonly erased: readonly ErasedPlace[];
  readonly left: readonly LeftPlace[];
  /** The runs that carry the guest, or carried a guest whom the SFTP server may still have. */
  readonly runs: readonly Run[];
}

const unfinished =
  'the run is unfinished: resume it with `run`, or give it up with `cancel`, then erase again';
const busy = 'its day is being worked on: erase again later';

/**
 * Takes a guest out of ledger, archive and spool. Idempotent; the ledger comes last, so that an interrupted erasure is
 * found again. A file is rewritten beside the archive first, and its checksums are recorded before it is replaced.
 */
export async function eraseKept(
  parts: EraseParts,
  erasure: Erasure,
  { dryRun, signal }: { readonly dryRun: boolean; readonly signal: AbortSignal },
): Promise<ErasedPlaces> {
  const erased: ErasedPlace[] = [];
  const left: LeftPlace[] = [];
  const runs: Run[] = [];
  for (const run of await listEveryRun(parts.ledger)) {
    signal.throwIfAborted();
    if (!dryRun) await completeReplacements(parts, run);
    const files = [];
    for (const file of await listKeptFiles(parts, run))
      if ((await findRecords(file, erasure.guest)).length > 0) files.push(file);
    const batches = await listBatchesOf(parts, run, erasure);
    const isHere = files.length + batches.length > 0;
    if (isHere || (await isServerBehind(parts, run))) runs.push(run);
    if (!isHere) continue;
    const at = { runId: run.id, day: run.day };
    if (mayStillBeSent(run)) {
      left.push({ ...at, place: 'ledger', why: unfinished });
      continue;
    }
    for (const { place, name } of files) {
      const content = place === 'archive' && (await eraseArchived(parts, run, name, erasure, dryRun));
      if (content) erased.push({ ...at, place, ...toSums(content) });
      if (place === 'spool') erased.push({ ...at, place, name });
    }
    if (!dryRun && files.some(({ place }) => place === 'spool')) await removeSpooled(parts.spool, run.id);
    const rewrite = createLineEraser(erasure);
    const inLedger: Pick<ErasedPlace, 'name' | 'sha256Before' | 'sha256After'>[] = [];
    for (const { lines, ...batch } of batches) {
      const rewritten = rewrite(lines, batch);
      if (rewritten?.changed) inLedger.push(toSums(rewritten.changed.content));
      const kept = await parts.ledger.bookings.readKept(run.id, batch.form, batch.batch);
      if (rewritten && eraseKeptAt(kept, rewritten.places))
        inLedger.push({ name: `kept columns of ${batch.form} batch ${batch.batch}` });
    }
    if (!dryRun && inLedger.length > 0 && !(await parts.ledger.guests.eraseBookings(run.id, rewrite)))
      left.push({ ...at, place: 'ledger', why: busy });
    else for (const content of inLedger) erased.push({ ...at, place: 'ledger', ...content });
  }
  for (const reject of await eraseRejects(parts, erasure, dryRun)) erased.push(reject);
  return { erased, left, runs };
}

/** What is kept of records that could not be sent. Where columns are mixed up, a value is the name. */
async function eraseRejects(
  { ledger }: EraseParts,
  { guest, all }: Erasure,
  dryRun: boolean,
): Promise<readonly ErasedPlace[]> {
  const erased: ErasedPlace[] = [];
  for (const { run, place, reference, value } of guest.rejects) {
    const withReference = reference !== undefined && all;
    if (value === undefined && !withReference) continue;
    if (!dryRun) await ledger.guests.eraseReject(run.id, place, { withReference });
    const name = `${withReference ? 'reference and value' : 'value'} of rejected record ${place}`;
    erased.push({ runId: run.id, day: run.day, place: 'ledger', name });
  }
  return erased;
}

/** After an erasure that the server refused, ledger and archive no longer tell that its files carry the guest. */
async function isServerBehind({ ledger }: EraseParts, { id, file }: Run): Promise<boolean> {
  if (!file) return false;
  const erased = await ledger.guests.listErasedContents(id);
  const isDoneThere = (before: string) =>
    erased.some((content) => content.place === 'sftp' && content.before === before);
  return erased.some(({ place, before }) => place === 'archive' && !isDoneThere(before));
}

/** Its file was announced to the service with a checksum, or a result is to be joined with it. */
export function mayStillBeSent(run: Run): boolean {
  if (isActive(run)) return true;
  return run.state === 'failed' && run.file?.sha256 !== undefined && run.file.archivedTo === undefined;
}

function toSums({ name, before, after }: ErasedContent) {
  return { name, sha256Before: before, sha256After: after };
}

async function listBatchesOf({ ledger }: EraseParts, run: Run, { guest }: Erasure) {
  const found: { readonly form: BookingForm; readonly batch: number; readonly lines: Buffer }[] = [];
  if (!guest.runIds.has(run.id)) return found;
  for (const form of bookingForms) {
    for await (const { batch, lines } of readStoredBatches(ledger, run, form)) {
      const text = lines.toString();
      // As JSON and CSV escape quotes in different ways, a text with quotes is not searched for.
      const mayHold = /["\\]/.test(guest.reference) || text.includes(guest.reference);
      if (!mayHold) continue;
      const isTheirs = text.split('\n').some((line) => line !== '' && isLineOf(guest, line, form));
      if (isTheirs) found.push({ form, batch, lines });
    }
  }
  return found;
}

const replacementOf = ({ id }: Run, name: string) => `${id}.erased.${name}`;

async function eraseArchived(
  { ledger, archive, spool }: EraseParts,
  run: Run,
  name: string,
  erasure: Erasure,
  dryRun: boolean,
): Promise<ErasedContent | undefined> {
  const read = () => archive.read(run.day, run.id, name);
  const { sha256: before } = await measure(read());
  const { sha256: after } = await measure(eraseRecords(read(), erasure));
  if (after === before) return undefined;
  const content: ErasedContent = { place: 'archive', name, before, after, at: erasure.at };
  if (dryRun) return content;
  const replacement = replacementOf(run, name);
  await spool.write(replacement, eraseRecords(read(), erasure));
  await ledger.guests.noteErased(run.id, content);
  await archive.remove(run.day, run.id, [name]);
  await archive.keep(run.day, run.id, name, spool.read(replacement), after);
  await spool.remove([replacement]);
  return content;
}

/** An interrupted erasure may have removed a file and not replaced it yet. */
async function completeReplacements({ archive, spool }: EraseParts, run: Run): Promise<void> {
  const prefix = replacementOf(run, '');
  const replacements = (await spool.list()).filter((name) => name.startsWith(prefix));
  if (replacements.length === 0) return;
  const archived = await archive.list(run.day, run.id);
  for (const replacement of replacements) {
    const name = replacement.slice(prefix.length);
    const isWhole = archived.includes(manifestName) && !name.endsWith('.part');
    if (isWhole && !archived.includes(name))
      await archive.keep(run.day, run.id, name, spool.read(replacement));
    await spool.remove([replacement]);
  }
}
