import { writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { useBookingsApi } from '../../sources/http/bookings-api.js';
import { sftpSettings } from '../../support/file-day.js';
import { day } from '../../support/made-bookings.js';
import type { Mariadb } from '../../support/mariadb.js';
import type { Postgres } from '../../support/postgres.js';
import { bucketName, type RunningS3Server } from '../../support/s3-server.js';
import type { RunningSftpServer } from '../../support/sftp-server.js';
import {
  type DifficultRecord,
  fieldNames,
  valuesOf,
  type WrittenDay,
  writeCsv,
  writeJson,
  writeNdjson,
} from './difficult-day.js';
import { byNumber, makeFolder, noFile, type PlacedDay } from './review-day.js';

const pageSize = 150;
const token = 'token-of-the-api';

/** What a page says of the next one, and how that one is requested. */
interface PagingStyle {
  readonly pagination: Readonly<Record<string, unknown>>;
  readonly offsetOf: (query: URLSearchParams) => number;
  /** Appended to the other members of the response. */
  readonly members?: (offset: number) => string;
  readonly headers?: (next: string) => Readonly<Record<string, string>>;
}

const after = (query: URLSearchParams) => Number(query.get('after'));

export const pagingStyles = {
  'by number': {
    pagination: { kind: 'page', parameter: 'page' },
    offsetOf: (query) => (Number(query.get('page')) - 1) * pageSize,
  },
  'by offset': {
    pagination: { kind: 'offset', parameter: 'skip' },
    offsetOf: (query) => Number(query.get('skip')),
  },
  'by cursor': {
    pagination: { kind: 'cursor', parameter: 'after', field: 'meta.next' },
    offsetOf: after,
    members: (offset) => `,"meta":{"next":${offset}}`,
  },
  'by link': {
    pagination: { kind: 'link' },
    offsetOf: after,
    headers: (next) => ({ link: `<${next}>; rel="next"` }),
  },
} satisfies Readonly<Record<string, PagingStyle>>;

/** An API that returns the day in pages, and nothing for another day. It ends with the test. */
export async function placeBehindApi(
  records: readonly DifficultRecord[],
  style: keyof typeof pagingStyles,
): Promise<PlacedDay> {
  const { pagination, offsetOf, members, headers }: PagingStyle = pagingStyles[style];
  const api = await useBookingsApi(({ url, headers: asked }, response) => {
    if (asked.authorization !== `Bearer ${token}`) {
      response.writeHead(401).end();
      return;
    }
    const isOfDay = url.searchParams.get('from') === '2026-11-19T23:00:00.000Z';
    const offset = offsetOf(url.searchParams);
    const page = isOfDay ? records.slice(offset, offset + pageSize) : [];
    const next = new URL(url);
    next.searchParams.set('after', String(offset + pageSize));
    const isLast = offset + pageSize >= records.length;
    const beside = isLast ? '' : (members?.(offset + pageSize) ?? '');
    response.writeHead(200, {
      'content-type': 'application/json',
      ...(isLast ? {} : headers?.(next.href)),
    });
    const list = page.map((record, index) => writeJson(record, offset + index)).join(',\n');
    response.end(`{"data":{"bookings":[${list}]},"page":${offset}${beside}}`);
  });
  const source = {
    ...noFile,
    kind: 'http',
    url: `${api.origin}/v1/bookings?from={dayStart}&to={dayEnd}`,
    headers: { Authorization: `Bearer ${token}` },
    records: 'data.bookings',
    pagination,
  };
  return { settings: { source }, recordAt: byNumber };
}

type Records = readonly DifficultRecord[];

export async function placeCsv(records: Records): Promise<PlacedDay> {
  const written = writeCsv(records);
  return { settings: { source: await layFile('csv', written.text) }, recordAt: byLine(written) };
}

export async function placeCsvInGzip(records: Records): Promise<PlacedDay> {
  const written = writeCsv(records);
  return { settings: { source: await layFile('csv', gzipSync(written.text)) }, recordAt: byLine(written) };
}

export async function placeNdjson(records: Records): Promise<PlacedDay> {
  const written = writeNdjson(records);
  return { settings: { source: await layFile('ndjson', written.text) }, recordAt: byLine(written) };
}

export async function placeInBucket(records: Records, { put, access }: RunningS3Server): Promise<PlacedDay> {
  const written = writeCsv(records);
  await put(`every/2026/11/${day}.csv.gz`, gzipSync(written.text));
  return {
    settings: { source: { kind: 'csv', path: `s3://${bucketName}/every/{day:yyyy/MM}/{day}.csv.gz` } },
    account: access(),
    recordAt: byLine(written),
  };
}

export async function placeOnSftpServer(records: Records, server: RunningSftpServer): Promise<PlacedDay> {
  const written = writeNdjson(records);
  writeFileSync(server.disk(`${day}.ndjson`), written.text);
  const { sftp } = sftpSettings(server, server.port) as { readonly sftp: Readonly<Record<string, unknown>> };
  const { host, port, root, hostKey: _, ...account } = sftp;
  return {
    settings: {
      source: {
        kind: 'ndjson',
        path: `sftp://${host}:${port}${root}/{day}.ndjson`,
        sftp: { ...account, hostKey: [...server.fingerprints] },
      },
    },
    recordAt: byLine(written),
  };
}

async function layFile(kind: 'csv' | 'ndjson', content: string | Uint8Array) {
  const folder = await makeFolder();
  await writeFile(join(folder, `bookings-${day}`), content);
  return { kind, path: join(folder, 'bookings-{day}') };
}

const byLine =
  ({ lines }: WrittenDay) =>
  (line: number) =>
    lines.indexOf(line);

/** Bigints are kept, except for some that become text or, where safe, numbers. Nothing is null or undefined. */
const code = (isTyped: boolean) => `
import { readFile } from 'node:fs/promises';
${isTyped ? "import type { Bookings } from 'hotel-review';\ntype Cell = string | null;\n" : ''}
const names = ${JSON.stringify(fieldNames)};

export ${isTyped ? 'const bookings: Bookings = async function*' : 'async function* bookings'} (day, { signal, options }) {
  if (day.iso !== '${day}') return;
  const rows${isTyped ? ': Cell[][]' : ''} = JSON.parse(await readFile(String(options.rows), { encoding: 'utf8', signal }));
  let atOnce${isTyped ? ': object[]' : ''} = [];
  for (const [index, row] of rows.entries()) {
    const cells = row.map((cell, at) => {
      if (cell === null) return index % 2 === 0 ? null : undefined;
      if (at > 1 || index % 5 === 0) return cell;
      return Number.isSafeInteger(Number(cell)) && index % 3 === 0 ? Number(cell) : BigInt(cell);
    });
    const booking = Object.fromEntries(names.map((name, at) => [name, cells[at]]));
    if (index < 100) {
      yield booking;
      continue;
    }
    atOnce.push(booking);
    if (atOnce.length === 170 || index === rows.length - 1) {
      yield atOnce;
      atOnce = [];
    }
  }
}
`;

export async function placeInModule(
  records: readonly DifficultRecord[],
  language: 'JavaScript' | 'TypeScript',
): Promise<PlacedDay> {
  const folder = await makeFolder();
  const rows = records.map((record) => valuesOf(record).map((value) => value?.toString() ?? null));
  await writeFile(join(folder, 'rows.json'), JSON.stringify(rows));
  const path = join(folder, language === 'TypeScript' ? 'bookings.ts' : 'bookings.mjs');
  await writeFile(path, code(language === 'TypeScript'));
  const source = { kind: 'module', path, options: { rows: join(folder, 'rows.json') } };
  return { settings: { source }, recordAt: byNumber };
}

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
export async function placeInPostgres(records: Records, postgres: Postgres): Promise<PlacedDay> {
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

export async function placeInMariadb(records: Records, mariadb: Mariadb): Promise<PlacedDay> {
  const url = await mariadb.createDatabase();
  await mariadb.query(
    url,
    `CREATE TABLE bookings (place int, booked_on date, hotel_id bigint, reference bigint unsigned, guest text,
      provider varchar(200), provider_hotel varchar(100), check_in text, check_out text)`,
  );
  await mariadb.query(url, 'INSERT INTO bookings VALUES ?', [rowsOf(records)]);
  return { settings: { source: { ...noFile, kind: 'sql', url, query, columns } }, recordAt: byNumber };
}
