import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import {
  type CalledCommand,
  type CommandResult,
  callCommand,
  type RunningCommand,
  startCommand,
} from './command.js';
import { quotingRequests, type StandIn, type StandInHandler, startStandIn } from './http-stand-in.js';
import { expectNoLeakInTables, expectNoLeaks, type Written } from './leaks.js';
import { day } from './made-bookings.js';

export { day };

export const apiKey = 'key-of-the-test';
export const accountId = 'account-of-the-test';

/** Variables that hold secrets. */
const secretName = /KEY|SECRET|ACCOUNT|PASSWORD|TOKEN/;

/** Settings as in the file, where a test needs settings other than the defaults. */
export interface Settings {
  readonly [name: string]: unknown;
}

export interface DayFolderOptions {
  /** The base URL of the stand-in. */
  readonly baseUrl: string;
  /** The bytes of the day's bookings file; without them there is no file yet. */
  readonly bookings?: string | Uint8Array;
  /** Merged over the default settings, group by group. */
  readonly settings?: Settings;
}

export interface StartOptions {
  /** Variables in addition to PATH and TMPDIR. */
  readonly env?: NodeJS.ProcessEnv;
  /** What a command that is called in this process reads from standard input. */
  readonly input?: string;
}

export interface RunOptions extends StartOptions {
  /** Runs it in its own process. */
  readonly asProcess?: boolean;
}

/** A temporary folder with a configuration and a day's bookings, in which the command is started. */
export interface DayFolder {
  readonly path: string;
  readonly bookingsFile: string;
  readonly configurationFile: string;
  /** SQLite's file in `data/`, next to its `-wal` and `-shm`. */
  readonly ledgerFile: string;
  /** The command's TMPDIR. */
  readonly temporaryFolder: string;
  writeBookings(content: string | Uint8Array, ofDay?: string): Promise<void>;
  /** Rewrites the configuration: the default settings with these merged over them. */
  configure(settings: Settings): Promise<void>;
  /** Starts the command in its own process. */
  start(args: readonly string[], options?: StartOptions): RunningCommand;
  /** Calls the command in this process. */
  call(args: readonly string[], options?: StartOptions): CalledCommand;
  /** Calls the command in this process and waits for its end. */
  run(args: readonly string[], options?: RunOptions): Promise<CommandResult>;
  /** `run 2026-11-20 --json` */
  runDay(options?: RunOptions): Promise<CommandResult>;
}

/**
 * Creates the folder of a test. Retries are immediate, so that faults cost no time. After the test, running commands
 * are stopped and the folder is removed. The test fails if a guest's name or a secret leaked: into the commands'
 * output or arguments, a file or its name, or a table that must not contain it.
 */
export async function createDayFolder({
  baseUrl,
  bookings,
  settings = {},
}: DayFolderOptions): Promise<DayFolder> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'hotel-review-test-')));
  const temporaryFolder = join(path, 'tmp');
  const ledgerFile = join(path, 'data', 'ledger.db');
  const running: RunningCommand[] = [];
  const called: CalledCommand[] = [];
  const written: Written[] = [];
  const secrets = new Set([apiKey, accountId]);
  onTestFinished(async () => {
    for (const command of running) command.kill('SIGKILL');
    for (const command of called) command.stop();
    await Promise.all([...running, ...called].map(({ ended }) => ended));
    try {
      expectNoLeaks({ folder: path, written, secrets: [...secrets] });
      if (`${settings.ledger}`.startsWith('postgres:'))
        await expectNoLeakInTables(`${settings.ledger}`, [...secrets]);
    } finally {
      await rm(path, { recursive: true });
    }
  });

  /** Keeps the output for the check at the end. */
  function watch<Command extends { readonly ended: Promise<CommandResult> }>(
    args: readonly string[],
    env: NodeJS.ProcessEnv,
    command: Command,
  ): Command {
    for (const [name, value] of Object.entries(env))
      if (value !== undefined && secretName.test(name)) secrets.add(value);
    const keep = ({ stdout, stderr }: CommandResult) => written.push({ args, stdout, stderr });
    void command.ended.then(keep, () => {});
    return command;
  }

  const pathOf = (ofDay: string) => join(path, `bookings-${ofDay}.csv`);
  const configurationFile = join(path, 'hotel-review.yaml');
  const baseSettings = merge(defaultSettings(baseUrl), settings);
  const folder: DayFolder = {
    path,
    bookingsFile: pathOf(day),
    configurationFile,
    ledgerFile,
    temporaryFolder,
    writeBookings: (content, ofDay = day) => writeFile(pathOf(ofDay), content),
    configure: (changes) => writeFile(configurationFile, stringify(merge(baseSettings, changes))),
    start(args, { env = {} } = {}) {
      const command = startCommand(args, {
        cwd: path,
        env: { PATH: process.env.PATH, TMPDIR: temporaryFolder, ...env },
      });
      running.push(command);
      return watch(args, env, command);
    },
    call(args, { env = {}, input } = {}) {
      const command = callCommand(args, { cwd: path, env, temporaryFolder, input });
      called.push(command);
      return watch(args, env, command);
    },
    run: (args, { asProcess = false, ...options } = {}) =>
      (asProcess ? folder.start(args, options) : folder.call(args, options)).ended,
    runDay: (options) => folder.run(['run', '--day', day, '--json'], options),
  };
  await mkdir(temporaryFolder);
  await folder.configure({});
  if (bookings !== undefined) await folder.writeBookings(bookings);
  return folder;
}

function defaultSettings(baseUrl: string): Settings {
  return {
    timezone: 'Europe/Madrid',
    service: { baseUrl, apiKey, accountId },
    // Days of a test often have the same bookings.
    source: { kind: 'csv', path: 'bookings-{day}.csv', maxRepeatedShare: 1 },
    body: { batchSize: 50, concurrency: 4 },
    retry: { baseSeconds: 0.02, capSeconds: 0.05 },
  };
}

function merge(under: Settings, over: Settings): Settings {
  const merged: Record<string, unknown> = { ...under };
  for (const [name, value] of Object.entries(over)) {
    const before = merged[name];
    merged[name] = isGroup(before) && isGroup(value) ? merge(before, value) : value;
  }
  return merged;
}

function isGroup(value: unknown): value is Settings {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export interface PreparedDay {
  readonly standIn: StandIn;
  readonly folder: DayFolder;
}

/** A service with this handler, and a folder configured for it. Both are removed after the test. */
export async function prepareDay(
  options: Omit<DayFolderOptions, 'baseUrl'>,
  handler?: StandInHandler,
): Promise<PreparedDay> {
  const standIn = await startStandIn(handler && quotingRequests(handler));
  onTestFinished(() => standIn.close());
  return { standIn, folder: await createDayFolder({ ...options, baseUrl: standIn.baseUrl }) };
}
