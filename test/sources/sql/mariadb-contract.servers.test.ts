import { vi } from 'vitest';
import { serviceFields } from '../../../src/booking/booking.js';
import { createSqlSource } from '../../../src/sources/sql/sql-source.js';
import { describeSourceContract, type IntendedRecord, type SourceDriver } from '../../contracts/source.js';
import { mariadbPassword, mariadbUser } from '../../support/mariadb.js';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.js';
import { useMariadb } from '../../support/use-servers.js';
import { countArriving, onceForRows, readDay, rowsOfDays, rowsWithOtherDays } from './day-table.js';

const mariadb = useMariadb();

/** A database with these rows, and the bytes of their day. */
const makeTable = onceForRows(async (tableRows) => {
  const url = await mariadb().createDatabase();
  await mariadb().query(
    url,
    `CREATE TABLE bookings (booked_on date, place int, ${serviceFields.map((field) => `${field} text`).join(', ')},
      PRIMARY KEY (booked_on, place))`,
  );
  await mariadb().query(
    url,
    `CREATE FUNCTION refuse(name text) RETURNS int
      BEGIN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = name; RETURN 1; END`,
  );
  const rows = tableRows.map(({ bookedOn, place, cells }) => [bookedOn, place, ...cells]);
  for (let from = 0; from < rows.length; from += 5_000) {
    await mariadb().query(url, 'INSERT INTO bookings VALUES ?', [rows.slice(from, from + 5_000)]);
  }
  const taken = countArriving(Number(new URL(url).port));
  await readDay({ url, query: queryOf(0) });
  vi.restoreAllMocks();
  return { url, dayBytes: taken() };
});

const queryOf = (breaks: 0 | 1) => `SELECT *,
  IF(${breaks} AND place = 40000, refuse(BookingClientName), 1) AS broken
  FROM bookings WHERE booked_on = :day ORDER BY booked_on, place`;

type Breakage = 'a row that quotes its guest' | 'a lost connection';

function createMariadbDriver(breakage: Breakage): SourceDriver {
  let proxy: TcpProxy | undefined;
  async function prepare(
    records: readonly IntendedRecord[],
    isBroken: boolean,
    tableRows = rowsWithOtherDays(records),
  ) {
    const { url, dayBytes } = await makeTable(tableRows);
    const options = { url, query: queryOf(isBroken && breakage === 'a row that quotes its guest' ? 1 : 0) };
    const taken = countArriving(Number(new URL(url).port));
    if (isBroken && breakage === 'a lost connection') {
      const passing = await startTcpProxy(mariadb().port);
      proxy = passing;
      passing.beforePassing(() => {
        if (passing.happened.bytesToClient > 1_000_000) passing.cutAll();
      });
    }
    return {
      source: createSqlSource(proxy ? { ...options, url: mariadb().urlWith(url, proxy) } : options),
      places: records.map((_, index) => index + 1),
      secrets: [mariadbPassword, encodeURIComponent(mariadbPassword), mariadbUser],
      taken: () => taken() / dayBytes,
      held: async () => {
        const [row] = await mariadb().query(
          url,
          `SELECT COUNT(*) AS count FROM information_schema.processlist WHERE user = '${mariadbUser}'`,
        );
        return Number(row?.count);
      },
    };
  }
  return {
    prepare: (records) => prepare(records, false),
    prepareBroken: (records) => prepare(records, true),
    prepareDays: (days) => prepare([], false, rowsOfDays(days)),
    async dispose() {
      vi.restoreAllMocks();
      await proxy?.stop();
      proxy = undefined;
    },
  };
}

describeSourceContract('mariadb, with a row that quotes its guest', () =>
  createMariadbDriver('a row that quotes its guest'),
);
describeSourceContract(
  'mariadb, with a connection that is lost',
  () => createMariadbDriver('a lost connection'),
  {
    among: /breaks/,
  },
);
