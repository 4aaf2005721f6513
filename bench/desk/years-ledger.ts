import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { businessDayAt } from '../../src/booking/business-day.js';
import { createPostgresLedger } from '../../src/ledger/postgres/postgres-ledger.js';
import { createSqliteLedger } from '../../src/ledger/sqlite/sqlite-ledger.js';
import type { NoticeLedger } from '../../src/notifications/notice-store.js';
import type { BookingForm } from '../../src/review/step.js';
import { readReference } from '../../src/review/stored/stored-line.js';
import { startPostgres } from '../../test/support/postgres.js';
import { makeTemporaryFolder } from '../harness/environment.js';
import { fillYears } from './fill-years.js';
import type { YearsSize } from './planned-runs.js';

export const timezone = 'Europe/Madrid';

export type DatabaseKind = 'sqlite' | 'postgres';

/** A ledger with years of runs; it lasts until this process exits. */
export interface YearsLedger {
  readonly kind: DatabaseKind;
  /** The setting that points to it. */
  readonly place: string;
  /** YYYY-MM-DD: the day after the last one with runs. */
  readonly today: string;
  readonly size: YearsSize;
  openLedger(): NoticeLedger;
  /** Makes its server answer. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

const prepared = new Map<string, Promise<YearsLedger>>();

/** Makes it for the first of several comparisons: that takes minutes. */
export function prepareYears(kind: DatabaseKind, size: YearsSize): Promise<YearsLedger> {
  const key = JSON.stringify({ kind, size });
  const known = prepared.get(key);
  if (known) return known;
  const made = kind === 'sqlite' ? prepareSqlite(size) : preparePostgres(size);
  prepared.set(key, made);
  return made;
}

const options = {
  carriesReference: (line: string, form: BookingForm, reference: string) =>
    readReference(line, form) === reference,
  clock: Date.now,
};

async function prepareSqlite(size: YearsSize): Promise<YearsLedger> {
  const path = join(makeTemporaryFolder().path, 'ledger.db');
  const openLedger = () => createSqliteLedger({ path, ...options });
  const today = await fill(openLedger(), size);
  return {
    ...{ kind: 'sqlite', place: `sqlite:${path}`, today, size, openLedger },
    start: async () => {},
    stop: async () => {},
  };
}

async function preparePostgres(size: YearsSize): Promise<YearsLedger> {
  const postgres = await startPostgres();
  process.once('exit', () => rmSync(postgres.folder, { recursive: true, force: true, maxRetries: 5 }));
  const place = await postgres.createDatabase();
  const openLedger = () => createPostgresLedger({ url: place, connections: 20, ...options });
  const today = await fill(openLedger(), size);
  // From now on acknowledged writes are on disk. The statistics are those that autovacuum makes within minutes.
  for (const statement of ["ALTER SYSTEM SET fsync = 'on'", 'VACUUM ANALYZE', 'CHECKPOINT'])
    await postgres.query(place, statement);
  await postgres.stop();
  return {
    ...{ kind: 'postgres', place, today, size, openLedger },
    start: () => postgres.start(),
    stop: () => postgres.stop(),
  };
}

async function fill(ledger: NoticeLedger, size: YearsSize): Promise<string> {
  const today = businessDayAt(new Date(), timezone).iso;
  try {
    await fillYears(ledger, today, size);
  } finally {
    await ledger.close();
  }
  return today;
}
