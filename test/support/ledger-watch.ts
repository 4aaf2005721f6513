import { createHash } from 'node:crypto';
import { expect, onTestFinished, vi } from 'vitest';
import { readBooking } from '../../src/booking/stored-line.js';
import { openLedgerFile } from '../../src/ledger/sqlite/ledger-file.js';
import { patienceMs } from './patience.js';

type TableRow = Readonly<Record<string, unknown>>;

/** The state of a ledger's latest run. */
export interface RunMoment {
  readonly runId: string;
  readonly state: string;
  readonly token: number;
  /** Steps by state. */
  readonly done: number;
  readonly running: number;
}

/** A step that sends a slice of stored bookings. */
export interface WatchedBatch {
  readonly name: string;
  readonly state: string;
  readonly attempts: number;
  /** The booking references of its slice, in order. */
  readonly references: readonly string[];
}

/** Looks into a ledger beside the commands that work on it, bypassing the ledger's code. */
export interface LedgerWatch {
  /** @throws Error when there is no run */
  run(): Promise<RunMoment>;
  /** Those of the latest run, in the plan's order. */
  batches(): Promise<WatchedBatch[]>;
  /** Waits until the latest run satisfies the condition; it does not stop there. */
  reaches(isDue: (run: RunMoment) => boolean): Promise<void>;
  /** All rows of each table, for comparison. */
  dump(): Promise<Readonly<Record<string, readonly unknown[]>>>;
  /** Its sums are those of what is stored. */
  expectSound(): Promise<void>;
}

const compared = ['runs', 'steps', 'attempts', 'batches', 'rejects', 'warnings', 'booking_pages'];
const latest = '(SELECT max(number) FROM runs)';

/** The ledger in that file, which need not exist yet. */
export function watchFile(path: string): LedgerWatch {
  const { database, close } = openLedgerFile(path, { isReader: true });
  onTestFinished(close);
  const watch = watchTables(async (sql) => database.all(sql));
  return {
    ...watch,
    async expectSound() {
      expect(database.all('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
      expect(database.all('PRAGMA foreign_key_check')).toEqual([]);
      await watch.expectSound();
    },
  };
}

/** @param query reads rows of the ledger's tables */
export function watchTables(query: (sql: string) => Promise<readonly TableRow[]>): LedgerWatch {
  const watch: LedgerWatch = {
    async run() {
      const [row] = await query(
        `SELECT id, state, token,
           (SELECT count(*) FROM steps WHERE run = number AND state = 'done') AS done,
           (SELECT count(*) FROM steps WHERE run = number AND state = 'running') AS running
         FROM runs ORDER BY number DESC LIMIT 1`,
      );
      if (!row) throw new Error('the ledger holds no run');
      const [token, done, running] = [Number(row.token), Number(row.done), Number(row.running)];
      return { runId: String(row.id), state: String(row.state), token, done, running };
    },
    async batches() {
      const rows = await query(
        `SELECT name, state, attempts, first, steps.bookings, lines FROM steps
         JOIN batches USING (run, stream, batch)
         WHERE run = ${latest} ORDER BY position, name`,
      );
      return rows.map(({ name, state, attempts, first, bookings, lines }) => ({
        ...{ name: String(name), state: String(state), attempts: Number(attempts) },
        references: String(lines)
          .split('\n')
          .slice(Number(first), Number(first) + Number(bookings))
          .map((line) => readBooking(line).bookingReferenceId ?? ''),
      }));
    },
    async reaches(isDue) {
      const hasReached = async () => isDue(await watch.run());
      await vi.waitUntil(hasReached, { timeout: patienceMs, interval: 20 });
    },
    async dump() {
      const dumped: Record<string, readonly unknown[]> = {};
      for (const table of compared)
        dumped[table] = (await query(`SELECT * FROM ${table} ORDER BY 1, 2, 3`)).map(digestBytes);
      return dumped;
    },
    async expectSound() {
      const wrong = await query(
        `SELECT id FROM runs WHERE read <> accepted + duplicates + rejected OR delivered + refused > accepted
           OR accepted + carried <> (SELECT coalesce(sum(bookings), 0) FROM batches WHERE run = number)`,
      );
      expect(wrong).toEqual([]);
    },
  };
  return watch;
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
