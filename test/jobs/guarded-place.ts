import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import Libsql from 'libsql';
import { expect, onTestFinished } from 'vitest';
import { createDayFolder, type DayFolder, day, type Settings } from '../support/day-folder.js';
import { type StandIn, startStandIn } from '../support/http-stand-in.js';

/** A place with something to break, where damage would be noticed. */
export interface GuardedPlace {
  readonly folder: DayFolder;
  /** The mapping service. */
  readonly standIn: StandIn;
  /** The settings of a source that reads the table. */
  readonly table: Settings;
  /** Configures this source and no other. */
  use(source: Settings, settings?: Settings): Promise<void>;
}

/** A folder with a table of one booking, which is the source until another is configured. */
export async function prepareGuardedPlace(): Promise<GuardedPlace> {
  const standIn = await startStandIn();
  onTestFinished(() => standIn.close());
  const folder = await createDayFolder({ baseUrl: standIn.baseUrl });
  const path = join(folder.path, 'bookings.db');
  const database = new Libsql(path);
  database.exec('CREATE TABLE bookings (ServiceId); INSERT INTO bookings VALUES (7)');
  database.close();
  const query = 'SELECT * FROM bookings WHERE :day IS NOT NULL';
  const table = { kind: 'sql', url: `sqlite:${path}`, query };
  const use = (source: Settings, settings: Settings = {}) =>
    folder.configure({ ...settings, source: { path: undefined, ...source } });
  await use(table);
  return { folder, standIn, table, use };
}

/** Nothing was sent to the service, and nothing else was touched. */
export function expectNoHarm({ folder, standIn }: GuardedPlace): void {
  expect(standIn.requests).toEqual([]);
  expectNothingElse(folder);
}

/** The table is unchanged, and nothing but the ledger was written. */
export function expectNothingElse(folder: DayFolder): void {
  const database = new Libsql(join(folder.path, 'bookings.db'));
  expect(database.prepare('SELECT ServiceId FROM bookings').all([])).toEqual([{ ServiceId: 7 }]);
  expect(database.prepare('SELECT count(*) AS tables FROM sqlite_schema').all([])).toEqual([{ tables: 1 }]);
  database.close();
  const usual = [
    'bookings.db',
    'bookings.mjs',
    'data',
    'hotel-review.yaml',
    'in',
    'tmp',
    `bookings-${day}.csv`,
  ];
  expect(readdirSync(folder.path).filter((name) => !usual.includes(name))).toEqual([]);
  expect(readdirSync(folder.temporaryFolder)).toEqual([]);
}
