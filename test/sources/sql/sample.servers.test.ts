import { columns, day, describeSampleContract, guest, secret, settingsOf } from '../../contracts/sample.js';
import { type Engine, useEngines } from './engines.js';

/** The server's time limit is what ends a query that nobody waits for. */
const open = (url: string, query: string) =>
  settingsOf({ kind: 'sql', url, query, columns, timeoutSeconds: 10 });

/** How each writes a day of numbered hotels, one booking, and a query that takes minutes. */
const queriesOf: Readonly<Record<string, (records: number) => { many: string; rest: string; slow: string }>> =
  {
    PostgreSQL(records) {
      const rest = `WHERE :day::text = '${day.iso}'`;
      const many = `SELECT 6 + n AS hotel, '${guest}' AS guest FROM generate_series(1, ${records}) AS n ${rest} ORDER BY n -- end`;
      return { many, rest, slow: `SELECT pg_sleep(600)::text AS hotel, 1 AS guest ${rest}` };
    },
    MariaDB(records) {
      const rest = `FROM dual WHERE :day = '${day.iso}'`;
      const many = `SELECT 6 + seq AS hotel, '${guest}' AS guest FROM seq_1_to_${records} WHERE :day = '${day.iso}' ORDER BY seq`;
      return { many, rest, slow: `SELECT SLEEP(600) AS hotel, 1 AS guest ${rest}` };
    },
  };

function describeSample(engine: Engine): void {
  const { name, createDatabase, change } = engine;
  const queries = (records = 1) => queriesOf[name]?.(records) ?? { many: '', rest: '', slow: '' };
  const { rest, slow } = queries();
  const place = async (query: string) => {
    const url = await createDatabase();
    return { settings: open(url, query), url, held: async () => (await engine.listSessions(url)).length };
  };
  const settingsFor = async (query: string) => (await place(query)).settings;

  describeSampleContract(`a query of ${name}`, {
    place: (records) => place(queries(records).many),
    broken: {
      'a wrong password': [
        'login-refused',
        async () => open(change(await createDatabase(), { password: secret }), `SELECT 1 AS hotel ${rest}`),
        'refused',
      ],
      'no server': [
        'unreadable',
        async () => open(change(await createDatabase(), { port: 1 }), `SELECT 1 AS hotel ${rest}`),
        'passing',
      ],
      'a missing database': [
        'missing',
        async () => open(`${await createDatabase()}_else`, `SELECT 1 AS hotel, 1 AS guest ${rest}`),
      ],
      'a missing column': ['unreadable', () => settingsFor(`SELECT 1 AS hotel, nothing AS guest ${rest}`)],
      ...(name === 'PostgreSQL' && {
        'a cell that its message quotes': [
          'unreadable',
          () => settingsFor(`SELECT '${guest}'::int AS hotel, 1 AS guest ${rest}`),
        ],
      }),
    },
    async placeSilent() {
      const placed = await place(slow);
      const isAsked = (query: string) => /^FETCH|SLEEP/.test(query);
      return { ...placed, asked: async () => (await engine.listSessions(placed.url)).some(isAsked) };
    },
  });
}

for (const engine of useEngines()) describeSample(engine);
