import { readFileSync } from 'node:fs';
import mysql from 'mysql2/promise';
import { onTestFinished, vi } from 'vitest';
import type { BookingsDatabase } from './bookings-database.js';
import { mariadbTable } from './bookings-table.js';
import { type Mariadb, mariadbPassword, mariadbUser } from './mariadb.js';

const waiting = { timeout: 30_000, interval: 20 };

/** Makes a database with a day of that many bookings. The server makes them, for there may be very many. */
export async function createMariadbBookings(mariadb: Mariadb, count: number): Promise<BookingsDatabase> {
  const url = await mariadb.createDatabase();
  // What is committed shall outlive a server that is killed, and no disk is waited for.
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
      // It may lose its server.
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
