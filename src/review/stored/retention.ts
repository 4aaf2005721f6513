import type { Archive } from '../../archive/archive.js';
import { type BusinessDay, businessDayAt } from '../../booking/business-day.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { Run } from '../../ledger/run.js';
import type { Spool } from '../../spool/spool.js';
import { manifestName } from '../file/manifest.js';
import { listSpooled, removeSpooled } from '../file/spooled-files.js';
import { blankNames } from './stored-line.js';

export interface RetentionPeriods {
  /** Days after which guest names and the service's messages are removed. */
  readonly guestNameDays: number;
  /** Days after which references and verdicts are removed as well. */
  readonly recordDays: number;
}

export interface RetentionParts {
  readonly ledger: Ledger;
  readonly archive: Pick<Archive, 'list' | 'remove'>;
  readonly spool: Pick<Spool, 'list' | 'remove'>;
  /** Where names are encrypted: destroys the keys of days before that one that are not needed any longer. */
  readonly destroyKeys?: ((before: string) => Promise<void>) | undefined;
}

export interface RetentionMoment {
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

/** What is older than these days is removed. */
interface DueDays {
  /** Guest names of days before this one, YYYY-MM-DD. */
  readonly namesBefore: string;
  /** References and verdicts of days before this one. */
  readonly recordsBefore: string;
}

/** Removes from ledger, archive and spool what must not be kept any longer. Idempotent. */
export async function applyRetention(
  parts: RetentionParts,
  periods: RetentionPeriods,
  { now, timezone }: RetentionMoment,
): Promise<void> {
  const instant = findRetentionInstant(now, await parts.ledger.runs.findLastStart(now - witnessAgeMs));
  if (instant !== undefined) await removeDue(parts, findDueDays(periods, { now: instant, timezone }));
}

/** The day before which what is kept for that many days is due; undefined in a ledger that is too new. */
export async function findDueDay(
  ledger: Ledger,
  days: number,
  { now, timezone }: RetentionMoment,
): Promise<string | undefined> {
  const instant = findRetentionInstant(now, await ledger.runs.findLastStart(now - witnessAgeMs));
  return instant === undefined ? undefined : dayBefore(businessDayAt(new Date(instant), timezone), days);
}

/** Counts from what the clock says; see `findRetentionInstant`. */
export function findDueDays(
  { guestNameDays, recordDays }: RetentionPeriods,
  { now, timezone }: RetentionMoment,
): DueDays {
  const today = businessDayAt(new Date(now), timezone);
  return { namesBefore: dayBefore(today, guestNameDays), recordsBefore: dayBefore(today, recordDays) };
}

export async function removeDue(
  { ledger, archive, spool, destroyKeys }: RetentionParts,
  { namesBefore, recordsBefore }: DueDays,
): Promise<void> {
  try {
    await ledger.guests.blankNames(namesBefore, blankNames, async (run) => {
      await forgetArchived(archive, run);
      await removeSpooled(spool, run.id);
    });
  } finally {
    // A day whose key is lost keeps no other day's key.
    await destroyKeys?.(namesBefore);
  }
  await ledger.guests.prune(recordsBefore);
}

/** What `removeDue` would remove from a run. */
interface DueRun {
  readonly runId: string;
  readonly day: string;
  readonly archived: readonly string[];
  readonly spooled: readonly string[];
}

/** What `removeDue` would remove: names, and of which runs everything but the row. */
export async function listDue(
  {
    ledger,
    archive,
    spool,
  }: Pick<RetentionParts, 'archive' | 'spool'> & {
    readonly ledger: Ledger;
  },
  { namesBefore, recordsBefore }: DueDays,
): Promise<{ readonly names: readonly DueRun[]; readonly records: readonly Run[] }> {
  const names: DueRun[] = [];
  for (const run of await ledger.guests.listRunsWithNames(namesBefore)) {
    const { id: runId, day } = run;
    names.push({
      runId,
      day,
      archived: await listForgettable(archive, run),
      spooled: await listSpooled(spool, runId),
    });
  }
  return { names, records: await ledger.guests.listRunsWithRecords(recordsBefore) };
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

async function forgetArchived(archive: RetentionParts['archive'], run: Run): Promise<void> {
  const forgotten = await listForgettable(archive, run);
  if (forgotten.length > 0) await archive.remove(run.day, run.id, forgotten);
}

/** The manifest with its checksums stays. */
async function listForgettable(archive: Pick<Archive, 'list'>, { day, id }: Run): Promise<readonly string[]> {
  return (await archive.list(day, id)).filter((name) => name !== manifestName);
}

function dayBefore(day: BusinessDay, days: number): string {
  const date = new Date(`${day.iso}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() - days);
  return date.toISOString().slice(0, 10);
}
