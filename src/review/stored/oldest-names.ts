import type { Archive } from '../../archive/archive.js';
import { businessDayAt } from '../../booking/business-day.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { Run } from '../../ledger/run.js';
import type { Spool } from '../../spool/spool.js';
import { listEveryRun } from '../every-run.js';
import { listArchived } from '../file/manifest.js';
import { blankNames } from './stored-line.js';

/** A run whose guest names are kept somewhere. */
export interface KeptNames {
  readonly place: 'ledger' | 'archive' | 'spool';
  readonly runId: string;
  /** The day from which `guestNameDays` count, YYYY-MM-DD. */
  readonly since: string;
  readonly ageDays: number;
}

const dayMs = 86_400_000;

/**
 * The oldest guest names of each place that has any. Looks into the places themselves, whatever the ledger says about a run:
 * into the first and the last batch of each form, the run's folder in the archive, and the spool of this machine.
 */
export async function findOldestNames(
  places: { readonly ledger: ReadOnlyLedger; readonly archive: Archive; readonly spool: Spool },
  { now, timezone }: { readonly now: number; readonly timezone: string },
): Promise<readonly KeptNames[]> {
  const { ledger, archive, spool } = places;
  const today = businessDayAt(new Date(now), timezone).iso;
  const spooled = await spool.list();
  const runs = (await listEveryRun(ledger))
    .map((run) => ({ run, since: countedFrom(run, timezone) }))
    .sort((one, other) => (one.since < other.since ? -1 : Number(one.since > other.since)));
  const found: KeptNames[] = [];
  const look = async (place: KeptNames['place'], isIn: (run: Run) => boolean | Promise<boolean>) => {
    const oldest = await findFirst(runs, ({ run }) => isIn(run));
    if (!oldest) return;
    const { run, since } = oldest;
    const ageDays = Math.max(0, Math.round((Date.parse(today) - Date.parse(since)) / dayMs));
    found.push({ place, runId: run.id, since, ageDays });
  };
  await look('ledger', async ({ id }) => {
    const samples = await ledger.bookings.sampleBatches(id);
    return samples.some(({ lines, form }) => !blankNames(lines, form).equals(lines));
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
