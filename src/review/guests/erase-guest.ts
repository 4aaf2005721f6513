import { type Archive, ArchiveError } from '../../archive/archive.js';
import type { RunFolder } from '../../archive/marks.js';
import { measure } from '../../async/content.js';
import { createBusinessDay } from '../../booking/business-day.js';
import { KeyError } from '../../keys/day-keys.js';
import { isSealed } from '../../keys/sealed-value.js';
import { readStoredBatches } from '../../ledger/batches.js';
import type { ErasedContent } from '../../ledger/erasing.js';
import { eraseKeptAt } from '../../ledger/kept-columns.js';
import type { Ledger } from '../../ledger/ledger.js';
import { isActive, type Run } from '../../ledger/run.js';
import { type BookingForm, bookingForms } from '../../ledger/step.js';
import { SftpError, type SftpServer, type SftpSession, type SizeLimit } from '../../sftp/sftp.js';
import type { Spool } from '../../spool/spool.js';
import { keepNewestOfDays, readEveryRun } from '../every-run.js';
import { manifestName } from '../file/archive-run.js';
import { removeSpooled } from '../file/file-attempt.js';
import { largestOf, limitReceived, locateRemoteFiles } from '../file/remote-files.js';
import { findUnknownFolders } from '../unknown-folders.js';
import { createLineEraser, type Erasure, eraseRecords } from './erase-records.js';
import {
  findGuestFiles,
  findRecords,
  findRejectsToErase,
  type Guest,
  type GuestFile,
  isLineOf,
} from './guest.js';

interface EraseParts {
  readonly ledger: Ledger;
  readonly archive: Archive;
  readonly spool: Spool;
  /** Undefined if none is configured. */
  readonly sftp: SftpServer | undefined;
  readonly timezone: string;
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
}

/** Something of the guest that was changed, or would be. */
interface ErasedPlace {
  readonly runId: string;
  readonly day: string;
  readonly place: ErasedContent['place'] | 'spool';
  readonly name: string;
  /** Absent for what was removed rather than rewritten. */
  readonly sha256Before?: string;
  readonly sha256After?: string;
}

/** What was done; and what is left, and what to do about it. */
interface Receipt {
  readonly erased: ErasedPlace[];
  /** Without a run where nobody knows of which. */
  readonly left: {
    runId: string | null;
    day: string | null;
    place: ErasedPlace['place'];
    why: string;
  }[];
}

const unfinished =
  'the run is unfinished: resume it with `run`, or give it up with `cancel`, then erase again';
const busy = 'its day is being worked on: erase again later';

/**
 * Takes a guest out of SFTP server, archive, spool and ledger. Idempotent; the ledger knows what to look for, so it comes
 * last, and an interrupted erasure is found again.
 */
export async function eraseGuest(parts: EraseParts, erasure: Erasure) {
  const { ledger, dryRun, signal } = parts;
  const places = [];
  for await (const run of readEveryRun(ledger)) {
    signal.throwIfAborted();
    if (!dryRun) await completeReplacements(parts, run);
    const files = await findGuestFiles(parts, run, erasure.guest);
    const batches = await findBatches(ledger, run, erasure.guest);
    const isHere = files.length + batches.length > 0;
    if (isHere || (await isServerBehind(ledger, run))) places.push({ run, files, batches });
  }
  const runs = places.map(({ run }) => run);
  const onServer = await eraseOnServer(parts, runs, erasure);
  const here: Receipt = { erased: [], left: [] };
  for (const place of places) {
    signal.throwIfAborted();
    await eraseRun(parts, place, erasure, here);
  }
  await eraseUnknown(parts, erasure, here);
  await eraseRejects(parts, erasure, here);
  return { erased: [...here.erased, ...onServer.erased], left: [...here.left, ...onServer.left] };
}

const placeIn = ({ id, day }: Pick<Run, 'id' | 'day'>, place: ErasedPlace['place']) => ({
  runId: id,
  day,
  place,
});

function toErasedPlace(
  run: Pick<Run, 'id' | 'day'>,
  { place, name, before, after }: ErasedContent,
): ErasedPlace {
  return { ...placeIn(run, place), name, sha256Before: before, sha256After: after };
}

const replacementOf = ({ id }: Pick<Run, 'id'>, name: string) => `${id}.erased.${name}`;

/** An interrupted erasure may have removed a file and not replaced it yet. */
async function completeReplacements(
  { archive, spool }: EraseParts,
  run: Pick<Run, 'id' | 'day'>,
): Promise<void> {
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

/** The stored batches of a run that have the guest's bookings. */
async function findBatches(ledger: Ledger, run: Run, guest: Guest) {
  const found: { readonly form: BookingForm; readonly batch: number }[] = [];
  if (!guest.traces.some((trace) => trace.kind === 'booking' && trace.run.id === run.id)) return found;
  for (const form of bookingForms)
    for await (const { batch, lines } of readStoredBatches(ledger, run, form)) {
      const text = lines.toString();
      // As JSON and CSV escape quotes in different ways, a text with quotes is not searched for.
      const mayHold = /["\\]/.test(guest.reference) || text.includes(guest.reference);
      const isTheirs = (line: string) => line !== '' && isLineOf(guest, line, form);
      if (mayHold && text.split('\n').some(isTheirs)) found.push({ form, batch });
    }
  return found;
}

/** After an erasure that the server refused, ledger and archive no longer tell that its files carry the guest. */
async function isServerBehind(ledger: Ledger, { id, file }: Run): Promise<boolean> {
  if (!file) return false;
  const erased = await ledger.guests.listErasedContents(id);
  const isDoneThere = (before: string) =>
    erased.some((content) => content.place === 'sftp' && content.before === before);
  return erased.some(({ place, before }) => place === 'archive' && !isDoneThere(before));
}

/** Its file was announced to the service with a checksum, or a result is to be joined with it. */
function mayStillBeSent(run: Run): boolean {
  if (isActive(run)) return true;
  return run.state === 'failed' && run.file?.sha256 !== undefined && run.file.archivedTo === undefined;
}

async function eraseRun(
  parts: EraseParts,
  found: {
    readonly run: Run;
    readonly files: readonly GuestFile[];
    readonly batches: Awaited<ReturnType<typeof findBatches>>;
  },
  erasure: Erasure,
  receipt: Receipt,
): Promise<void> {
  const { ledger, spool, dryRun } = parts;
  const { run, files, batches } = found;
  if (files.length + batches.length === 0) return;
  // Meanwhile it may have been resumed.
  if (mayStillBeSent(await ledger.runs.get(run.id))) {
    receipt.left.push({ ...placeIn(run, 'ledger'), why: unfinished });
    return;
  }
  for (const { place, name } of files)
    if (place === 'archive') await eraseArchived(parts, run, name, erasure, receipt);
    else receipt.erased.push({ ...placeIn(run, place), name });
  if (!dryRun && files.some(({ place }) => place === 'spool')) await removeSpooled(spool, run.id);
  const rewrite = createLineEraser(erasure);
  const inLedger: ErasedPlace[] = [];
  for (const { form, batch } of batches) {
    const rewritten = rewrite(await ledger.bookings.readBatch(run.id, form, batch), { form, batch });
    if (rewritten?.changed) inLedger.push(toErasedPlace(run, rewritten.changed.content));
    const kept = await ledger.bookings.readKept(run.id, form, batch);
    if (rewritten && eraseKeptAt(kept, rewritten.places))
      inLedger.push({ ...placeIn(run, 'ledger'), name: `kept columns of ${form} batch ${batch}` });
  }
  if (!dryRun && inLedger.length > 0 && !(await ledger.guests.eraseBookings(run.id, rewrite)))
    receipt.left.push({ ...placeIn(run, 'ledger'), why: busy });
  else receipt.erased.push(...inLedger);
}

/** The files of runs that the ledger does not know, as far as they can be read. */
async function eraseUnknown(parts: EraseParts, erasure: Erasure, receipt: Receipt): Promise<void> {
  const { archive, dryRun, signal } = parts;
  for (const { day, runId: id, names } of await listUnknown(parts, receipt)) {
    if (!dryRun) await completeReplacements(parts, { id, day });
    for (const name of names) {
      signal.throwIfAborted();
      try {
        const read = () => archive.read(day, id, name);
        if (await startsSealed(read()))
          throw new KeyError('unusable', 'it is encrypted, and there are no keys');
        if ((await findRecords(read, erasure.guest)).length > 0)
          await eraseArchived(parts, { id, day }, name, erasure, receipt);
      } catch (error) {
        if (!(error instanceof KeyError || error instanceof ArchiveError)) throw error;
        // With its key, its content is gone for good.
        if (error instanceof KeyError && error.code === 'destroyed') continue;
        const why = `${name} cannot be read, and no run of this ledger knows it: ${error.message}`;
        receipt.left.push({ ...placeIn({ id, day }, 'archive'), why });
      }
    }
  }
}

async function listUnknown({ ledger, archive }: EraseParts, receipt: Receipt): Promise<readonly RunFolder[]> {
  try {
    return (await findUnknownFolders(archive, ledger)).ours;
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    receipt.left.push({ runId: null, day: null, place: 'archive', why: error.message });
    return [];
  }
}

/** An archive with keys hands out what they opened. */
async function startsSealed(blocks: AsyncIterable<Uint8Array>): Promise<boolean> {
  for await (const block of blocks) return isSealed(block);
  return false;
}

/**
 * The file is rewritten beside the archive first, and its checksums are recorded before it is replaced; only a run that the ledger knows
 * has a place for them.
 */
async function eraseArchived(
  { ledger, archive, spool, dryRun }: EraseParts,
  run: Run | Pick<Run, 'id' | 'day'>,
  name: string,
  erasure: Erasure,
  receipt: Receipt,
): Promise<void> {
  const read = () => archive.read(run.day, run.id, name);
  const { sha256: before } = await measure(read());
  const { sha256: after } = await measure(eraseRecords(read(), erasure));
  if (after === before) return;
  const content: ErasedContent = { place: 'archive', name, before, after, at: erasure.at };
  if (!dryRun) {
    const replacement = replacementOf(run, name);
    await spool.write(replacement, eraseRecords(read(), erasure));
    if ('state' in run) await ledger.guests.noteErased(run.id, content);
    await archive.remove(run.day, run.id, [name]);
    await archive.keep(run.day, run.id, name, spool.read(replacement), after);
    await spool.remove([replacement]);
  }
  receipt.erased.push(toErasedPlace(run, content));
}

/** What is kept of records that could not be sent. Without `all`, the hash of the guest's own reference stays. */
async function eraseRejects(
  { ledger, dryRun }: EraseParts,
  erasure: Erasure,
  receipt: Receipt,
): Promise<void> {
  const { guest, all } = erasure;
  for (const { run, reject } of await findRejectsToErase(ledger, erasure)) {
    const { place, reference } = reject;
    const withHash = all || reference !== guest.reference;
    if (!dryRun) await ledger.guests.eraseReject(run.id, place, { withHash });
    receipt.erased.push({
      ...placeIn(run, 'ledger'),
      name: `reference and value of rejected record ${place}`,
    });
  }
}

/**
 * Takes the guest out of our files and their results on the SFTP server, as far as it permits that. A day's files belong
 * to its newest run.
 *
 * @param runs that carry the guest, the newest first
 */
async function eraseOnServer(parts: EraseParts, runs: readonly Run[], erasure: Erasure): Promise<Receipt> {
  const receipt: Receipt = { erased: [], left: [] };
  const newest = keepNewestOfDays(runs.filter(({ file }) => file));
  if (!parts.sftp || newest.length === 0) return receipt;
  const session = await connect(parts.sftp, parts.signal);
  for (const run of newest) {
    if (typeof session === 'string') receipt.left.push({ ...placeIn(run, 'sftp'), why: session });
    else if (!mayStillBeSent(run))
      try {
        const limit = limitReceived(largestOf(runs.filter(({ day }) => day === run.day)));
        await eraseDay(parts, session, run, limit, erasure, receipt);
      } catch (error) {
        if (!(error instanceof SftpError)) throw error;
        receipt.left.push({ ...placeIn(run, 'sftp'), why: error.message });
      }
  }
  if (typeof session !== 'string') await session.close();
  return receipt;
}

/** @returns why that is not possible, if it isn't */
async function connect(sftp: SftpServer, signal: AbortSignal): Promise<SftpSession | string> {
  try {
    return await sftp.connect({ signal });
  } catch (error) {
    if (error instanceof SftpError) return error.message;
    throw error;
  }
}

async function eraseDay(
  { ledger, spool, timezone, dryRun }: EraseParts,
  session: SftpSession,
  run: Run,
  limit: SizeLimit,
  erasure: Erasure,
  receipt: Receipt,
): Promise<void> {
  const day = createBusinessDay(run.day, timezone);
  const { folder, temporaryPath } = locateRemoteFiles(day);
  const fetched = `${run.id}.fetched.csv`;
  const rewritten = `${run.id}.rewritten.csv`;
  const read = () => spool.read(fetched);
  try {
    for (const { name } of await session.list(folder)) {
      if (!name.startsWith(day.ddmmyyyy) || !name.toLowerCase().endsWith('.csv')) continue;
      const path = `${folder}/${name}`;
      await session.download(path, await spool.locate(fetched), { limit });
      if ((await findRecords(read, erasure.guest)).length === 0) continue;
      const { sha256: before } = await measure(read());
      const { bytes, sha256: after } = await spool.write(rewritten, eraseRecords(read(), erasure));
      if (after === before) continue;
      const content: ErasedContent = { place: 'sftp', name: path, before, after, at: erasure.at };
      if (!dryRun) {
        const temporary = temporaryPath(run.id, run.token, 0);
        await session.upload(await spool.locate(rewritten), temporary);
        await session.copyMode(path, temporary);
        await session.publish(temporary, path, bytes);
        await ledger.guests.noteErased(run.id, content);
      }
      receipt.erased.push(toErasedPlace(run, content));
    }
  } finally {
    await spool.remove([fetched, rewritten]);
  }
}
