import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, it } from 'vitest';
import { sendJson, useBookingsApi } from '../sources/http/bookings-api.js';
import { mariadbTable, postgresTable, tableSource } from '../support/bookings-table.js';
import { type DayFolder, day, prepareDay, type Settings } from '../support/day-folder.js';
import { expectEachOnce, expectReport } from '../support/expectations.js';
import { sftpSettings } from '../support/file-day.js';
import { csvOf, makeBookings } from '../support/made-bookings.js';
import { bucketName, useS3Server, writeVariables } from '../support/s3-server.js';
import { openSsh } from '../support/sftp-programs.js';
import { useMariadb, usePostgres, useSftpServer } from '../support/use-servers.js';

const bookings = makeBookings(60);
const ndjson = bookings.map((booking) => `${JSON.stringify(booking)}\n`).join('');

/** Reviews the day as a process, and expects that the service received its bookings and nothing else. */
async function expectReviewed(place: (folder: DayFolder) => Promise<Settings>): Promise<void> {
  const { standIn, folder } = await prepareDay({});
  await folder.configure({ source: { path: undefined, ...(await place(folder)) } });
  const result = await folder.runDay({ asProcess: true });
  expectReport(result, {
    exitCode: 0,
    state: 'succeeded',
    counts: { read: 60, accepted: 60, delivered: 60 },
  });
  expectEachOnce(standIn, bookings);
}

describe('a day is reviewed alike, whatever it is read from:', () => {
  const buckets = useS3Server();
  const sftp = useSftpServer(openSsh);

  it('an object in a bucket, a file on an SFTP server, an API, and a module in TypeScript', async () => {
    await expectReviewed(async (folder) => {
      await buckets().put(`${day}.csv.gz`, gzipSync(csvOf(60)));
      writeVariables(folder.path, buckets().access());
      return { kind: 'csv', path: `s3://${bucketName}/{day}.csv.gz` };
    });
    await expectReviewed(async () => {
      writeFileSync(sftp().disk(`${day}.ndjson`), ndjson);
      const { host, port, root, ...account } = sftpSettings(sftp(), sftp().port).sftp as Settings;
      return { kind: 'ndjson', path: `sftp://${host}:${port}${root}/{day}.ndjson`, sftp: account };
    });
    await expectReviewed(async () => {
      const api = await useBookingsApi(({ url, headers }, response) => {
        const from = Number(url.searchParams.get('skip'));
        const isAllowed = headers.authorization === 'Bearer t' && url.pathname === `/${day}`;
        sendJson(response, { list: isAllowed ? bookings.slice(from, from + 25) : [] });
      });
      const paging = { records: 'list', pagination: { kind: 'offset', parameter: 'skip' } };
      return { kind: 'http', url: `${api.origin}/{day}`, headers: { Authorization: 'Bearer t' }, ...paging };
    });
    await expectReviewed(async (folder) => {
      const code = `import { readFile } from 'node:fs/promises';
        export async function* bookings(day: { iso: string }, { options }: { options: Record<string, string> }) {
          yield* (await readFile(options.path + day.iso, 'utf8')).trim().split('\\n').map((line) => JSON.parse(line));
        }`;
      writeFileSync(join(folder.path, 'bookings.ts'), code);
      writeFileSync(join(folder.path, `rows-${day}`), ndjson);
      return { kind: 'module', path: 'bookings.ts', options: { path: join(folder.path, 'rows-') } };
    });
  });

  const postgres = usePostgres();
  const mariadb = useMariadb();

  it('a table of PostgreSQL, and one of MariaDB', async () => {
    await expectReviewed(async () => {
      const url = await postgres().createDatabase();
      await postgres().query(url, postgresTable(60));
      return tableSource({ url: postgres().overTcp(url) });
    });
    await expectReviewed(async () => {
      const url = await mariadb().createDatabase();
      await mariadb().query(url, mariadbTable(60));
      return tableSource({ url });
    });
  });
});
