import type { BusinessDay } from '../booking/business-day.js';
import type { Ledger } from '../ledger/ledger.js';
import { blankNames } from './body/booking-item.js';

export interface RetentionPeriods {
  /** After so many days guests' names, and the service's words, are gone. */
  readonly guestNameDays: number;
  /** After so many days references and verdicts are gone too. */
  readonly recordDays: number;
}

/** Takes out of the ledger what may not be kept any longer. Repeating it changes nothing. */
export async function forgetOldDays(
  ledger: Pick<Ledger, 'blankGuestNames' | 'prune'>,
  { guestNameDays, recordDays }: RetentionPeriods,
  today: BusinessDay,
): Promise<void> {
  await ledger.prune(dayBefore(today, recordDays));
  await ledger.blankGuestNames(dayBefore(today, guestNameDays), blankNames);
}

function dayBefore(day: BusinessDay, days: number): string {
  const date = new Date(`${day.iso}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() - days);
  return date.toISOString().slice(0, 10);
}
