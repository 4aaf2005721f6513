import pg from 'pg';
import { onTestFinished, vi } from 'vitest';
import type { BookingsDatabase } from './bookings-database.js';
import { postgresTable } from './bookings-table.js';
import { type Postgres, password } from './postgres.js';

const waiting = { timeout: 30_000, interval: 20 };
/** Of the advisory lock that stands for the gate. */
const gateNumber = 8;
const ofSource = "datname = current_database() AND application_name = 'hotel-review'";

/** Makes a database with a day of that many bookings. The server makes them, for there may be very many. */
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
      // It may lose its server.
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
