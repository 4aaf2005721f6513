import { businessDayAt } from '../../src/booking/business-day.js';
import { type DatabaseKind, type LedgerPlace, makeLedgerPlace } from '../ledger-place.js';
import { fillYears } from './fill-years.js';
import type { YearsSize } from './planned-runs.js';

export const timezone = 'Europe/Madrid';

/** A ledger with years of runs; it lasts until this process exits. */
export interface YearsLedger {
  readonly place: LedgerPlace;
  /** YYYY-MM-DD: the day after the last one with runs. */
  readonly today: string;
  readonly size: YearsSize;
}

const prepared = new Map<string, Promise<YearsLedger>>();

/** Makes it for the first of several comparisons: that takes minutes. Its server is stopped. */
export function prepareYears(kind: DatabaseKind, size: YearsSize): Promise<YearsLedger> {
  const key = JSON.stringify({ kind, size });
  const known = prepared.get(key);
  if (known) return known;
  const made = prepare(kind, size);
  prepared.set(key, made);
  return made;
}

async function prepare(kind: DatabaseKind, size: YearsSize): Promise<YearsLedger> {
  const place = await makeLedgerPlace(kind);
  const today = businessDayAt(new Date(), timezone).iso;
  const ledger = place.open();
  try {
    await fillYears(ledger, today, size);
  } finally {
    await ledger.close();
  }
  await place.settle();
  await place.stop();
  return { place, today, size };
}
