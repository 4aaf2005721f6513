import { vi } from 'vitest';
import { createSqlSource } from '../../../src/sources/sql/sql-source.js';
import { describeSourceContract, type IntendedRecord, type SourceDriver } from '../../contracts/source.js';
import { password, superuser } from '../../support/postgres.js';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.js';
import { usePostgres } from '../../support/use-servers.js';
import { countArriving, onceForRows, readDay, rowsOfDays, rowsWithOtherDays } from './day-table.js';

const postgres = usePostgres();
const insertRows = `INSERT INTO bookings SELECT r."place", r."bookedOn", r.cells->>0, r.cells->>1, r.cells->>2, r.cells->>3,
  r.cells->>4, r.cells->>5, r.cells->>6 FROM json_to_recordset($1) AS r(place int, "bookedOn" date, cells json)`;

/** A database with these rows, and the bytes of their day. */
const makeTable = onceForRows(async (rows) => {
  const url = await postgres().createDatabase();
  await postgres().query(
    url,
    `CREATE TABLE bookings (place int, booked_on date, "ServiceId" text, "BookingReferenceId" text,
      "BookingClientName" text, "ProviderName" text, "ProviderHotelId" text, "CheckInDate" text, "CheckOutDate" text,
      PRIMARY KEY (booked_on, place))`,
  );
  await postgres().query(url, insertRows, [JSON.stringify(rows)]);
  const taken = countArriving(postgres().port);
  await readDay({ url: postgres().overTcp(url), query: queryOf(false) });
  vi.restoreAllMocks();
  return { url, dayBytes: taken() };
});

const queryOf = (
  breaks: boolean,
) => `SELECT *, CASE WHEN ${breaks} AND place = 40000 THEN "BookingClientName"::int END AS broken
  FROM (SELECT * FROM bookings WHERE booked_on = :day ORDER BY place OFFSET 0) AS day`;

type Breakage = 'a row that quotes its guest' | 'a lost connection';

function createPostgresDriver(breakage: Breakage): SourceDriver {
  let proxy: TcpProxy | undefined;
  async function prepare(
    records: readonly IntendedRecord[],
    isBroken: boolean,
    tableRows = rowsWithOtherDays(records),
  ) {
    const { url, dayBytes } = await makeTable(tableRows);
    const passing = await startTcpProxy(postgres().port);
    proxy = passing;
    const breaks = isBroken && breakage === 'a row that quotes its guest';
    const options = {
      url: postgres().overTcp(url, { port: passing.port }),
      query: queryOf(breaks),
    };
    const taken = countArriving(passing.port);
    if (isBroken && breakage === 'a lost connection') {
      passing.beforePassing(() => {
        if (passing.happened.bytesToClient > 1_000_000) passing.cutAll();
      });
    }
    return {
      source: createSqlSource(options),
      places: records.map((_, index) => index + 1),
      secrets: [password, superuser],
      taken: () => taken() / dayBytes,
      held: () => countSessions(url),
    };
  }
  return {
    prepare: (records) => prepare(records, false),
    prepareBroken: (records) => prepare(records, true),
    prepareDays: (days) => prepare([], false, rowsOfDays(days)),
    async dispose() {
      vi.restoreAllMocks();
      await proxy?.stop();
    },
  };
}

async function countSessions(url: string): Promise<number> {
  const [row] = await postgres().query(
    url,
    `SELECT count(*)::int AS count FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'hotel-review'`,
  );
  return Number(row?.count);
}

describeSourceContract('postgres, with a row that quotes its guest', () =>
  createPostgresDriver('a row that quotes its guest'),
);
describeSourceContract(
  'postgres, with a connection that is lost',
  () => createPostgresDriver('a lost connection'),
  {
    among: /breaks/,
  },
);
