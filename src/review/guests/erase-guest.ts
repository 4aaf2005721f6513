import { measure } from '../../base/content.js';
import { bookingFields, findHotelHash, guestNameFields } from '../../booking/booking.js';
import { createBusinessDay } from '../../booking/business-day.js';
import { batchStreams } from '../../booking/sending.js';
import { blankFields, readBooking } from '../../booking/stored-line.js';
import { eraseExtraAt, readStoredBatches, splitStoredLines } from '../../ledger/batches.js';
import type { BlankLines } from '../../ledger/guests.js';
import type { Ledger, ReadOnlyLedger } from '../../ledger/ledger.js';
import type { RunKey } from '../../ledger/runs.js';
import type { RemoteRemoval } from '../../rules/review-file.js';
import type { Run } from '../../rules/run.js';
import { mayStillSend } from '../../rules/try-again.js';
import { type Archive, ArchiveError, type RunFolder } from '../../storage/archive.js';
import { KeyError } from '../../storage/day-keys.js';
import { isSealed } from '../../storage/sealed.js';
import type { Spool } from '../../storage/spool.js';
import { SftpError, type SftpServer, type SftpSession } from '../../transports/sftp/sftp.js';
import { readEveryRun } from '../every-run.js';
import { listArchived } from '../file/archive-run.js';
import { listSpooled, removeSpooled } from '../file/file-attempt.js';
import { createResultNameTest, largestOf, limitReceived, locateRemoteFiles } from '../file/remote-files.js';
import { listSent, removeNoted } from '../stored/remove-sent.js';
import { readReference } from '../stored/stored-line.js';
import { findUnknownFolders } from '../unknown-folders.js';
import { findGuestFiles, findRecords, findRejectsToErase, type Guest } from './guest.js';
import { createNameTest } from './name-test.js';

/** What is erased of a guest. */
interface Erasure {
  readonly guest: Guest;
  /** Reference and stay too, not only the name. */
  readonly all: boolean;
  readonly at: number;
}

interface EraseParts {
  readonly ledger: Ledger;
  readonly archive: Archive;
  readonly spool: Spool;
  /** Undefined if none is configured. */
  readonly sftp: SftpServer | undefined;
  readonly resultPattern: string;
  readonly timezone: string;
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
}

const busy = 'its day is being worked on: erase again later';
const unfinished = ({ day }: Run) =>
  `the run has something left to send: finish it with \`run ${day}\`, or give it up with \`cancel ${day}\`, then erase again`;

/**
 * Takes a guest out of SFTP server, archive, spool and ledger. Nothing is rewritten but the guest's lines in the ledger, which are
 * blanked; whole files go, because a result may repeat a name in any spelling. Idempotent: each run says first that a guest of it is
 * being erased, and its lines, which tell what to look for, come last, so that an interrupted erasure is found again.
 */
export async function eraseGuest(parts: EraseParts, erasure: Erasure): Promise<Receipt> {
  const { ledger, archive, spool, dryRun, signal } = parts;
  const { guest, all, at } = erasure;
  const receipt = createReceipt();
  const { note, leave } = receipt;
  const blank = createLineBlanker(erasure);
  const server = createServerEraser(parts, erasure, receipt);

  // Before the first name goes: a booking may have had another name in each run.
  await eraseAnswers();
  await eraseRejects();
  try {
    for await (const ofDay of readDays(ledger)) {
      signal.throwIfAborted();
      await eraseDay(ofDay);
    }
  } finally {
    await server.close();
  }
  await eraseUnknown().catch((error: unknown) => {
    if (!(error instanceof ArchiveError)) throw error;
    leave(undefined, 'archive', error.message);
  });
  await eraseUnknownSpooled();
  return { erased: receipt.erased, left: receipt.left };

  /** What the service wrote, of every run of a day that holds the guest: its answer to one batch may name the guest of another one. */
  async function eraseAnswers(): Promise<void> {
    const namesGuest = createNameTest([...guest.names, ...(all ? [guest.reference] : [])]);
    for (const day of new Set(guest.traces.map(({ run }) => run.day)))
      for await (const run of readEveryRun(ledger, { day })) {
        const answered = await ledger.steps.listAnswered(run.id);
        const found = answered.filter(({ answer = '' }) => namesGuest(answer));
        if (found.length === 0) continue;
        if (!dryRun) await ledger.guests.dropAnswers(run.id, found);
        const names = found.map(({ step, attempt }) => `the answer to attempt ${attempt} of ${step}`);
        note(run, 'ledger', names);
      }
  }

  /** What is kept of records that could not be sent. Without `all`, the hash of the guest's own reference stays. */
  async function eraseRejects(): Promise<void> {
    for (const { run, reject } of await findRejectsToErase(ledger, erasure)) {
      const { place, reference } = reject;
      const withHash = all || reference !== guest.reference;
      if (!dryRun) await ledger.rejects.eraseReject(run.id, place, { withHash });
      note(run, 'ledger', [`reference and value of rejected record ${place}`]);
    }
  }

  async function isHolding(run: Run): Promise<boolean> {
    const inLedger = await findBlankable(ledger, run, guest, blank);
    return inLedger.length > 0 || (await findGuestFiles(parts, run, guest)).length > 0;
  }

  /** The runs of one day that hold the guest, while nobody else may work on it. @param runs the newest first */
  async function eraseDay(runs: readonly Run[]): Promise<void> {
    const holding: Run[] = [];
    for (const run of runs) if (await isHolding(run)) holding.push(run);
    const behind = runs.filter((run) => !holding.includes(run) && isServerBehind(run));
    const [first] = [...holding, ...behind];
    if (!first) return;
    const hold = await ledger.holds.day(first.day);
    if (!hold) {
      for (const run of holding.length > 0 ? holding : behind) leave(run, 'ledger', busy);
      return;
    }
    try {
      const ended: Run[] = [];
      for (const run of holding) {
        // `run` and `cancel` are about the newest one only. Meanwhile it may have been resumed.
        const maySend = run === runs[0] && mayStillSend(await ledger.runs.get(run.id));
        if (maySend) leave(run, 'ledger', unfinished(run));
        else if (dryRun || (await ledger.guests.beginErasing(run.id, at))) ended.push(run);
        else leave(run, 'ledger', busy);
      }
      await server.eraseDay([...ended, ...behind]);
      for (const run of ended) {
        if (hold.lost.aborted) leave(run, 'ledger', busy);
        else await eraseRun(run);
      }
    } finally {
      await hold.release();
    }
  }

  async function eraseRun(run: Run): Promise<void> {
    const archived = await listArchived(archive, run);
    const spooled = await listSpooled(spool, run.id);
    const inLedger = await findBlankable(ledger, run, guest, blank);
    if (!dryRun) {
      await archive.remove(run.day, run.id, archived);
      await removeSpooled(spool, run.id);
      await ledger.guests.eraseBookings(run.id, blank);
    }
    note(run, 'archive', archived);
    note(run, 'spool', spooled);
    note(run, 'ledger', inLedger);
  }

  /** The folders of runs that the ledger does not know: whole ones, if a file of theirs holds the guest. */
  async function eraseUnknown(): Promise<void> {
    const { ours, unmarked } = await findUnknownFolders(archive, ledger);
    for (const folder of [...ours, ...unmarked]) {
      signal.throwIfAborted();
      const { day, runId, names } = folder;
      const run = { id: runId, day };
      const isOurs = folder.account !== undefined;
      const { holds, unreadable } = await lookInto(archive, folder, guest);
      if (holds && isOurs) {
        if (!dryRun) await archive.remove(day, runId, names);
        note(run, 'archive', names);
      } else if (holds) {
        const where = archive.locate(day, runId);
        leave(
          run,
          'archive',
          `${where} holds the guest, and has no mark that says whose it is: remove it yourself`,
        );
      } else if (isOurs) for (const why of unreadable) leave(run, 'archive', why);
    }
  }

  /** What a killed process of a ledger that is gone has left: everything in a spool can be made again. */
  async function eraseUnknownSpooled(): Promise<void> {
    for (const name of await spool.list()) {
      if (await ledger.runs.find(name.split('.')[0] ?? '')) continue;
      try {
        if ((await findRecords(() => spool.read(name), guest)).length === 0) continue;
      } catch (error) {
        if (error instanceof KeyError) continue;
        throw error;
      }
      if (!dryRun) await spool.remove([name]);
      note(undefined, 'spool', [name]);
    }
  }
}

/** The runs of each day, the newest first. */
async function* readDays(ledger: Ledger): AsyncGenerator<readonly Run[], void, undefined> {
  let ofDay: Run[] = [];
  for await (const run of readEveryRun(ledger)) {
    if (ofDay[0] && ofDay[0].day !== run.day) {
      yield ofDay;
      ofDay = [];
    }
    ofDay.push(run);
  }
  if (ofDay.length > 0) yield ofDay;
}

const allFields: ReadonlySet<string> = new Set(
  bookingFields.flatMap(({ name, kind, property }) =>
    kind === 'guest-name' || kind === 'date' || property === 'bookingReferenceId' ? [name] : [],
  ),
);

/** Blanks the guest's lines where they are: all others keep their rows. */
export function createLineBlanker({ guest, all }: Omit<Erasure, 'at'>): BlankLines {
  const fields = all ? allFields : guestNameFields;
  // A cell doubles quotes.
  const needle = guest.reference.replaceAll('"', '""');
  return (lines) => {
    if (!lines.includes(needle)) return undefined;
    const stored = splitStoredLines(lines);
    const rows = stored.flatMap((line, row) => (readReference(line) === guest.reference ? [row] : []));
    if (rows.length === 0) return undefined;
    const theirs = new Set(rows);
    const blanked = stored.map((line, row) => (theirs.has(row) ? blankFields(line, fields) : line));
    const changed = rows.filter((row) => blanked[row] !== stored[row]);
    if (changed.length === 0) return { rows };
    const stays = changed.map((row) => ({
      row,
      hotelHash: findHotelHash(readBooking(stored[row] ?? '')),
    }));
    return {
      rows,
      lines: Buffer.from(blanked.map((line) => `${line}\n`).join('')),
      ...(all && { stays }),
    };
  };
}

/** What a run still holds of the guest in the ledger, by name. */
async function findBlankable(
  ledger: ReadOnlyLedger,
  run: Run,
  guest: Guest,
  blank: BlankLines,
): Promise<readonly string[]> {
  const found: string[] = [];
  if (!guest.traces.some((trace) => trace.kind === 'booking' && trace.run.id === run.id)) return found;
  for (const stream of batchStreams)
    for await (const { batch, lines } of readStoredBatches(ledger, run, stream)) {
      const blanked = blank(lines);
      if (!blanked) continue;
      const name = `${stream} batch ${batch}`;
      if (blanked.lines) found.push(name);
      const extraColumns = await ledger.bookings.readExtra(run.id, stream, batch);
      if (eraseExtraAt(extraColumns, blanked.rows)) found.push(`kept columns of ${name}`);
    }
  return found;
}

async function lookInto(archive: Archive, { day, runId, names }: RunFolder, guest: Guest) {
  const unreadable: string[] = [];
  for (const name of names) {
    const read = () => archive.read(day, runId, name);
    try {
      if (await startsSealed(read()))
        throw new KeyError('unusable', 'it is encrypted, and there are no keys');
      if ((await findRecords(read, guest)).length > 0) return { holds: true, unreadable };
    } catch (error) {
      if (!(error instanceof KeyError || error instanceof ArchiveError)) throw error;
      // With its key, its content is gone for good.
      if (error instanceof KeyError && error.code === 'destroyed') continue;
      unreadable.push(`${name} cannot be read, and no run of this ledger knows it: ${error.message}`);
    }
  }
  return { holds: false, unreadable };
}

/** An archive with keys hands out what they opened. */
async function startsSealed(blocks: AsyncIterable<Uint8Array>): Promise<boolean> {
  for await (const block of blocks) return isSealed(block);
  return false;
}

const settled: readonly RemoteRemoval['outcome'][] = ['removed', 'absent', 'other'];

/** Whether the server may still hold something of a run of which a guest was erased, for example because it refused. */
function isServerBehind({ guestErasedAt, file }: Run): boolean {
  const isOpen = (tried: RemoteRemoval | undefined) => !(tried && settled.includes(tried.outcome));
  // The service may have put the guest into more files than the run has judged.
  const tries = [...listSent(file).map(({ tried }) => tried), ...(file?.removals ?? [])];
  return guestErasedAt !== undefined && tries.some(isOpen);
}

/** Removes files with the guest from the SFTP server, as far as it permits that, in one session for all days. */
function createServerEraser(
  { ledger, spool, sftp, timezone, resultPattern, dryRun, signal }: EraseParts,
  { guest, at }: Erasure,
  { note, leave }: ReturnType<typeof createReceipt>,
) {
  let session: SftpSession | SftpError | undefined;

  /** Whether the file is one that these runs sent or judged, or holds the guest in any other way. */
  async function isTheirs(path: string, runs: readonly Run[], open: SftpSession): Promise<boolean> {
    const fetched = `${runs[0]?.id}.fetched.csv`;
    const read = () => spool.read(fetched);
    try {
      await open.download(path, await spool.locate(fetched), { limit: limitReceived(largestOf(runs)) });
      const { sha256 } = await measure(read());
      const isKnown = runs.some(({ file }) => listSent(file).some((sent) => sent.sha256 === sha256));
      return isKnown || (await findRecords(read, guest)).length > 0;
    } finally {
      await spool.remove([fetched]);
    }
  }

  async function eraseFiles(runs: readonly Run[], newest: Run, open: SftpSession): Promise<void> {
    const day = createBusinessDay(newest.day, timezone);
    const { folder, isLeftover } = locateRemoteFiles(day);
    const isResult = createResultNameTest(resultPattern, day);
    const staying = new Set<string>();
    for (const { name } of await open.list(folder)) {
      if (!(name.startsWith(day.ddmmyyyy) || isResult(name) || isLeftover(name))) continue;
      const path = `${folder}/${name}`;
      if (!(await isTheirs(path, runs, open))) {
        staying.add(path);
        continue;
      }
      const record = (outcome: RemoteRemoval['outcome']) => noteOf(runs, newest, path, outcome);
      const outcome = dryRun ? 'removed' : await removeNoted(open, path, record);
      if (outcome === 'removed') note(newest, 'sftp', [path]);
      else leave(newest, 'sftp', `${path}: the server denies it; check the permissions of the account`);
    }
    if (!dryRun) await noteRest(runs, staying);
  }

  /** Each run that lists the file; the newest one for a file that none lists. */
  async function noteOf(
    runs: readonly Run[],
    newest: Run,
    path: string,
    outcome: RemoteRemoval['outcome'],
  ): Promise<void> {
    const listing = runs.filter(({ file }) => listSent(file).some((sent) => sent.path === path));
    for (const { id } of listing.length > 0 ? listing : [newest])
      await ledger.runs.noteRemoval(id, { path, outcome, at });
  }

  /** What was gone, or replaced by others, before: nobody has to look for it again. */
  async function noteRest(runs: readonly Run[], staying: ReadonlySet<string>): Promise<void> {
    for (const { id } of runs)
      for (const { path, tried } of listSent((await ledger.runs.get(id)).file)) {
        if (tried && tried.outcome !== 'removing') continue;
        await ledger.runs.noteRemoval(id, { path, outcome: staying.has(path) ? 'other' : 'absent', at });
      }
  }

  return {
    /** The files of one day. @param runs that hold the guest, the newest first */
    async eraseDay(runs: readonly Run[]): Promise<void> {
      const sent = runs.filter(({ file }) => file?.remotePath !== undefined);
      const [newest] = sent;
      if (!sftp || !newest) return;
      try {
        session ??= await sftp.connect({ signal });
        if (session instanceof SftpError) throw session;
        await eraseFiles(sent, newest, session);
      } catch (error) {
        if (!(error instanceof SftpError)) throw error;
        // Other days would have to wait for the same server.
        session ??= error;
        leave(newest, 'sftp', error.message);
      }
    },
    async close(): Promise<void> {
      if (session && !(session instanceof SftpError)) await session.close();
    },
  };
}

/** Something of the guest that was removed or blanked, or would be. Without a run where nobody knows of which. */
interface ErasedPlace {
  readonly runId: string | null;
  readonly day: string | null;
  readonly place: 'ledger' | 'archive' | 'spool' | 'sftp';
  readonly name: string;
}

/** What was done; and what is left, and what to do about it. */
export interface Receipt {
  readonly erased: ErasedPlace[];
  readonly left: (Omit<ErasedPlace, 'name'> & { readonly why: string })[];
}

function createReceipt() {
  const { erased, left }: Receipt = { erased: [], left: [] };
  const placeIn = (run: RunKey | undefined, place: ErasedPlace['place']) => ({
    runId: run?.id ?? null,
    day: run?.day ?? null,
    place,
  });
  return {
    erased,
    left,
    note(run: RunKey | undefined, place: ErasedPlace['place'], names: readonly string[]): void {
      for (const name of names) erased.push({ ...placeIn(run, place), name });
    },
    leave(run: RunKey | undefined, place: ErasedPlace['place'], why: string): void {
      left.push({ ...placeIn(run, place), why });
    },
  };
}
