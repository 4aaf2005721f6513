// What somebody who knows DuckDB would write in one evening: one query checks the day's bookings, drops duplicates and writes
// the review file; scp uploads it. It keeps no state: after an interruption it starts from scratch.
//
//   node duckdb-script.mjs SETTINGS.json
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';

const settings = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const { host, port, username, privateKeyFile, knownHostsFile, cipher, root } = settings.sftp;
const [year, month, dayOfMonth] = settings.day.split('-');
const remoteFolder = `VerifyMappings/${month}${year}`;
const remoteFile = `${remoteFolder}/${dayOfMonth}${month}${year}.csv`;
const remoteResult = `${remoteFolder}/${dayOfMonth}${month}${year}_Result.csv`;
const resultFile = join(settings.folder, 'result.csv');

const texts = ['BookingReferenceId', 'BookingClientName', 'ProviderName', 'ProviderHotelId'];
const dates = ['CheckInDate', 'CheckOutDate'];
const isPresent = (column) =>
  `trim(${column}) <> '' AND lower(trim(${column})) NOT IN ('null', 'none', 'undefined', 'nan')`;
const isDate = (column) => `try_cast(trim(${column}) AS DATE) IS NOT NULL`;

const run = promisify(execFile);
const scp = (...paths) =>
  run('scp', [
    ...['-q', '-r', '-P', `${port}`, '-i', privateKeyFile, '-c', cipher],
    ...['-o', `UserKnownHostsFile=${knownHostsFile}`, ...paths],
  ]);
const at = (path) => `${username}@${host}:${root}/${path}`;

const database = await (await DuckDBInstance.create()).connect();
await mkdir(join(settings.folder, remoteFolder), { recursive: true });
await database.run(`COPY (
  SELECT DISTINCT CAST(trim(ServiceId) AS BIGINT) AS "Service Mappings Id",
    ${texts.map((column) => `trim(${column}) AS ${column}`).join(', ')},
    ${dates.map((column) => `strftime(CAST(trim(${column}) AS DATE), '%d%m%Y') AS ${column}`).join(', ')}
  FROM read_csv('${settings.bookings}', header = true, all_varchar = true, ignore_errors = true)
  WHERE try_cast(trim(ServiceId) AS BIGINT) BETWEEN 1 AND 9007199254740991
    AND ${texts.map(isPresent).join(' AND ')} AND ${dates.map(isDate).join(' AND ')}
) TO '${join(settings.folder, remoteFile)}' (HEADER)`);
await scp(join(settings.folder, 'VerifyMappings'), at(''));

const response = await fetch(
  `${settings.baseUrl}/hotels/ReviewMappingsOfBookedHotelsByFile?ftpFilePath=${encodeURIComponent(remoteFile)}`,
  { headers: { apikey: settings.apiKey, accountId: settings.accountId } },
);
const answer = await response.json();
if (!response.ok || answer.Status !== true)
  throw new Error(`refused: ${response.status} ${answer.StatusCode}`);

for (;;) {
  const isThere = await scp(at(remoteResult), resultFile).then(
    () => true,
    () => false,
  );
  if (isThere) break;
  await pause(settings.pollSeconds * 1000);
}
const counted = await database.runAndReadAll(
  `SELECT count(*)::INTEGER AS rows, (count(*) FILTER (WHERE IsCorrectMapping = 'False'))::INTEGER AS affected
   FROM read_csv('${resultFile}', header = true, all_varchar = true)`,
);
console.log(JSON.stringify(counted.getRowObjects()[0]));
