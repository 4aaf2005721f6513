// What a good engineer would write in one evening: reads the day's bookings, checks them, uploads them as a review file,
// starts the review, and prints how many are affected. It keeps no state: after an interruption it starts from scratch.
//
//   node evening-script.mjs SETTINGS.json
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { parse } from 'csv-parse';
import { stringify } from 'csv-stringify';
import SftpClient from 'ssh2-sftp-client';
import * as z from 'zod';

const settings = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const [year, month, dayOfMonth] = settings.day.split('-');
const reviewFile = join(settings.folder, 'review.csv');
const resultFile = join(settings.folder, 'result.csv');
const remoteFolder = `VerifyMappings/${month}${year}`;
const remoteFile = `${remoteFolder}/${dayOfMonth}${month}${year}.csv`;
const resultName = `${dayOfMonth}${month}${year}_Result.csv`;

const columns = {
  ServiceId: 'Service Mappings Id',
  BookingReferenceId: 'BookingReferenceId',
  BookingClientName: 'BookingClientName',
  ProviderName: 'ProviderName',
  ProviderHotelId: 'ProviderHotelId',
  CheckInDate: 'CheckInDate',
  CheckOutDate: 'CheckOutDate',
};
const text = z
  .string()
  .trim()
  .min(1)
  .regex(/^(?!(?:null|none|undefined|nan)$)/i);
const date = z.iso.date().transform((iso) => `${iso.slice(8)}${iso.slice(5, 7)}${iso.slice(0, 4)}`);
const bookingSchema = z.object({
  ServiceId: z.string().regex(/^\d+$/).transform(Number).pipe(z.int().positive()),
  BookingReferenceId: text,
  BookingClientName: text,
  ProviderName: text,
  ProviderHotelId: text,
  CheckInDate: date,
  CheckOutDate: date,
});

let rows = 0;
await pipeline(
  createReadStream(settings.bookings),
  parse({ columns: true, bom: true, skip_records_with_error: true }),
  async function* (records) {
    for await (const record of records) {
      const checked = bookingSchema.safeParse(record);
      if (!checked.success) continue;
      rows += 1;
      yield checked.data;
    }
  },
  stringify({ header: true, columns }),
  createWriteStream(reviewFile, { mode: 0o600 }),
);

const sftp = new SftpClient();
await sftp.connect({
  host: settings.sftp.host,
  port: settings.sftp.port,
  username: settings.sftp.username,
  privateKey: readFileSync(settings.sftp.privateKeyFile),
  hostVerifier: (key) =>
    settings.sftp.hostKeys.includes(
      `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`,
    ),
});
const at = (path) => `${settings.sftp.root}/${path}`;
await sftp.mkdir(at(remoteFolder), true);
await sftp.fastPut(reviewFile, at(remoteFile));
const [sent, arrived] = [await stat(reviewFile), await sftp.stat(at(remoteFile))];
if (sent.size !== arrived.size) throw new Error(`of ${sent.size} bytes ${arrived.size} arrived`);

const response = await fetch(
  `${settings.baseUrl}/hotels/ReviewMappingsOfBookedHotelsByFile?ftpFilePath=${encodeURIComponent(remoteFile)}`,
  { headers: { apikey: settings.apiKey, accountId: settings.accountId } },
);
const answer = await response.json();
if (!response.ok || answer.Status !== true)
  throw new Error(`refused: ${response.status} ${answer.StatusCode}`);

while (!(await sftp.list(at(remoteFolder))).some(({ name }) => name === resultName)) {
  await pause(settings.pollSeconds * 1000);
}
await sftp.fastGet(at(`${remoteFolder}/${resultName}`), resultFile);
await sftp.end();

let affected = 0;
for await (const record of createReadStream(resultFile).pipe(parse({ columns: true }))) {
  if (record.IsCorrectMapping === 'False') affected += 1;
}
console.log(JSON.stringify({ rows, affected }));
