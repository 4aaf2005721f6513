import { readFileSync } from 'node:fs';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { onTestFinished, vi } from 'vitest';
import type { Settings } from './day-folder.js';
import { type Mariadb, mariadbPassword, mariadbUser } from './mariadb.js';
import { type Postgres, password } from './postgres.js';
import { useMariadb, usePostgres } from './use-servers.js';

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

/** The columns of the table, named as a booking system would name them. */
const columns = {
  ServiceId: 'hotel_id',
  BookingReferenceId: 'reference',
  BookingClientName: 'guest_name',
  ProviderName: 'provider',
  ProviderHotelId: 'provider_hotel_id',
  CheckInDate: 'check_in',
  CheckOutDate: 'check_out',
};

/** The settings' `source`: a day of that table. */
export function tableSource({ url }: Pick<BookingsDatabase, 'url'>, gate?: Pick<Gate, 'column'>): Settings {
  const selected = [...Object.values(columns), ...(gate ? [gate.column] : [])];
  const query = `SELECT ${selected.join(', ')} FROM bookings
    WHERE booked_at >= :dayStart AND booked_at < :dayEnd ORDER BY id`;
  return { kind: 'sql', url, query, columns, path: undefined };
}

/**
 * Statements that create the table in PostgreSQL: the bookings of makeBookings, all on the tests' day, plus
 * one that is a second too early and one that is too late. The server generates them, as there may be very many.
 */
export function postgresTable(count: number): string {
  return `CREATE TABLE bookings AS SELECT n AS id,
       CASE n WHEN 0 THEN '2026-11-19T22:59:59Z' WHEN ${count + 1} THEN '2026-11-20T23:00:00Z'
         ELSE '2026-11-20T10:00:00Z' END::timestamptz AS booked_at,
       100000 + n AS hotel_id, 'BR-' || n AS reference, 'Guest ' || n AS guest_name,
       CASE n % 2 WHEN 0 THEN 'Hotelbeds' ELSE 'Expedia' END AS provider, '00' || n || 'A' AS provider_hotel_id,
       '2026-12-01'::date AS check_in, '2026-12-08'::date AS check_out
     FROM generate_series(0, ${count + 1}) AS n;
     ALTER TABLE bookings ADD PRIMARY KEY (id);
     ANALYZE bookings`;
}

/** The same for MariaDB. */
export function mariadbTable(count: number): string {
  return `CREATE TABLE bookings (id int PRIMARY KEY, booked_at datetime, hotel_id int, reference varchar(40),
       guest_name varchar(100), provider varchar(40), provider_hotel_id varchar(40), check_in date, check_out date);
     INSERT INTO bookings SELECT seq,
       CASE seq WHEN 0 THEN '2026-11-19 22:59:59' WHEN ${count + 1} THEN '2026-11-20 23:00:00'
         ELSE '2026-11-20 10:00:00' END,
       100000 + seq, CONCAT('BR-', seq), CONCAT('Guest ', seq), IF(seq % 2 = 0, 'Hotelbeds', 'Expedia'),
       CONCAT('00', seq, 'A'), '2026-12-01', '2026-12-08'
     FROM seq_0_to_${count + 1}`;
}

const waiting = { timeout: 30_000, interval: 20 };

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
