import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { CommandResult, RunningCommand } from './command.js';
import { type FileDay, type FileDayOptions, prepareFileDay } from './file-day.js';
import type { HeldLedger, LedgerWatch, WatchedStep } from './ledger-watch.js';
import { type MadeBooking, makeBookings, toCsv } from './made-bookings.js';
import { patienceMs } from './patience.js';
import { type Arrivals, countArrivals } from './reviewed-day.js';
import type { RunningSftpServer } from './sftp-server.js';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.js';

export type FileStepName = 'write' | 'upload' | 'trigger' | 'await-result' | 'archive';

/** A day that is delivered by file, with everything that shows its outcome. */
export interface WatchedFileDay extends FileDay {
  /** Those that can go into the file. */
  readonly complete: readonly MadeBooking[];
  /** Those without a guest's name, which are posted. */
  readonly incomplete: readonly MadeBooking[];
  /** The expected review file. Rendered independently here, so that the tests don't follow the code. */
  readonly file: Buffer;
  readonly ledger: LedgerWatch;
  readonly arrivals: Arrivals;
  /** Sits between the command and the server. */
  readonly proxy: TcpProxy;
  readonly spoolFolder: string;
  /** The state of the latest run. */
  archiveFolder(): Promise<string>;
  /** The state of this step of the latest run; its state is empty before the day was planned. */
  step(name: string): Promise<Omit<WatchedStep, 'name'>>;
  /** The steps that are recorded as done, and how often each was claimed. */
  recorded(): Promise<ReadonlyMap<string, number>>;
  /** Attempts of `trigger` whose call may have been received, with unknown outcome. */
  unclearCalls(): Promise<number>;
  /**
   * Holds the ledger at a moment when this step is in this state. Meanwhile nothing reaches the server or comes from it
   * before the ledger was read once more, so that no step which uses the server passes unseen.
   */
  holdWhen(
    name: FileStepName,
    isDue: (step: { readonly state: string; readonly attempts: number }) => boolean,
  ): Promise<HeldLedger>;
}

export interface WatchedFileDayOptions extends Omit<FileDayOptions, 'bookings' | 'port'> {
  readonly bookings?: number;
  /** One booking in this many has no guest's name; by default every booking has one. */
  readonly incompleteEvery?: number;
}

export async function prepareWatchedFileDay(
  server: RunningSftpServer,
  { bookings: count = 60, incompleteEvery, ...options }: WatchedFileDayOptions = {},
): Promise<WatchedFileDay> {
  const isIncomplete = (index: number) => incompleteEvery !== undefined && index % incompleteEvery === 0;
  const bookings = makeBookings(count).map((booking, index) =>
    isIncomplete(index) ? { ...booking, BookingClientName: '' } : booking,
  );
  const complete = bookings.filter((_, index) => !isIncomplete(index));
  const proxy = await startTcpProxy(server.port);
  onTestFinished(() => proxy.stop());
  const day = await prepareFileDay(server, { ...options, bookings: toCsv(bookings), port: proxy.port });
  const ledger = day.folder.watchLedger();
  const step = async (name: string) =>
    (await ledger.steps()).find((found) => found.name === name) ?? { state: '', attempts: 0 };
  return {
    ...day,
    complete,
    incomplete: bookings.filter((_, index) => isIncomplete(index)),
    file: renderFile(complete),
    ledger,
    arrivals: countArrivals(day.standIn, ledger),
    proxy,
    spoolFolder: join(day.folder.path, 'data', 'spool'),
    archiveFolder: async () =>
      join(day.folder.path, 'data', 'archive', '2026-11-20', (await ledger.run()).runId),
    step,
    async recorded() {
      const done = (await ledger.steps()).filter(({ state }) => state === 'done');
      return new Map(done.map(({ name, attempts }) => [name, attempts]));
    },
    async unclearCalls() {
      const attempts = await ledger.attempts();
      return attempts.filter(({ step: of, outcome }) => of === 'trigger' && outcome === 'interrupted').length;
    },
    async holdWhen(name, isDue) {
      const looks = createLooks();
      proxy.slowDown(looks.next);
      try {
        return await ledger.holdWhen(() => looks.take(async () => isDue(await step(name))));
      } finally {
        proxy.slowDown(undefined);
        looks.end();
      }
    },
  };
}

/** Reads of the ledger, whose ends others can await. */
function createLooks() {
  let waiting: (() => void)[] = [];
  function release(those: readonly (() => void)[]): void {
    for (const proceed of those) proceed();
  }
  return {
    /** Resolves at the end of a read that began after this call. */
    next: () => new Promise<void>((resolve) => waiting.push(resolve)),
    async take(look: () => Promise<boolean>): Promise<boolean> {
      const before = waiting;
      waiting = [];
      try {
        return await look();
      } finally {
        release(before);
      }
    },
    end: () => release(waiting),
  };
}

function renderFile(bookings: readonly MadeBooking[]): Buffer {
  const columns =
    'Service Mappings Id,BookingReferenceId,BookingClientName,ProviderName,ProviderHotelId,CheckInDate,CheckOutDate';
  const rows = bookings.map((booking) =>
    Object.values({ ...booking, CheckInDate: '01122026', CheckOutDate: '08122026' }).join(','),
  );
  return Buffer.from([columns, ...rows, ''].join('\n'));
}

/** The process that performs this step now. */
export async function performerOf(day: WatchedFileDay, name: FileStepName): Promise<RunningCommand> {
  const [{ runId }, { attempts }] = await Promise.all([day.ledger.run(), day.step(name)]);
  return day.folder.processes.performerOf({ runId, step: name, attempt: attempts });
}

/**
 * Waits for the day's end after a process was killed: its `run` continues if it is alive, and is run again otherwise.
 */
export function untilDayEnded({ folder }: WatchedFileDay): Promise<CommandResult> {
  return folder.processes.dayEnded(() => folder.runDay());
}

/** Kills the command, and checks that the ledger is intact and truthful; returns what is recorded as done. */
export async function killAndCheck(
  day: WatchedFileDay,
  command: RunningCommand,
): Promise<ReadonlyMap<string, number>> {
  command.kill('SIGKILL');
  const { signal, exitCode } = await command.ended;
  // If it ended by itself just before, there is no signal.
  expect(signal ?? exitCode).toBe(signal === null ? 0 : 'SIGKILL');
  await day.ledger.expectSound();
  if ((await day.recorded()).size > 0) await day.arrivals.check();
  return day.recorded();
}

/** Names in a folder, sorted; none if the folder is missing. */
export function listNames(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}

/**
 * Checks once per turn of the event loop, so that data passing a proxy in this process gets little further in between.
 *
 * @throws Error when it takes too long, or the command ends first
 */
export async function untilTurn(
  command: RunningCommand,
  holds: () => boolean | Promise<boolean>,
): Promise<void> {
  const givenUpAt = performance.now() + patienceMs;
  while (!(await holds())) {
    if (command.hasEnded) throw new Error(`it ended before: ${describeEnd(await command.ended)}`);
    if (performance.now() > givenUpAt) throw new Error('the moment did not come');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function describeEnd({ exitCode, stdout, stderr }: CommandResult): string {
  return `exit ${exitCode}, ${stdout}\n${stderr}`;
}
