import { serviceFields } from '../../../src/booking/booking.js';
import { mariadbPassword, mariadbUser } from '../../support/mariadb.js';
import { password, superuser } from '../../support/postgres.js';
import { useMariadb, usePostgres } from '../../support/use-servers.js';

type Changes = { readonly user?: string; readonly password?: string; readonly port?: number };
type Row = readonly (string | number | null)[];

/** A database that a source can read, and how its tests speak to it. */
export interface Engine {
  readonly name: string;
  /** Neither may be in a message. */
  readonly secrets: readonly string[];
  readonly port: number;
  createDatabase(): Promise<string>;
  /** The same database with another login, or behind another port. */
  change(url: string, changes: Changes): string;
  query(url: string, sql: string): Promise<Record<string, unknown>[]>;
  restart(): Promise<void>;
  /** What the server is doing for the source. */
  listSessions(url: string): Promise<readonly string[]>;
  /** A table `bookings` with `booked_on`, `place` and all fields. */
  fill(url: string, rows: readonly Row[]): Promise<void>;
  /** A query with the rows 1 to this number: `serviceid`, and a text of that many characters. */
  rows(count: number, characters?: number): string;
  /** A query that takes minutes, and the words by which it is seen among the sessions. */
  readonly endless: readonly [query: string, words: string];
}

/** Both, for a suite that is skipped where they are missing. */
export function useEngines(): readonly Engine[] {
  const [postgres, mariadb] = [usePostgres(), useMariadb()];
  return [
    {
      name: 'PostgreSQL',
      secrets: [password, superuser],
      get port() {
        return postgres().port;
      },
      createDatabase: async () => postgres().overTcp(await postgres().createDatabase()),
      change: (url, changes) => postgres().overTcp(url, changes),
      query: (url, sql) => postgres().query(url, sql),
      restart: () => postgres().restartImmediate(),
      async listSessions(url) {
        const sessions = await postgres().query(
          url,
          `SELECT query FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'hotel-review'`,
        );
        return sessions.map(({ query }) => String(query));
      },
      async fill(url, rows) {
        const columns = serviceFields.map((field) => `"${field}" text`).join(', ');
        await postgres().query(
          url,
          `CREATE TABLE bookings (booked_on date, place int, ${columns}, PRIMARY KEY (booked_on, place))`,
        );
        const cells = serviceFields.map((_, at) => `r->>${at + 2}`).join(', ');
        await postgres().query(
          url,
          `INSERT INTO bookings SELECT (r->>0)::date, (r->>1)::int, ${cells} FROM json_array_elements($1) AS r`,
          [JSON.stringify(rows)],
        );
      },
      rows: (count, characters = 1) =>
        `SELECT n AS serviceid, repeat('x', ${characters}) AS note FROM generate_series(1, ${count}) AS n WHERE :day::text <> ''`,
      endless: ['SELECT 1 AS serviceid, pg_sleep(600) WHERE :day::text IS NOT NULL', 'FETCH'],
    },
    {
      name: 'MariaDB',
      secrets: [mariadbPassword, encodeURIComponent(mariadbPassword), mariadbUser],
      get port() {
        return mariadb().port;
      },
      createDatabase: () => mariadb().createDatabase(),
      change: (url, changes) => mariadb().urlWith(url, changes),
      query: (url, sql) => mariadb().query(url, sql),
      async restart() {
        await mariadb().stop();
        await mariadb().start();
      },
      async listSessions(url) {
        const sessions = await mariadb().query(
          url,
          `SELECT COALESCE(info, '') AS query FROM information_schema.processlist WHERE user = '${mariadbUser}'`,
        );
        return sessions.map(({ query }) => String(query));
      },
      async fill(url, rows) {
        const columns = serviceFields.map((field) => `${field} text`).join(', ');
        await mariadb().query(
          url,
          `CREATE TABLE bookings (booked_on date, place int, ${columns}, PRIMARY KEY (booked_on, place))`,
        );
        for (let from = 0; from < rows.length; from += 5_000)
          await mariadb().query(url, 'INSERT INTO bookings VALUES ?', [rows.slice(from, from + 5_000)]);
      },
      rows: (count, characters = 1) =>
        `SELECT seq AS serviceid, REPEAT('x', ${characters}) AS note FROM seq_1_to_${count} WHERE :day <> ''`,
      // A sleeping server notices a lost client; a computing one does not.
      endless: [
        'SELECT MAX(a.seq ^ b.seq) AS serviceid FROM seq_1_to_10000000 a, seq_1_to_10000000 b WHERE :day IS NOT NULL',
        'MAX(',
      ],
    },
  ];
}
