import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { createBusinessDay } from '../src/booking/business-day.js';
import { openSsh } from '../test/support/open-ssh.js';
import { judgePeak, runMeasured } from './peak-memory.js';
import { writeBookings } from './usual-day.js';

/**
 * The resident memory of `hotel-review run` for a day of a million bookings by file, through a real sshd, result and
 * archive included. The service is a few lines in this process that mark every hundredth booking as affected.
 */
const rows = Number(process.argv[2] ?? 1_000_000);
const limitMb = 300;
if (openSsh.needs !== undefined) throw new Error(`this benchmark ${openSsh.needs}`);
const day = createBusinessDay('2026-11-20', 'Europe/Madrid');
const folder = await mkdtemp(join(tmpdir(), 'hotel-review-bench-'));
const ssh = await openSsh.start();
const service = createServer(async (request, response) => {
  const { searchParams } = new URL(request.url ?? '', 'http://service');
  const path = searchParams.get('ftpFilePath');
  request.resume();
  if (path !== null) await writeResult(ssh.disk(path));
  response
    .writeHead(200, { 'Content-Type': 'application/json' })
    .end(JSON.stringify({ Status: true, Message: 'Success', StatusCode: 2000 }));
});
await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));

await writeBookings(join(folder, 'bookings.csv'), { day, count: rows, seed: 7 });
const configuration = join(folder, 'hotel-review.yaml');
await writeFile(
  configuration,
  JSON.stringify({
    service: {
      baseUrl: `http://127.0.0.1:${(service.address() as AddressInfo).port}`,
      apiKey: 'bench',
      accountId: 'bench',
      timeoutSeconds: 300,
    },
    source: { kind: 'csv', path: 'bookings.csv' },
    delivery: 'file',
    file: {
      sftp: {
        host: '127.0.0.1',
        port: ssh.port,
        username: ssh.login.username,
        privateKeyFile: ssh.login.privateKeyFile,
        hostKey: ssh.fingerprints,
        root: ssh.root,
      },
      resultPollSeconds: 0.2,
    },
  }),
);
const started = performance.now();
const { exitCode, peakMb } = await runMeasured(['run', '--day', day.iso, '--config', configuration]);
console.log(`\n${rows} bookings by file in ${((performance.now() - started) / 1000).toFixed(1)} s`);
const holds = judgePeak(`${rows} bookings by file`, peakMb, limitMb);
service.close();
service.closeAllConnections();
await ssh.stop();
await rm(folder, { recursive: true });
process.exitCode = exitCode === 0 && holds ? 0 : 1;

async function writeResult(input: string): Promise<void> {
  const output = input.replace(/\.csv$/, '_Result.csv');
  await pipeline(
    createInterface({ input: createReadStream(input), crlfDelay: Number.POSITIVE_INFINITY }),
    async function* (lines: AsyncIterable<string>) {
      let number = 0;
      for await (const line of lines) {
        const verdict = number === 0 ? 'IsCorrectMapping' : number % 100 === 0 ? 'False' : 'True';
        yield `${line},${verdict}\n`;
        number += 1;
      }
    },
    createWriteStream(`${output}.tmp`),
  );
  await rename(`${output}.tmp`, output);
}
