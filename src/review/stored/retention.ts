import type { Archive } from '../../archive/archive.js';
import type { BusinessDay } from '../../booking/business-day.js';
import type { Spool } from '../../spool/spool.js';
import { manifestName } from '../file/manifest.js';
import { removeSpooled } from '../file/spooled-files.js';
import type { Retention } from '../ledger.js';
import type { Run } from '../run.js';
import { blankNames } from './stored-line.js';

export interface RetentionPeriods {
  /** Days after which guest names and the service's messages are removed. */
  readonly guestNameDays: number;
  /** Days after which references and verdicts are removed as well. */
  readonly recordDays: number;
}

export interface RetentionParts {
  readonly ledger: Retention;
  readonly archive: Pick<Archive, 'list' | 'remove'>;
  readonly spool: Pick<Spool, 'list' | 'remove'>;
}

/**
 * Removes from ledger, archive and spool what must not be kept any longer. Idempotent. The ledger comes last, so that
 * interrupted work is finished the next time.
 */
export async function applyRetention(
  { ledger, archive, spool }: RetentionParts,
  { guestNameDays, recordDays }: RetentionPeriods,
  today: BusinessDay,
): Promise<void> {
  const before = dayBefore(today, guestNameDays);
  for (const run of await ledger.listRunsWithNames(before)) {
    await forgetArchived(archive, run);
    await removeSpooled(spool, run.id);
  }
  await ledger.blankGuestNames(before, blankNames);
  await ledger.prune(dayBefore(today, recordDays));
}

/** The manifest with its checksums stays. */
async function forgetArchived(archive: RetentionParts['archive'], { day, id }: Run): Promise<void> {
  const names = await archive.list(day, id);
  const forgotten = names.filter((name) => name !== manifestName);
  if (forgotten.length > 0) await archive.remove(day, id, forgotten);
}

function dayBefore(day: BusinessDay, days: number): string {
  const date = new Date(`${day.iso}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() - days);
  return date.toISOString().slice(0, 10);
}
