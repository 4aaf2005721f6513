import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { writeSandboxConfiguration } from '../../../src/sandbox/configuration.js';
import { type Sandbox, startSandbox } from '../../../src/sandbox/sandbox.js';
import { createWorld } from '../../../src/sandbox/world/world.js';
import { type BuiltCommands, createBuiltCommands } from '../built-commands.js';
import { type FastClock, startFastClock } from '../fast-clock.js';
import { type Faults, liveThrough, secondsPastMs } from './nights.js';
import { writePeople } from './people.js';
import { type Course, dayOf, type MonthOptions, type OtherSettings, planMonth } from './plan.js';

/** A sandbox, and a ledger with an eventful month in it. */
export interface DeskMonth {
  readonly folder: string;
  /** The configuration file. */
  readonly configuration: string;
  readonly commands: BuiltCommands;
  /** Of this process; 08:05 today once the month is made. */
  readonly clock: FastClock;
  /** Of the sandbox: what goes wrong with its next calls. */
  readonly faults: Faults;
  /** The last day that went that way. */
  dayOf(course: Course): string;
  /** Idempotent. */
  close(): Promise<void>;
}

/** How long making one may take: its nights are lived one after the other, however busy the machine is. */
export const monthLimitMs = 600_000;

/** Everything is the same each time, except for durations. */
export async function makeDeskMonth(options: MonthOptions): Promise<DeskMonth> {
  const { today, speed = 200, settings = () => ({}) } = options;
  const days = planMonth(options);
  const firstDay = Date.parse(days[0]?.iso ?? today);
  const folder = await mkdtemp(join(tmpdir(), 'desk-month-'));
  const clock = startFastClock();
  clock.set(new Date(firstDay + secondsPastMs).toISOString());
  const faults: Faults = { nextCall: () => undefined, nextResult: () => undefined };
  const world = createWorld({ seed: 7, hotels: 300 });
  const sandbox = await startSandbox({
    ...{ folder, world, resultDelayMs: 0, clock: () => Date.now() },
    faults: { nextCall: (operation) => faults.nextCall(operation), nextResult: () => faults.nextResult() },
  });
  const configuration = await configure(sandbox, settings(sandbox));
  const commands = createBuiltCommands(configuration);
  let closed: Promise<void> | undefined;
  async function close(): Promise<void> {
    await sandbox.close();
    clock.end();
    await rm(folder, { recursive: true });
  }
  const month: DeskMonth = {
    ...{ folder, configuration, commands, clock, faults },
    dayOf: (course) => dayOf(days, course),
    close() {
      closed ??= close();
      return closed;
    },
  };
  try {
    await liveThrough(days, {
      ...{ folder, commands, clock, world, faults, speed },
      outbox: sandbox.outbox,
    });
    clock.set(`${today}T08:05:00Z`);
    return month;
  } catch (error) {
    await month.close();
    throw error;
  }
}

/** The sandbox's own settings, with waits that suit it, and a schedule that leaves the days as they are. */
async function configure(sandbox: Sandbox, { baseUrl, ...others }: OtherSettings): Promise<string> {
  const path = await writeSandboxConfiguration(sandbox);
  const settings = parse(await readFile(path, 'utf8'));
  const changed = {
    ...settings,
    file: { ...settings.file, resultPollSeconds: 0.05, resultQuietSeconds: 0.1 },
    body: { batchSize: 20, concurrency: 4 },
    retry: { tries: 4, baseSeconds: 0.02, capSeconds: 0.05 },
    volume: { onDrop: 'fail' },
    schedule: { catchUpDays: 0, resumeMinutes: 1_440 },
    server: { users: 'users.json' },
    ...others,
    service: { ...settings.service, ...(baseUrl !== undefined && { baseUrl }) },
  };
  await writeFile(path, stringify(changed));
  writePeople(join(sandbox.folder, 'users.json'));
  return path;
}
