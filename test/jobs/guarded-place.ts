import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { createDayFolder, type DayFolder, day, type Settings } from '../support/day-folder.js';
import { type StandIn, startStandIn } from '../support/http-stand-in.js';
import { masterIdOnly } from '../support/source-columns.js';

const guarded = 'ServiceId\n7\n';

/** A place with something to break, where damage would be noticed. */
export interface GuardedPlace {
  readonly folder: DayFolder;
  /** The mapping service. */
  readonly standIn: StandIn;
  /** Configures this source and no other; it says that the source has the master id only. */
  use(source: Settings, settings?: Settings): Promise<void>;
}

/** A folder with a file of one booking, which is the source until another is configured. */
export async function prepareGuardedPlace(): Promise<GuardedPlace> {
  const standIn = await startStandIn();
  onTestFinished(() => standIn.close());
  const folder = await createDayFolder({ baseUrl: standIn.baseUrl });
  writeFileSync(join(folder.path, 'guarded.csv'), guarded);
  const use = ({ columns = {}, ...source }: Settings, settings: Settings = {}) =>
    folder.configure({
      ...settings,
      source: { path: undefined, columns: Object.assign({}, masterIdOnly, columns), ...source },
    });
  await use({ kind: 'csv', path: 'guarded.csv' });
  return { folder, standIn, use };
}

/** Nothing was sent to the service, and nothing else was touched. */
export function expectNoHarm({ folder, standIn }: GuardedPlace): void {
  expect(standIn.requests).toEqual([]);
  expectNothingElse(folder);
}

/** The file is unchanged, and nothing but the ledger was written. */
export function expectNothingElse(folder: DayFolder): void {
  expect(readFileSync(join(folder.path, 'guarded.csv'), 'utf8')).toBe(guarded);
  const usual = [
    '.env',
    'guarded.csv',
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
