import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { DayFolder } from '../support/day-folder.js';
import type { ReceivedHotel } from '../support/http-stand-in.js';
import { makeBookings } from '../support/made-bookings.js';

/** The kernel's own measurement of the process, including program and libraries, written when it ends. (Linux.) */
const account = `
import { readFileSync, writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
if (isMainThread) process.on('exit', () => {
  writeFileSync(process.env.PEAK_MEMORY_FILE, /VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]);
});`;

/**
 * Runs a day as `runDay` does, in a process with this heap limit in megabytes. Returns how it ended and its peak
 * resident memory in megabytes.
 *
 * @throws Error when the process was killed
 */
export async function runMeasuredDay(folder: DayFolder, { heapMb }: { readonly heapMb: number }) {
  const file = join(folder.path, 'peak-memory');
  const counting = `--import=data:text/javascript,${encodeURIComponent(account)}`;
  const result = await folder.runDay({
    asProcess: true,
    env: { NODE_OPTIONS: `--max-old-space-size=${heapMb} ${counting}`, PEAK_MEMORY_FILE: file },
  });
  const kilobytes = await readFile(file, 'utf8').catch(() => undefined);
  if (kilobytes === undefined) throw new Error(`it ended without an account: ${result.stderr}`);
  return { result, peakMb: Number(kilobytes) / 1024 };
}

/** What a service received of a day of made bookings. */
export interface ArrivalCounts {
  /** How many different bookings arrived, each unchanged. */
  readonly bookings: number;
  /** How many arrived again. */
  readonly repeated: number;
  /** How many arrived that were never made, or that were changed in transit. */
  readonly others: number;
}

export interface CountingService {
  /** With the version segment. */
  readonly baseUrl: string;
  counts(): ArrivalCounts;
}

const success = JSON.stringify({ Status: true, Message: 'Success', StatusCode: 2000 });

/**
 * A stand-in for the service on large days: it accepts every batch and keeps one bit per booking, by the number in
 * its reference. It ends with the test.
 *
 * @param count of the made bookings, numbered from 1
 */
export async function startCountingService(count: number): Promise<CountingService> {
  const seen = new Uint8Array(count + 1);
  const counts = { bookings: 0, repeated: 0, others: 0 };
  const take = (hotel: ReceivedHotel) => {
    const number = Number(String(hotel.BookingReferenceId).slice('BR-'.length));
    if (seen[number] === undefined || !isAsMade(hotel, number)) counts.others += 1;
    else if (seen[number] === 1) counts.repeated += 1;
    else {
      seen[number] = 1;
      counts.bookings += 1;
    }
  };
  const server = createServer((request, response) => {
    void readHotels(request).then((hotels) => {
      for (const hotel of hotels) take(hotel);
      response.writeHead(200, { 'content-type': 'application/json' }).end(success);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const { port } = server.address() as AddressInfo;
  return { baseUrl: `http://127.0.0.1:${port}/api/3.0`, counts: () => ({ ...counts }) };
}

function isAsMade(hotel: ReceivedHotel, number: number): boolean {
  const [made] = makeBookings(1, { first: number });
  const entries = Object.entries(made ?? {});
  return (
    Object.keys(hotel).length === entries.length && entries.every(([name, value]) => hotel[name] === value)
  );
}

async function readHotels(request: IncomingMessage): Promise<readonly ReceivedHotel[]> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const { Hotels } = JSON.parse(Buffer.concat(chunks).toString()) as { readonly Hotels: ReceivedHotel[] };
  return Hotels;
}
