import { join } from 'node:path';
import Libsql from 'libsql';
import { day } from '../made-bookings.js';
import type { Mariadb } from '../mariadb.js';
import type { Postgres } from '../postgres.js';
import type { HurtfulRecord } from './hurtful-day.js';
import { byNumber, type LaidDay, makeFolder, noFile } from './review-laid-day.js';
import { valuesOf } from './written-days.js';

type Records = readonly HurtfulRecord[];

const columns = {
  ServiceId: 'hotel_id',
  BookingReferenceId: 'reference',
  BookingClientName: 'guest',
  ProviderName: 'provider',
  ProviderHotelId: 'provider_hotel',
  CheckInDate: 'check_in',
  CheckOutDate: 'check_out',
};
const columnNames = Object.values(columns).join(', ');
const dayBefore = '2026-11-19';
const query = `SELECT ${columnNames} FROM bookings WHERE booked_on = :day ORDER BY place`;

/** Rows of a table: place, day and the seven fields. One is of another day. */
function rowsOf(records: Records) {
  const rows = records.map((record, index) => [index + 1, day, ...valuesOf(record)]);
  return [...rows, [0, dayBefore, 1n, 1n, 'of another day', null, null, null, null]];
}

/** Integers in integer columns, which hold more digits than JavaScript numbers. */
export async function layInPostgres(records: Records, postgres: Postgres): Promise<LaidDay> {
  const url = await postgres.createDatabase();
  await postgres.query(
    url,
    `CREATE TABLE bookings (place int, booked_on date, hotel_id bigint, reference bigint, guest text, provider varchar(200),
      provider_hotel text, check_in text, check_out text)`,
  );
  const rows = rowsOf(records).map((row) =>
    row.map((cell) => (typeof cell === 'bigint' ? String(cell) : cell)),
  );
  await postgres.query(
    url,
    `INSERT INTO bookings SELECT (r->>0)::int, (r->>1)::date, (r->>2)::bigint, (r->>3)::bigint, r->>4, r->>5, r->>6, r->>7,
      r->>8 FROM json_array_elements($1) AS r`,
    [JSON.stringify(rows.map((row) => row.map((cell) => cell ?? null)))],
  );
  const source = { ...noFile, kind: 'sql', url: postgres.overTcp(url), query, columns };
  return { settings: { source }, recordAt: byNumber };
}

export async function layInMariadb(records: Records, mariadb: Mariadb): Promise<LaidDay> {
  const url = await mariadb.createDatabase();
  await mariadb.query(
    url,
    `CREATE TABLE bookings (place int, booked_on date, hotel_id bigint, reference bigint unsigned, guest text,
      provider varchar(200), provider_hotel varchar(100), check_in text, check_out text)`,
  );
  await mariadb.query(url, 'INSERT INTO bookings VALUES ?', [rowsOf(records)]);
  return { settings: { source: { ...noFile, kind: 'sql', url, query, columns } }, recordAt: byNumber };
}

/** Untyped columns: the master id is an integer in one row and text in another. */
export async function layInSqlite(records: Records): Promise<LaidDay> {
  const path = join(await makeFolder(), 'bookings.db');
  const database = new Libsql(path);
  database.exec(`CREATE TABLE bookings (place INTEGER PRIMARY KEY, booked_on, ${columnNames}); BEGIN`);
  const insert = database.prepare('INSERT INTO bookings VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
  rowsOf(records).forEach((row, index) => {
    const [place, bookedOn, id, ...others] = row.map((cell) => cell ?? null);
    insert.run([place, bookedOn, index % 5 === 0 ? (id?.toString() ?? null) : id, ...others]);
  });
  database.exec('COMMIT');
  database.close();
  return {
    settings: { source: { ...noFile, kind: 'sql', url: `sqlite:${path}`, query, columns } },
    recordAt: byNumber,
  };
}
