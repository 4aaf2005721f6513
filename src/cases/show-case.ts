import type { KeptValues } from '../booking/kept-values.js';
import { type RecordedAction, readActions } from '../ledger/audit.js';
import type { ReadOnlyLedger } from '../ledger/ledger.js';
import { type HeldCase, summariseBookings } from './case.js';

import { type Compared, compareCases, nothingKnown } from './find-cases.js';

/** A case with its hotels. */
export interface ShownCase extends HeldCase, Compared {
  /** The kept columns of its bookings, by reference. */
  readonly kept?: ReadonlyMap<string, KeptValues>;
}

interface ShowOptions {
  /** YYYY-MM-DD, in the account's zone. */
  readonly today: string;
  readonly clock: () => number;
  /** The configured kept columns. */
  readonly labels: readonly string[];
}

/** A case with its hotels and, if there are any, the kept columns of its bookings. */
export async function showCase(
  ledger: ReadOnlyLedger,
  held: HeldCase,
  { today, clock, labels }: ShowOptions,
): Promise<ShownCase> {
  const { firstCheckIn } = summariseBookings(held.bookings, today);
  const [compared] = await compareCases(ledger, [{ ...held, ...(firstCheckIn && { firstCheckIn }) }], clock);
  const references = held.bookings.flatMap(({ reference }) => reference ?? []);
  const kept = labels.length > 0 ? await ledger.bookings.findKept(references) : undefined;
  return { ...held, ...(compared ?? nothingKnown), ...(kept && { kept }) };
}

/** Who changed a case, and when, oldest entry first. Looks are left out. */
export async function readCaseHistory(
  audit: ReadOnlyLedger['audit'],
  id: number,
): Promise<readonly RecordedAction[]> {
  const history: RecordedAction[] = [];
  for await (const actions of readActions(audit, { subject: `case ${id}` }))
    history.push(...actions.filter(({ action }) => action !== 'case'));
  return history;
}
