import { expect, onTestFinished, vi } from 'vitest';
import type { CalledCommand, ClosingReport, RunningCommand } from '../support/command.js';
import {
  createDayFolder,
  type DayFolder,
  day,
  type Settings,
  type StartOptions,
} from '../support/day-folder.js';
import { inOrder } from '../support/expectations.js';
import { type StandIn, type StandInHandler, startStandIn } from '../support/http-stand-in.js';
import { type MadeBooking, makeBookings, toCsv } from '../support/made-bookings.js';
import { patienceMs } from '../support/patience.js';
import type { Postgres } from '../support/postgres.js';
import type { RunningRedis } from '../support/redis.js';
import { type DatabaseWatch, watchDatabase } from './database-watch.js';

// Several processes, one after the other.
vi.setConfig({ testTimeout: patienceMs + 180_000 });

/** Short, so that lost work is found soon. */
export const leaseSeconds = 3;
export const batchSize = 10;
/** Steps that each process performs at the same time. */
export const stepsPerProcess = 2;

/** Many processes on one ledger and one queue, and a service that sees what they send. */
export interface Machines {
  readonly bookings: readonly MadeBooking[];
  readonly standIn: StandIn;
  readonly folder: DayFolder;
  readonly database: DatabaseWatch;
  /** Resolves when the worker is ready for steps. */
  startWorker(options?: StartOptions): Promise<RunningCommand>;
  /** The same in this process, which takes less time: for a worker that is neither killed nor frozen. */
  callWorker(): Promise<CalledCommand>;
  /** Collects the day and leaves its steps to the workers. */
  detach(): Promise<void>;
}

export interface MachinesOptions {
  readonly postgres: Postgres;
  readonly redis: Pick<RunningRedis, 'url'>;
  readonly bookings: number;
  readonly handler?: StandInHandler;
  readonly settings?: Settings;
}

export async function prepareMachines({
  postgres,
  redis,
  bookings: count,
  handler,
  settings = {},
}: MachinesOptions): Promise<Machines> {
  const bookings = makeBookings(count);
  const standIn = await startStandIn(handler);
  onTestFinished(() => standIn.close());
  const url = await postgres.createDatabase();
  const folder = await createDayFolder({
    baseUrl: standIn.baseUrl,
    bookings: toCsv(bookings),
    settings: { ...sharedSettings(url, redis.url), ...settings },
  });
  return {
    bookings,
    standIn,
    folder,
    database: watchDatabase(url),
    startWorker: (options) => startWorker(folder, options),
    callWorker: () => callWorker(folder),
    async detach() {
      const { exitCode, stderr } = await folder.run(['run', '--day', day, '--json', '--detach']);
      expect(stderr).not.toContain('hotel-review:');
      expect(exitCode).toBe(0);
    },
  };
}

export async function startWorker(folder: DayFolder, options?: StartOptions): Promise<RunningCommand> {
  const worker = folder.start(['work'], options);
  await worker.wrote('"working"');
  return worker;
}

export async function callWorker(folder: DayFolder): Promise<CalledCommand> {
  const worker = folder.call(['work']);
  await worker.wrote('"working"');
  return worker;
}

export function sharedSettings(ledger: string, queue: string): Settings {
  return {
    ledger,
    queue,
    body: { batchSize, concurrency: stepsPerProcess },
    workers: { leaseSeconds },
    retry: { baseSeconds: 0.02, capSeconds: 0.05, tries: 40 },
  };
}

/** What the ledger recorded as delivered at one moment, and how often each of these bookings had arrived by then. */
export type Delivered = ReadonlyMap<string, number>;

export async function readDelivered({ database, standIn }: Machines): Promise<Delivered> {
  const steps = await database.steps();
  const arrivals = countArrivals(standIn);
  const done = steps.filter(({ state }) => state === 'done').flatMap(({ references }) => references);
  return new Map(done.map((reference) => [reference, arrivals.get(reference) ?? 0]));
}

/**
 * The day completes. The service accepted every booking unchanged; what was recorded as delivered at one of those
 * moments was not sent again; nothing came more often than its batch was claimed, and repeats are counted.
 */
export async function expectCompleted(
  machines: Machines,
  { before = [] }: { readonly before?: readonly Delivered[] } = {},
): Promise<ClosingReport> {
  const { database, standIn, bookings, folder } = machines;
  await database.until(({ state }) => state === 'succeeded');
  const steps = await database.steps();
  const arrivals = countArrivals(standIn);
  const wrong = steps.flatMap(({ name, state, attempts, references }) =>
    references
      .map((reference) => ({ name, state, attempts, reference, arrived: arrivals.get(reference) ?? 0 }))
      .filter(({ arrived }) => state !== 'done' || arrived === 0 || arrived > attempts),
  );
  expect(wrong.slice(0, 5)).toEqual([]);
  for (const delivered of before) {
    const again = [...delivered].filter(([reference, arrived]) => arrivals.get(reference) !== arrived);
    expect(again.slice(0, 5)).toEqual([]);
  }
  const accepted = new Map(standIn.accepted().map((hotel) => [hotel.BookingReferenceId, hotel]));
  expect(inOrder([...accepted.values()])).toEqual(bookings);

  const { json } = await folder.run(['status', day, '--json']);
  const { runs } = json as { runs: readonly ClosingReport[] };
  expect(runs).toHaveLength(1);
  const [report] = runs as [ClosingReport];
  expect(report.counts).toMatchObject({
    read: bookings.length,
    accepted: bookings.length,
    delivered: bookings.length,
    duplicates: 0,
    rejected: 0,
    refused: 0,
    pending: 0,
    repeated: steps.reduce((sum, step) => sum + (step.attempts - 1) * step.references.length, 0),
  });
  return report;
}

/** How often each booking arrived in complete requests. */
export function countArrivals(standIn: StandIn): Map<string, number> {
  const arrivals = new Map<string, number>();
  for (const { body } of standIn.requests) {
    if (body.length === 0) continue;
    const { Hotels } = JSON.parse(body.toString()) as { Hotels: MadeBooking[] };
    for (const { BookingReferenceId: reference } of Hotels)
      arrivals.set(reference, (arrivals.get(reference) ?? 0) + 1);
  }
  return arrivals;
}

export async function until(holds: () => boolean | Promise<boolean>, timeout = patienceMs): Promise<void> {
  await vi.waitUntil(holds, { timeout, interval: 10 });
}
