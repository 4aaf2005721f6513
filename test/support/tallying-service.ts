import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { ReceivedHotel } from './http-stand-in.js';
import { makeBookings } from './made-bookings.js';

/** What a service received of a day of made bookings. */
export interface Tally {
  /** How many different bookings arrived, each unchanged. */
  readonly bookings: number;
  /** How many arrived again. */
  readonly repeated: number;
  /** How many arrived that were never made, or that were changed in transit. */
  readonly others: number;
}

export interface TallyingService {
  /** With the version segment. */
  readonly baseUrl: string;
  tally(): Tally;
}

const success = JSON.stringify({ Status: true, Message: 'Success', StatusCode: 2000 });

/**
 * A stand-in of the service for large days: it accepts every batch and keeps one bit per booking, by the number in
 * its reference. It ends with the test.
 *
 * @param count of the made bookings, numbered from 1
 */
export async function startTallyingService(count: number): Promise<TallyingService> {
  const seen = new Uint8Array(count + 1);
  const tally = { bookings: 0, repeated: 0, others: 0 };
  const take = (hotel: ReceivedHotel) => {
    const number = Number(String(hotel.BookingReferenceId).slice('BR-'.length));
    if (seen[number] === undefined || !isAsMade(hotel, number)) tally.others += 1;
    else if (seen[number] === 1) tally.repeated += 1;
    else {
      seen[number] = 1;
      tally.bookings += 1;
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
  return { baseUrl: `http://127.0.0.1:${port}/api/3.0`, tally: () => ({ ...tally }) };
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
