import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { type CommandResult, type RunningCommand, startCommand } from './command.js';

/** The business day of the tests. */
export const day = '2026-11-20';

export const apiKey = 'key-of-the-test';
export const accountId = 'account-of-the-test';

/** Settings as they stand in the file, as far as a test wants others than the usual ones. */
export interface Settings {
  readonly [name: string]: unknown;
}

export interface DayFolderOptions {
  /** The address of the stand-in. */
  readonly baseUrl: string;
  /** The bytes of the day's bookings file; without them there is none yet. */
  readonly bookings?: string | Uint8Array;
  /** Laid over the usual settings, group by group. */
  readonly settings?: Settings;
}

export interface StartOptions {
  /** Variables beside PATH and TMPDIR. */
  readonly env?: NodeJS.ProcessEnv;
}

/** A temporary folder with a configuration and a day's bookings, in which the command is started. */
export interface DayFolder {
  readonly path: string;
  readonly bookingsFile: string;
  readonly configurationFile: string;
  /** SQLite's, in `data/`; `-wal` and `-shm` stand beside it. */
  readonly ledgerFile: string;
  /** What the command has as TMPDIR. */
  readonly temporaryFolder: string;
  writeBookings(content: string | Uint8Array, ofDay?: string): Promise<void>;
  /** Writes the configuration again: the usual settings with these laid over them. */
  configure(settings: Settings): Promise<void>;
  start(args: readonly string[], options?: StartOptions): RunningCommand;
  run(args: readonly string[], options?: StartOptions): Promise<CommandResult>;
  /** `run --day 2026-11-20 --json` */
  runDay(options?: StartOptions): Promise<CommandResult>;
}

/**
 * Makes the folder of a test. Retries come at once, so that a fault costs no time. When the test ends, so do the
 * commands that still run, and the folder goes.
 */
export async function createDayFolder({
  baseUrl,
  bookings,
  settings = {},
}: DayFolderOptions): Promise<DayFolder> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'hotel-review-test-')));
  const temporaryFolder = join(path, 'tmp');
  const running: RunningCommand[] = [];
  onTestFinished(async () => {
    for (const command of running) command.kill('SIGKILL');
    await Promise.all(running.map(({ ended }) => ended));
    await rm(path, { recursive: true });
  });

  const pathOf = (ofDay: string) => join(path, `bookings-${ofDay}.csv`);
  const configurationFile = join(path, 'hotel-review.yaml');
  const configure = (changes: Settings) =>
    writeFile(configurationFile, stringify(lay(lay(usualSettings(baseUrl), settings), changes)));
  const folder: DayFolder = {
    path,
    bookingsFile: pathOf(day),
    configurationFile,
    ledgerFile: join(path, 'data', 'ledger.db'),
    temporaryFolder,
    writeBookings: (content, ofDay = day) => writeFile(pathOf(ofDay), content),
    configure,
    start(args, { env = {} } = {}) {
      const command = startCommand(args, {
        cwd: path,
        env: { PATH: process.env.PATH, TMPDIR: temporaryFolder, ...env },
      });
      running.push(command);
      return command;
    },
    run: (args, options) => folder.start(args, options).ended,
    runDay: (options) => folder.run(['run', '--day', day, '--json'], options),
  };
  await mkdir(temporaryFolder);
  await configure({});
  if (bookings !== undefined) await folder.writeBookings(bookings);
  return folder;
}

function usualSettings(baseUrl: string): Settings {
  return {
    timezone: 'Europe/Madrid',
    service: { baseUrl, apiKey, accountId },
    source: { kind: 'csv', path: 'bookings-{day}.csv' },
    body: { batchSize: 50, concurrency: 4 },
    retry: { baseSeconds: 0.02, capSeconds: 0.05 },
  };
}

function lay(under: Settings, over: Settings): Settings {
  const laid: Record<string, unknown> = { ...under };
  for (const [name, value] of Object.entries(over)) {
    const before = laid[name];
    laid[name] = isGroup(before) && isGroup(value) ? lay(before, value) : value;
  }
  return laid;
}

function isGroup(value: unknown): value is Settings {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
