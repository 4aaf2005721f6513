import { createHash } from 'node:crypto';
import { expect, onTestFinished, vi } from 'vitest';
import type { Row } from '../../src/ledger/sqlite/database.js';
import { openLedgerFile } from '../../src/ledger/sqlite/ledger-file.js';

/** Where the latest run of a ledger stands. */
export interface RunMoment {
  readonly runId: string;
  readonly state: string;
  readonly token: number;
  readonly read: number;
  /** Epoch milliseconds; 0 before it began. */
  readonly collectStartedAt: number;
  /** Steps by state. */
  readonly done: number;
  readonly running: number;
  readonly ready: number;
}

export interface WatchedStep {
  readonly name: string;
  readonly state: string;
  readonly attempts: number;
  /** The booking references of its slice, in order. */
  readonly references: readonly string[];
}

/** The day stands still while it is held: no process can write to its ledger. */
export interface HeldLedger {
  readonly run: RunMoment;
  release(): void;
}

/** Looks into a ledger beside the commands that work on it, past the ledger's own code. */
export interface LedgerWatch {
  /** @throws Error when there is no run */
  run(): RunMoment;
  /** The steps of the latest run. */
  steps(): WatchedStep[];
  /** Waits for a moment of the latest run and holds the ledger in just that moment. */
  holdWhen(isDue: (run: RunMoment) => boolean): Promise<HeldLedger>;
  /** All rows of each table, for comparison. */
  dump(): Readonly<Record<string, readonly unknown[]>>;
  expectSound(): void;
}

const tables = ['runs', 'steps', 'attempts', 'batches', 'rejects', 'warnings', 'reference_pages'];

/** Opens the ledger, and makes it where there is none yet. It is closed when the test ends. */
export function watchLedger(path: string): LedgerWatch {
  const { database, close } = openLedgerFile(path, { isOnlooker: true });
  onTestFinished(close);

  function latestRun(): RunMoment | undefined {
    const row = database.get(
      `SELECT id, state, token, read, collect_started_at,
         (SELECT count(*) FROM steps WHERE run = number AND state = 'done') AS done,
         (SELECT count(*) FROM steps WHERE run = number AND state = 'running') AS running,
         (SELECT count(*) FROM steps WHERE run = number AND state = 'ready') AS ready
       FROM runs ORDER BY number DESC LIMIT 1`,
    );
    return (
      row && {
        runId: String(row.id),
        state: String(row.state),
        token: Number(row.token),
        read: Number(row.read),
        collectStartedAt: Number(row.collect_started_at),
        done: Number(row.done),
        running: Number(row.running),
        ready: Number(row.ready),
      }
    );
  }

  function run(): RunMoment {
    const latest = latestRun();
    if (!latest) throw new Error('the ledger holds no run');
    return latest;
  }

  return {
    run,
    steps: () =>
      database
        .all(
          `SELECT name, state, attempts, first, steps.bookings, lines FROM steps
           JOIN batches USING (run, form, batch)
           WHERE run = (SELECT max(number) FROM runs) ORDER BY position, name`,
        )
        .map((row) => ({
          name: String(row.name),
          state: String(row.state),
          attempts: Number(row.attempts),
          references: String(row.lines)
            .split('\n')
            .slice(Number(row.first), Number(row.first) + Number(row.bookings))
            .map((line) => (JSON.parse(line) as { BookingReferenceId: string }).BookingReferenceId),
        })),
    async holdWhen(isDue) {
      await vi.waitUntil(
        () => {
          database.exec('BEGIN IMMEDIATE');
          const latest = latestRun();
          if (latest && isDue(latest)) return true;
          database.exec('ROLLBACK');
          return false;
        },
        { timeout: 30_000, interval: 1 },
      );
      return { run: run(), release: () => database.exec('ROLLBACK') };
    },
    dump: () =>
      Object.fromEntries(
        tables.map((table) => [
          table,
          database.all(`SELECT * FROM ${table} ORDER BY 1, 2, 3`).map(digestBytes),
        ]),
      ),
    expectSound() {
      expect(database.all('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
      expect(database.all('PRAGMA foreign_key_check')).toEqual([]);
    },
  };
}

/** Bytes stand as their digest: to compare megabytes one by one takes its time. */
function digestBytes(row: Row): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      Buffer.isBuffer(value) ? createHash('sha256').update(value).digest('hex') : value,
    ]),
  );
}
