import { describe } from 'vitest';
import { columns, day, describeSampleContract, guest, secret, settingsOf } from '../../contracts/sample.js';
import { mariadbUser } from '../../support/mariadb.js';
import { useMariadb, usePostgres } from '../../support/use-servers.js';

/** The server's time limit is what ends a query that nobody waits for. */
const open = (url: string, query: string) =>
  settingsOf({ kind: 'sql', url, query, columns, timeoutSeconds: 10 });

describe('PostgreSQL', () => {
  const postgres = usePostgres();
  const place = async (query: string) => {
    const url = await postgres().createDatabase();
    const listSessions = () =>
      postgres().query(
        url,
        `SELECT query FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'hotel-review'`,
      );
    const settings = open(postgres().overTcp(url), query);
    return { url, settings, listSessions, held: async () => (await listSessions()).length };
  };
  const ofDay = `:day::text = '${day.iso}'`;

  describeSampleContract('a query of PostgreSQL', {
    place: (records) =>
      place(
        `SELECT 6 + n AS hotel, '${guest}' AS guest FROM generate_series(1, ${records}) AS n WHERE ${ofDay} ORDER BY n -- end`,
      ),
    broken: {
      'a wrong password': [
        'login-refused',
        async () => {
          const { url } = await place(`SELECT 1 AS hotel WHERE ${ofDay}`);
          return open(postgres().overTcp(url, { password: secret }), `SELECT 1 AS hotel WHERE ${ofDay}`);
        },
      ],
      'a missing column': [
        'unreadable',
        async () => (await place(`SELECT 1 AS hotel,\n nothing AS guest WHERE ${ofDay}`)).settings,
      ],
      'a cell that its message quotes': [
        'unreadable',
        async () => (await place(`SELECT '${guest}'::int AS hotel, 1 AS guest WHERE ${ofDay}`)).settings,
      ],
    },
    async placeSilent() {
      const placed = await place(`SELECT pg_sleep(600)::text AS hotel, 1 AS guest WHERE ${ofDay}`);
      const asked = async () =>
        (await placed.listSessions()).some(({ query }) => String(query).startsWith('FETCH'));
      return { ...placed, asked };
    },
  });
});

describe('MariaDB', () => {
  const mariadb = useMariadb();
  const place = async (query: string) => {
    const url = await mariadb().createDatabase();
    const listSessions = () =>
      mariadb().query(
        url,
        `SELECT COALESCE(info, '') AS query FROM information_schema.processlist WHERE user = '${mariadbUser}'`,
      );
    return { url, settings: open(url, query), listSessions, held: async () => (await listSessions()).length };
  };
  const ofDay = `:day = '${day.iso}'`;

  describeSampleContract('a query of MariaDB', {
    place: (records) =>
      place(
        `SELECT 6 + seq AS hotel, '${guest}' AS guest FROM seq_1_to_${records} WHERE ${ofDay} ORDER BY seq`,
      ),
    broken: {
      'a missing database': [
        'missing',
        async () => {
          const { url } = await place(`SELECT 1 AS hotel FROM dual WHERE ${ofDay}`);
          return open(`${url}_else`, `SELECT 1 AS hotel, 1 AS guest FROM dual WHERE ${ofDay}`);
        },
      ],
      'a missing column': [
        'unreadable',
        async () => (await place(`SELECT 1 AS hotel, nothing AS guest FROM dual WHERE ${ofDay}`)).settings,
      ],
    },
    async placeSilent() {
      const placed = await place(`SELECT SLEEP(600) AS hotel, 1 AS guest FROM dual WHERE ${ofDay}`);
      const asked = async () =>
        (await placed.listSessions()).some(({ query }) => String(query).includes('SLEEP'));
      return { ...placed, asked };
    },
  });
});
