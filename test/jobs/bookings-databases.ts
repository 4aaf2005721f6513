import { readFileSync } from 'node:fs';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { onTestFinished, vi } from 'vitest';
import { mariadbTable, postgresTable } from '../support/bookings-table.js';
import { type Mariadb, mariadbPassword, mariadbUser } from '../support/mariadb.js';
import { patienceMs } from '../support/patience.js';
import { type Postgres, password } from '../support/postgres.js';
import { useMariadb, usePostgres } from '../support/use-servers.js';

export interface BookingsDatabaseKind {
  readonly name: string;
  /** Starts a server for the current suite. The returned function creates a database with a day of bookings. */
  use(): (count: number) => Promise<BookingsDatabase>;
}

/** A database with a table of bookings: those of makeBookings on the tests' day, and others around it. */
export interface BookingsDatabase {
  /** Over TCP, with user and password. */
  readonly url: string;
  /** Must not be shown to anybody. */
  readonly password: string;
  /** The query blocks before it returns this row, until the gate opens or its server ends. */
  closeGate(row: number): Promise<Gate>;
  /** How many sessions the source has. */
  countSessions(): Promise<number>;
  /** Kills the source's query, as an administrator would. */
  cancelQuery(): Promise<void>;
  /** Kills the source's session, as an administrator would. */
  endSession(): Promise<void>;
  /** Freezes the processes that serve the source, like a disk that no longer responds. Returns what thaws them. */
  freeze(): Promise<() => void>;
  /** As a power failure would. */
  stopServer(): Promise<void>;
  startServer(): Promise<void>;
}

export interface Gate {
  /** An additional column for the query. */
  readonly column: string;
  /** Waits until the query has reached this row. */
  reached(): Promise<void>;
  open(): Promise<void>;
}

const waiting = { timeout: patienceMs, interval: 20 };

/** Creates a database with a day of `count` bookings. The server generates them, as there may be very many. */
export async function createMariadbBookings(mariadb: Mariadb, count: number): Promise<BookingsDatabase> {
  const url = await mariadb.createDatabase();
  // Committed data must survive a killed server, but nothing waits for the disk.
  await mariadb.query(url, 'SET GLOBAL innodb_flush_log_at_trx_commit = 2');
  await mariadb.query(url, mariadbTable(count));
  const listSessions = () =>
    mariadb.query(url, `SELECT id, state FROM information_schema.processlist WHERE user = '${mariadbUser}'`);
  const killAll = async (what: 'QUERY' | 'CONNECTION') => {
    for (const { id } of await listSessions()) await mariadb.query(url, `KILL ${what} ${id}`);
  };

  return {
    url,
    password: mariadbPassword,
    async closeGate(row) {
      const keeper = await mysql.createConnection({ socketPath: mariadb.socket, user: 'root' });
      // The connection may be lost.
      keeper.on('error', () => {});
      onTestFinished(() => keeper.destroy());
      await keeper.query("SELECT GET_LOCK('gate', 0)");
      return {
        column: `IF(id = ${row}, GET_LOCK('gate', 600), NULL) AS gate`,
        reached: async () =>
          void (await vi.waitUntil(
            async () => (await listSessions()).some(({ state }) => state === 'User lock'),
            waiting,
          )),
        open: async () => void (await keeper.query("SELECT RELEASE_LOCK('gate')")),
      };
    },
    countSessions: async () => (await listSessions()).length,
    cancelQuery: () => killAll('QUERY'),
    endSession: () => killAll('CONNECTION'),
    async freeze() {
      const [row] = await mariadb.query(url, 'SELECT @@pid_file AS file');
      // All sessions are threads of one process.
      const pid = Number(readFileSync(String(row?.file), 'utf8'));
      process.kill(pid, 'SIGSTOP');
      const wake = () => process.kill(pid, 'SIGCONT');
      onTestFinished(() => void wake());
      return wake;
    },
    stopServer: () => mariadb.stop(),
    startServer: () => mariadb.start(),
  };
}

/** The advisory lock that serves as the gate. */
const gateNumber = 8;
const ofSource = "datname = current_database() AND application_name = 'hotel-review'";

/** Creates a database with a day of `count` bookings. The server generates them, as there may be very many. */
export async function createPostgresBookings(postgres: Postgres, count: number): Promise<BookingsDatabase> {
  const url = await postgres.createDatabase();
  await postgres.query(url, postgresTable(count));
  const listSessions = () =>
    postgres.query(url, `SELECT pid, wait_event FROM pg_stat_activity WHERE ${ofSource}`);

  return {
    url: postgres.overTcp(url),
    password,
    async closeGate(row) {
      const keeper = new pg.Client({ connectionString: url });
      // The connection may be lost.
      keeper.on('error', () => {});
      await keeper.connect();
      onTestFinished(() => keeper.end());
      await keeper.query(`SELECT pg_advisory_lock(${gateNumber})`);
      return {
        column: `CASE id WHEN ${row} THEN pg_advisory_lock(${gateNumber})::text END AS gate`,
        reached: async () =>
          void (await vi.waitUntil(
            async () => (await listSessions()).some((session) => session.wait_event === 'advisory'),
            waiting,
          )),
        open: async () => void (await keeper.query(`SELECT pg_advisory_unlock(${gateNumber})`)),
      };
    },
    countSessions: async () => (await listSessions()).length,
    cancelQuery: async () =>
      void (await postgres.query(
        url,
        `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE ${ofSource}`,
      )),
    endSession: async () =>
      void (await postgres.query(
        url,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${ofSource}`,
      )),
    async freeze() {
      const frozen = (await listSessions()).map(({ pid }) => Number(pid));
      for (const pid of frozen) process.kill(pid, 'SIGSTOP');
      const wake = () => {
        for (const pid of frozen.splice(0)) process.kill(pid, 'SIGCONT');
      };
      onTestFinished(wake);
      return wake;
    },
    stopServer: () => postgres.stop(),
    startServer: () => postgres.start(),
  };
}

/** For `describe.each`. */
export const bookingsDatabases: readonly BookingsDatabaseKind[] = [
  {
    name: 'PostgreSQL',
    use() {
      const postgres = usePostgres();
      return (count) => createPostgresBookings(postgres(), count);
    },
  },
  {
    name: 'MariaDB',
    use() {
      const mariadb = useMariadb();
      return (count) => createMariadbBookings(mariadb(), count);
    },
  },
];
