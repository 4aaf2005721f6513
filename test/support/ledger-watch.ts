import { createHash } from 'node:crypto';
import pg from 'pg';
import { expect, vi } from 'vitest';
import { readBooking } from '../../src/booking/stored-line.js';
import { type Database, isBusy } from '../../src/ledger/sqlite/database.js';
import { openLedgerFile } from '../../src/ledger/sqlite/ledger-file.js';
import { patienceMs } from './patience.js';

/** The state of a ledger's latest run. */
export interface RunMoment {
  readonly runId: string;
  readonly state: string;
  readonly token: number;
  readonly read: number;
  /** Epoch milliseconds; 0 before it started. */
  readonly collectStartedAt: number;
  /** Steps by state. */
  readonly done: number;
  readonly running: number;
  readonly ready: number;
  /** In the whole ledger. */
  readonly cases: number;
}

export interface WatchedStep {
  readonly name: string;
  readonly state: string;
  readonly attempts: number;
}

export interface WatchedBatch extends WatchedStep {
  /** The booking references of its slice, in order. */
  readonly references: readonly string[];
}

export interface WatchedAttempt {
  readonly step: string;
  readonly outcome: string;
  readonly code: string;
}

/** The day is paused while it is held: no process can write to its ledger. */
export interface HeldLedger {
  readonly run: RunMoment;
  release(): Promise<void>;
}

/** Looks into a ledger beside the commands that work on it, bypassing the ledger's code. */
export interface LedgerWatch {
  /** @throws Error when there is no run */
  run(): Promise<RunMoment>;
  /** Those of the latest run, in the plan's order. */
  steps(): Promise<WatchedStep[]>;
  /** The same, for those that send a slice of stored bookings. */
  batches(): Promise<WatchedBatch[]>;
  /** The ended attempts of all steps of the latest run. */
  attempts(): Promise<WatchedAttempt[]>;
  /** Waits until the latest run satisfies the condition; it does not stop there. */
  reaches(isDue: (run: RunMoment) => boolean): Promise<void>;
  /** Waits until the latest run satisfies the condition, and holds the ledger in that very state. */
  holdWhen(isDue: (run: RunMoment) => boolean | Promise<boolean>): Promise<HeldLedger>;
  /** Holds the ledger during the callback, so that all reads are consistent. */
  whileHeld<Result>(look: () => Promise<Result>): Promise<Result>;
  /** All rows of each table, for comparison. */
  dump(): Promise<Readonly<Record<string, readonly unknown[]>>>;
  expectSound(): Promise<void>;
}

const compared = ['runs', 'steps', 'attempts', 'batches', 'rejects', 'warnings', 'booking_pages'];
const latest = '(SELECT max(number) FROM runs)';

export function watchTables(tables: LedgerTables): LedgerWatch {
  let isHeld = false;

  async function latestRun(): Promise<RunMoment | undefined> {
    const [row] = await tables.rows(
      `SELECT id, state, token, read, collect_started_at,
         (SELECT count(*) FROM steps WHERE run = number AND state = 'done') AS done,
         (SELECT count(*) FROM steps WHERE run = number AND state = 'running') AS running,
         (SELECT count(*) FROM steps WHERE run = number AND state = 'ready') AS ready,
         (SELECT count(*) FROM cases) AS cases
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
        cases: Number(row.cases),
      }
    );
  }

  async function run(): Promise<RunMoment> {
    const found = await latestRun();
    if (!found) throw new Error('the ledger holds no run');
    return found;
  }

  async function hold(): Promise<void> {
    await tables.hold();
    isHeld = true;
  }

  async function release(): Promise<void> {
    isHeld = false;
    await tables.release();
  }

  return {
    run,
    async steps() {
      const rows = await tables.rows(
        `SELECT name, state, attempts FROM steps WHERE run = ${latest} ORDER BY position, name`,
      );
      return rows.map(toStep);
    },
    async batches() {
      const rows = await tables.rows(
        `SELECT name, state, attempts, first, steps.bookings, lines FROM steps
         JOIN batches USING (run, stream, batch)
         WHERE run = ${latest} ORDER BY position, name`,
      );
      return rows.map((row) => ({
        ...toStep(row),
        references: String(row.lines)
          .split('\n')
          .slice(Number(row.first), Number(row.first) + Number(row.bookings))
          .map((line) => readBooking(line).bookingReferenceId ?? ''),
      }));
    },
    async attempts() {
      const rows = await tables.rows(
        `SELECT step, outcome, code FROM attempts WHERE run = ${latest} ORDER BY step, attempt`,
      );
      return rows.map(({ step, outcome, code }) => ({
        step: String(step),
        outcome: String(outcome),
        code: String(code),
      }));
    },
    async reaches(isDue) {
      const hasReached = async () => {
        const found = await latestRun();
        return found !== undefined && isDue(found);
      };
      await vi.waitUntil(hasReached, { timeout: patienceMs, interval: 5 });
    },
    async holdWhen(isDue) {
      await vi.waitUntil(
        async () => {
          await hold();
          const found = await latestRun();
          if (found && (await isDue(found))) return true;
          await release();
          return false;
        },
        { timeout: patienceMs, interval: 1 },
      );
      return { run: await run(), release };
    },
    async whileHeld(look) {
      if (isHeld) return look();
      await hold();
      try {
        return await look();
      } finally {
        await release();
      }
    },
    async dump() {
      const dumped: Record<string, readonly unknown[]> = {};
      for (const table of compared) {
        const rows = await tables.rows(`SELECT * FROM ${table} ORDER BY 1, 2, 3`);
        dumped[table] = rows.map(digestBytes);
      }
      return dumped;
    },
    async expectSound() {
      await tables.expectSound();
      const wrong = await tables.rows(
        `SELECT id FROM runs WHERE read <> accepted + duplicates + rejected OR delivered + refused > accepted
           OR accepted + carried <> (SELECT coalesce(sum(bookings), 0) FROM batches WHERE run = number)`,
      );
      expect(wrong, 'runs whose sums are not those of what is stored').toEqual([]);
    },
  };
}

function toStep({ name, state, attempts }: TableRow): WatchedStep {
  return { name: String(name), state: String(state), attempts: Number(attempts) };
}

/** Bytes are replaced by their digest, as comparing megabytes is slow. */
function digestBytes(row: TableRow): TableRow {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      Buffer.isBuffer(value) ? createHash('sha256').update(value).digest('hex') : value,
    ]),
  );
}

export type TableRow = Readonly<Record<string, unknown>>;

/** The tables of a ledger, bypassing the ledger's code: one connection, to read and to hold it. */
export interface LedgerTables {
  rows(sql: string): Promise<TableRow[]>;
  /** From now on no process can write to the ledger. */
  hold(): Promise<void>;
  release(): Promise<void>;
  /** The inconsistencies that the database itself can find. */
  expectSound(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the ledger, and creates it if there is none yet. */
export function openSqliteTables(path: string): LedgerTables {
  const { database, close } = openLedgerFile(path, { isReader: true });
  return {
    rows: async (sql) => database.all(sql),
    async hold() {
      // SQLite's own wait sleeps up to 100 ms between tries: on a busy machine the writers would be done before it.
      database.exec('PRAGMA busy_timeout = 0');
      await vi.waitUntil(() => tryToHold(database), { timeout: patienceMs, interval: 0 });
      database.exec(`PRAGMA busy_timeout = ${patienceMs}`);
    },
    release: async () => database.exec('ROLLBACK'),
    async expectSound() {
      expect(database.all('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
      expect(database.all('PRAGMA foreign_key_check')).toEqual([]);
    },
    close: async () => close(),
  };
}

function tryToHold(database: Database): boolean {
  try {
    database.exec('BEGIN IMMEDIATE');
    return true;
  } catch (error) {
    if (isBusy(error)) return false;
    throw error;
  }
}

/** Opens the ledger in that database, which must exist. It connects on first use, and again after the server was stopped. */
export function openPostgresTables(url: string): LedgerTables {
  let connecting: Promise<pg.Client> | undefined;

  async function connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: url, options: '-c search_path=hotel_review' });
    const forget = () => {
      connecting = undefined;
    };
    client.on('error', forget);
    await client.connect().catch((error) => {
      forget();
      throw error;
    });
    return client;
  }

  async function query(sql: string) {
    connecting ??= connect();
    return (await connecting).query(sql);
  }

  return {
    rows: async (sql) => (await query(sql)).rows,
    async hold() {
      await query('BEGIN');
      // Every writer first locks the run's row; reading stays possible.
      await query('LOCK TABLE runs IN EXCLUSIVE MODE');
    },
    release: async () => void (await query('ROLLBACK')),
    // The server, unlike the processes, is not killed: committed data stays intact.
    expectSound: async () => {},
    close: async () => (await connecting)?.end(),
  };
}
