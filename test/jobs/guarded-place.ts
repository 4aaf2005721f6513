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

const strangeColumns = [
  'ServiceId FROM bookings; DROP TABLE bookings; --',
  '__proto__',
  'constructor',
  '$(touch touched)',
];

/** A source that holds the day's only booking has none of these columns: it finds nothing in them, and fails the day. */
export async function expectNoColumns(openSource: () => Promise<Settings> | Settings): Promise<void> {
  const place = await prepareGuardedPlace();
  const { folder, standIn, use } = place;
  const source = await openSource();
  await folder.writeBookings('ServiceId\n7\n');
  writeFileSync(join(folder.path, 'bookings.mjs'), 'export function* bookings() { yield { ServiceId: 7 }; }');
  await use(source, { ledger: 'sqlite:data/control.db' });
  expect((await folder.runDay()).exitCode).toBe(0);
  for (const [index, ServiceId] of strangeColumns.entries()) {
    const places = { ledger: `sqlite:data/${index}.db`, archive: `data/archive-${index}` };
    await use({ ...source, columns: { ServiceId } }, places);
    const result = await folder.runDay();
    expect(result.report.error?.message).toMatch(
      /has no column|is not in the header|^no record of |cannot be sent/,
    );
    expect(result.exitCode, ServiceId).toBe(1);
  }
  expect(standIn.accepted()).toEqual([{ ServiceId: 7 }]);
  expectNothingElse(folder);
}
