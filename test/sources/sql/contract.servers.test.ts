import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { pipeline } from 'node:stream';
import { onTestFinished } from 'vitest';
import { serviceFields } from '../../../src/booking/booking.js';
import { createSqlSource } from '../../../src/sources/sql/sql-source.js';
import { type DayOfRecords, describeSourceContract } from '../../contracts/source.js';
import { type Engine, useEngines } from './engines.js';

const rowsOf = ({ day: { iso }, records }: DayOfRecords) =>
  records.map((record, index) => [iso, index + 1, ...serviceFields.map((field) => record[field] ?? null)]);

/** On the wire, about. */
const rowBytes = 1_150;

/** The error of a row that cannot be read quotes its guest. The filler is more than the sockets hold. */
const queryOf = ({ name }: Engine, breaks: boolean) => {
  const bad = `${breaks ? 1 : 0} = 1 AND place = 40000`;
  return name === 'PostgreSQL'
    ? `SELECT *, CASE WHEN ${bad} THEN "BookingClientName"::int END AS broken, repeat('x', 1000) AS filler
       FROM (SELECT * FROM bookings WHERE booked_on = :day ORDER BY place OFFSET 0) AS day`
    : `SELECT *, IF(${bad}, refuse(BookingClientName), 1) AS broken, REPEAT('x', 1000) AS filler
       FROM bookings WHERE booked_on = :day ORDER BY place`;
};
const refuse = `CREATE FUNCTION refuse(name text) RETURNS int
  BEGIN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = name; RETURN 1; END`;

/** Makes a database only the first time these days are requested: most checks read the same ones. */
function openDatabases(engine: Engine) {
  const made = new Map<string, Promise<string>>();
  const make = async (days: readonly DayOfRecords[]) => {
    const url = await engine.createDatabase();
    await engine.fill(url, days.flatMap(rowsOf));
    if (engine.name === 'MariaDB') await engine.query(url, refuse);
    return url;
  };
  return (days: readonly DayOfRecords[]) => {
    const key = createHash('sha256').update(JSON.stringify(days)).digest('hex');
    const url = made.get(key) ?? make(days);
    made.set(key, url);
    return url;
  };
}

/** Passes on what a server sends only as fast as it is taken, and counts it. */
async function startRelay(target: number) {
  let passed = 0;
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    upstream.on('data', (chunk) => {
      passed += chunk.length;
    });
    pipeline(client, upstream, client, () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, passed: () => passed };
}

for (const engine of useEngines()) {
  const openDatabase = openDatabases(engine);
  describeSourceContract(engine.name, async (days, breaks = false) => {
    const database = await openDatabase(days);
    const relay = await startRelay(engine.port);
    const records = days[0]?.records ?? [];
    return {
      source: createSqlSource({
        url: engine.change(database, { port: relay.port }),
        query: queryOf(engine, breaks),
      }),
      places: records.map((_, index) => index + 1),
      secrets: engine.secrets,
      taken: () => relay.passed() / (rowBytes * records.length),
      held: async () => (await engine.listSessions(database)).length,
    };
  });
}
