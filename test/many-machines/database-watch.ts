import pg from 'pg';
import { onTestFinished, vi } from 'vitest';
import { day } from '../support/day-folder.js';
import { patienceMs } from '../support/patience.js';

/** The state of the day's latest run. */
export interface RunMoment {
  readonly runId: string;
  readonly state: string;
  readonly token: number;
  readonly read: number;
  readonly delivered: number;
  /** Steps by state. */
  readonly done: number;
  readonly running: number;
}

export interface WatchedStep {
  readonly name: string;
  readonly state: string;
  readonly attempts: number;
  /** The booking references of its slice, in order; none for a step without bookings by body. */
  readonly references: readonly string[];
}

/** Reads a ledger on PostgreSQL beside the processes that work on it, bypassing the ledger's code. */
export interface DatabaseWatch {
  readonly url: string;
  /** Undefined while there is none. */
  run(): Promise<RunMoment | undefined>;
  /** The steps of the latest run. */
  steps(): Promise<WatchedStep[]>;
  /** Waits until the latest run satisfies the condition. */
  until(isDue: (run: RunMoment) => boolean): Promise<RunMoment>;
  /** The number of runs, of all days. */
  countRuns(): Promise<number>;
  query(sql: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
}

const latest = '(SELECT max(number) FROM hotel_review.runs WHERE day = $1)';

/** Keeps one connection until the test ends; a new one for each query would cost the server a process. */
export function watchDatabase(url: string, ofDay = day): DatabaseWatch {
  const connection = new pg.Pool({ connectionString: url, max: 1 });
  // The server may be stopped; the next query connects again.
  connection.on('error', () => {});
  onTestFinished(() => connection.end());
  const query = async (sql: string, values: readonly unknown[] = []) =>
    (await connection.query(sql, [...values])).rows;

  const watch: DatabaseWatch = {
    url,
    query,
    async run() {
      const [row] = await query(
        `SELECT id, state, token, read, delivered,
           (SELECT count(*) FROM hotel_review.steps WHERE run = number AND steps.state = 'done') AS done,
           (SELECT count(*) FROM hotel_review.steps WHERE run = number AND steps.state = 'running') AS running
         FROM hotel_review.runs WHERE number = ${latest}`,
        [ofDay],
      );
      return (
        row && {
          runId: String(row.id),
          state: String(row.state),
          token: Number(row.token),
          read: Number(row.read),
          delivered: Number(row.delivered),
          done: Number(row.done),
          running: Number(row.running),
        }
      );
    },
    async steps() {
      const rows = await query(
        `SELECT name, state, attempts, first, steps.bookings, form, convert_from(lines, 'UTF8') AS lines
         FROM hotel_review.steps LEFT JOIN hotel_review.batches USING (run, form, batch)
         WHERE run = ${latest} ORDER BY position, name`,
        [ofDay],
      );
      return rows.map((row) => ({
        name: String(row.name),
        state: String(row.state),
        attempts: Number(row.attempts),
        references: row.form === 'body' ? readReferences(row) : [],
      }));
    },
    async until(isDue) {
      let found: RunMoment | undefined;
      await vi.waitUntil(
        async () => {
          // There may be no schema yet, or no server.
          found = await watch.run().catch(() => undefined);
          return found !== undefined && isDue(found);
        },
        { timeout: patienceMs, interval: 20 },
      );
      if (!found) throw new Error('there is no run');
      return found;
    },
    async countRuns() {
      const [row] = await query('SELECT count(*) AS runs FROM hotel_review.runs');
      return Number(row?.runs);
    },
  };
  return watch;
}

function readReferences(row: Record<string, unknown>): string[] {
  return String(row.lines)
    .split('\n')
    .slice(Number(row.first), Number(row.first) + Number(row.bookings))
    .map((line) => (JSON.parse(line) as { BookingReferenceId: string }).BookingReferenceId);
}
