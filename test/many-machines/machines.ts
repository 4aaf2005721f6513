import { expect, onTestFinished, vi } from 'vitest';
import type { CalledCommand, ClosingReport, RunningCommand } from '../support/command.js';
import { createDayFolder, type DayFolder, day, type Settings } from '../support/day-folder.js';
import { type StandIn, type StandInHandler, startStandIn } from '../support/http-stand-in.js';
import { type LedgerWatch, watchTables } from '../support/ledger-watch.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { patienceMs } from '../support/patience.js';
import type { Postgres } from '../support/postgres.js';
import type { RunningRedis } from '../support/redis.js';
import { type Arrivals, countArrivals } from '../support/reviewed-day.js';

// Several processes, one after the other.
vi.setConfig({ testTimeout: patienceMs + 180_000 });

export const batchSize = 10;
/** Steps that each process performs at the same time. */
export const stepsPerProcess = 2;

/** Many processes on one ledger and one queue, and a service that sees what they send. */
export interface Machines {
  readonly standIn: StandIn;
  readonly folder: DayFolder;
  readonly ledgerUrl: string;
  readonly ledger: LedgerWatch;
  readonly arrivals: Arrivals;
  /** Resolves when the worker is ready for steps. */
  startWorker(): Promise<RunningCommand>;
  /** The same in this process, which takes less time: for a worker that is neither killed nor frozen. */
  callWorker(): Promise<CalledCommand>;
  /** Collects the day and leaves its steps to the workers. */
  detach(): Promise<void>;
  /** Waits for the end of the day, as one run: everything arrived, and no more often than is counted. */
  completed(): Promise<ClosingReport>;
}

export async function prepareMachines({
  postgres,
  redis,
  bookings: count,
  handler,
  settings = {},
}: {
  readonly postgres: Postgres;
  readonly redis: Pick<RunningRedis, 'url'>;
  readonly bookings: number;
  readonly handler?: StandInHandler;
  readonly settings?: Settings;
}): Promise<Machines> {
  const bookings = makeBookings(count);
  const standIn = await startStandIn(handler);
  onTestFinished(() => standIn.close());
  const ledgerUrl = await postgres.createDatabase();
  const shared: Settings = {
    ledger: ledgerUrl,
    queue: redis.url,
    body: { batchSize, concurrency: stepsPerProcess },
    // Short, so that lost work is found soon.
    workers: { leaseSeconds: 3 },
    retry: { baseSeconds: 0.02, capSeconds: 0.05, tries: 40 },
  };
  const folder = await createDayFolder({
    baseUrl: standIn.baseUrl,
    bookings: toCsv(bookings),
    settings: { ...shared, ...settings },
  });
  const ledger = watchTables((sql) =>
    postgres.query(`${ledgerUrl}?options=-csearch_path%3Dhotel_review`, sql),
  );
  const arrivals = countArrivals(standIn, ledger);
  return {
    standIn,
    folder,
    ledgerUrl,
    ledger,
    arrivals,
    async startWorker() {
      const worker = folder.start(['work']);
      await worker.wrote('"working"');
      return worker;
    },
    async callWorker() {
      const worker = folder.call(['work']);
      await worker.wrote('"working"');
      return worker;
    },
    async detach() {
      const { exitCode, stderr } = await folder.run(['run', '--day', day, '--json', '--detach']);
      expect(stderr).not.toContain('hotel-review:');
      expect(exitCode).toBe(0);
    },
    async completed() {
      await ledger.reaches(({ state }) => state === 'succeeded');
      const { json } = await folder.run(['status', day, '--json']);
      const [report, ...others] = (json as { runs: readonly ClosingReport[] }).runs as [ClosingReport];
      expect(others).toEqual([]);
      await arrivals.checkWhole(report, bookings);
      return report;
    },
  };
}
