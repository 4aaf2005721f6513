import { businessDayAt } from '../../booking/business-day.js';
import { blankNames } from '../../booking/stored-line.js';
import type { Ledger, ReadOnlyLedger } from '../../ledger/ledger.js';
import type { RunKey } from '../../ledger/runs.js';
import type { Run } from '../../rules/run.js';
import type { Archive } from '../../storage/archive.js';
import type { KeyFolder } from '../../storage/day-keys.js';
import type { Spool } from '../../storage/spool.js';
import { dayOfRunId, isRunId } from '../day/open-run.js';
import { readEveryRun } from '../every-run.js';
import { listArchived } from '../file/archive-run.js';
import { listSpooled, removeSpooled } from '../file/file-attempt.js';
import { findUnknownFolders } from '../unknown-folders.js';

interface RetentionParts {
  readonly ledger: Ledger;
  readonly archive: Archive;
  readonly spool: Spool;
  /** Undefined where nothing is encrypted. */
  readonly keys?: KeyFolder | undefined;
}

interface RetentionPeriods {
  /** Days after which guest names and the service's messages are removed. */
  readonly guestNameDays: number;
  /** Days after which references and verdicts are removed as well. */
  readonly recordDays: number;
}

interface RetentionMoment {
  /** What the clock says, in epoch milliseconds. */
  readonly now: number;
  /** IANA name of the account's time zone. */
  readonly timezone: string;
}

const hourMs = 3_600_000;
/** Younger runs were started by the very clock in question. */
const witnessAgeMs = 12 * hourMs;
/** A day between two nightly runs, and half a day for a late one. */
const longestStepMs = 36 * hourMs;

/** Removes from ledger, archive and spool what must not be kept any longer. Idempotent. */
export async function applyRetention(
  parts: RetentionParts,
  periods: RetentionPeriods,
  { now, timezone }: RetentionMoment,
): Promise<void> {
  const instant = await findTrustedInstant(parts.ledger, now);
  if (instant !== undefined) await removeDue(parts, findDueDays(periods, { now: instant, timezone }));
}

/** The instant from which ages are counted without a person who looks at it; see `findRetentionInstant`. */
export async function findTrustedInstant(ledger: Ledger, now: number): Promise<number | undefined> {
  return findRetentionInstant(now, await ledger.runs.findLastStart(now - witnessAgeMs));
}

/**
 * The instant from which ages are counted. What is removed is lost, so a clock that has just jumped ahead is not
 * believed: the instant is at most a day and a half after the last start of a run that is half a day old. A jump looks
 * like a ledger that was not used for long; after either, the runs of the next day remove what is due.
 *
 * @param lastStart undefined in a ledger that is too new to hold anything old
 */
export function findRetentionInstant(now: number, lastStart: number | undefined): number | undefined {
  return lastStart === undefined ? undefined : Math.min(now, lastStart + longestStepMs);
}

/** What is older than these days is removed. Counts from what the clock says. */
export function findDueDays({ guestNameDays, recordDays }: RetentionPeriods, moment: RetentionMoment) {
  return { namesBefore: findDueDay(guestNameDays, moment), recordsBefore: findDueDay(recordDays, moment) };
}

/** The day, YYYY-MM-DD, before which what is kept for that many days is due. */
export function findDueDay(days: number, { now, timezone }: RetentionMoment): string {
  const date = new Date(`${businessDayAt(new Date(now), timezone).iso}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() - days);
  return date.toISOString().slice(0, 10);
}

type DueDays = ReturnType<typeof findDueDays>;

export async function removeDue(
  parts: RetentionParts,
  { namesBefore, recordsBefore }: DueDays,
): Promise<void> {
  const { ledger, archive, spool } = parts;
  try {
    await ledger.guests.blankNames(namesBefore, blankNames, async (run) => {
      const archived = await listArchived(archive, run);
      if (archived.length > 0) await archive.remove(run.day, run.id, archived);
      await removeSpooled(spool, run.id);
    });
  } finally {
    // A day whose key is lost keeps no other day's key.
    await destroyKeys(parts, namesBefore);
  }
  await ledger.guests.prune(recordsBefore);
}

/** What is kept of a run beside the ledger, but for its manifest. */
interface StoredFiles {
  /** YYYY-MM-DD */
  readonly day: string;
  readonly runId: string;
  readonly archived: readonly string[];
  readonly spooled: readonly string[];
}

/**
 * Removes the files of runs that the ledger does not know like those of its own. Their day alone says how old they are; what is known of
 * the run, its manifest, stays.
 *
 * @throws ArchiveError `unreadable`, `unwritable`
 */
export async function removeUnknownDue(parts: RetentionParts, before: string): Promise<void> {
  for (const { day, runId, archived, spooled } of await listUnknownDue(parts, before)) {
    await parts.spool.remove(spooled);
    await parts.archive.remove(day, runId, archived);
  }
}

/** What `removeUnknownDue` would remove. */
export async function listUnknownDue(
  { ledger, archive, spool }: RetentionParts,
  before: string,
): Promise<readonly StoredFiles[]> {
  const { ours } = await findUnknownFolders(archive, ledger);
  const found = new Map<string, StoredFiles>();
  for (const { day, runId, names } of ours) found.set(runId, { day, runId, archived: names, spooled: [] });
  for (const name of await spool.list()) {
    const [runId = ''] = name.split('.');
    if (!isRunId(runId) || (await ledger.runs.find(runId))) continue;
    const known = found.get(runId) ?? { day: dayOfRunId(runId), runId, archived: [], spooled: [] };
    found.set(runId, { ...known, spooled: [...known.spooled, name] });
  }
  return [...found.values()].filter(({ day }) => day < before);
}

/**
 * Destroys the keys of days before that one whose runs keep no names any more: what backups hold of them becomes
 * unreadable. Keys of days that the ledger does not know stay, because it may be the wrong ledger.
 */
async function destroyKeys({ ledger, keys }: RetentionParts, before: string): Promise<void> {
  if (!keys) return;
  for (const day of keys.listDays().filter((one) => one < before)) {
    const hold = await ledger.holds.day(day);
    if (!hold) continue;
    try {
      if ((await isBlanked(ledger, day)) && !hold.lost.aborted) keys.destroy(day);
    } finally {
      await hold.release();
    }
  }
}

/** Whether the day has runs, and none of them has names. */
async function isBlanked(ledger: Ledger, day: string): Promise<boolean> {
  let isKnown = false;
  for await (const { namesBlankedAt } of readEveryRun(ledger, { day })) {
    if (namesBlankedAt === undefined) return false;
    isKnown = true;
  }
  return isKnown;
}

/** What `removeDue` would remove: names, and of which runs everything but the row. */
export async function listDue(
  { ledger, archive, spool }: RetentionParts,
  { namesBefore, recordsBefore }: DueDays,
) {
  const names = [];
  for await (const run of ledger.guests.readRunsWithNames(namesBefore)) {
    const archived = await listArchived(archive, run);
    const spooled = await listSpooled(spool, run.id);
    names.push({ runId: run.id, day: run.day, archived, spooled });
  }
  const records = [];
  for await (const { id, day } of ledger.guests.readRunsWithRecords(recordsBefore)) records.push({ id, day });
  return { names, records };
}

/** A run whose guest names are kept somewhere. */
export interface StoredNames {
  readonly place: 'ledger' | 'archive' | 'spool';
  readonly runId: string;
  /** The day from which `guestNameDays` count, YYYY-MM-DD. */
  readonly since: string;
  readonly ageDays: number;
}

const dayMs = 86_400_000;

/**
 * The oldest guest names of each store that has any. Looks into the stores themselves, whatever the ledger says about a run:
 * into the first and the last batch of each stream, the run's folder in the archive, and the spool of this machine.
 */
export async function findOldestNames(
  stores: { readonly ledger: ReadOnlyLedger; readonly archive: Archive; readonly spool: Spool },
  { now, timezone }: { readonly now: number; readonly timezone: string },
): Promise<readonly StoredNames[]> {
  const { ledger, archive, spool } = stores;
  const today = businessDayAt(new Date(now), timezone).iso;
  const spooled = await spool.list();
  const runs: (RunKey & { readonly delivery: Run['delivery']; readonly since: string })[] = [];
  for await (const run of readEveryRun(ledger)) {
    const { id, day, delivery } = run;
    runs.push({ id, day, delivery, since: countedFrom(run, timezone) });
  }
  runs.sort((one, other) => (one.since < other.since ? -1 : Number(one.since > other.since)));
  const found: StoredNames[] = [];
  const look = async (
    place: StoredNames['place'],
    isIn: (run: (typeof runs)[number]) => boolean | Promise<boolean>,
  ) => {
    const oldest = await findFirst(runs, isIn);
    if (!oldest) return;
    const { id: runId, since } = oldest;
    const ageDays = Math.max(0, Math.round((Date.parse(today) - Date.parse(since)) / dayMs));
    found.push({ place, runId, since, ageDays });
  };
  await look('ledger', async ({ id }) => {
    const samples = await ledger.bookings.sampleBatches(id);
    return samples.some(({ lines }) => !blankNames(lines).equals(lines));
  });
  // Only a delivery by file archives anything.
  await look(
    'archive',
    async (run) => run.delivery === 'file' && (await listArchived(archive, run)).length > 0,
  );
  await look('spool', ({ id }) => spooled.some((name) => name.startsWith(id)));
  return found;
}

/** A bucket answers each question after a round trip. */
const asksAtOnce = 8;

async function findFirst<Item>(
  items: readonly Item[],
  test: (item: Item) => boolean | Promise<boolean>,
): Promise<Item | undefined> {
  for (let from = 0; from < items.length; from += asksAtOnce) {
    const asked = items.slice(from, from + asksAtOnce);
    const answers = await Promise.all(asked.map(test));
    const hit = answers.indexOf(true);
    if (hit !== -1) return asked[hit];
  }
  return undefined;
}

/** The day itself or, if that is later, the one on which the run ended or was collected. */
export function countedFrom(
  { day, finishedAt, collectedAt, collectStartedAt, startedAt }: Run,
  timezone: string,
): string {
  const worked = new Date(finishedAt ?? collectedAt ?? collectStartedAt ?? startedAt);
  const end = businessDayAt(worked, timezone).iso;
  return end > day ? end : day;
}
