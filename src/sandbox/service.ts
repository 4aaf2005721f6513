import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Sandbox {
  /** To be used as `service.baseUrl`. */
  readonly baseUrl: string;
  /** Bookings taken for review so far. */
  readonly reviewed: number;
  close(): Promise<void>;
}

export interface SandboxOptions {
  readonly apiKey: string;
  readonly accountId: string;
}

const base = '/api/3.0';
const reviewPath = `${base}/hotels/ReviewMappingsOfBookedHotels`;

/**
 * Starts a stand-in of the mapping service on a free port of this machine: it takes bookings for review (spec 4.2)
 * and checks what can be checked by their form.
 */
export async function startSandbox({ apiKey, accountId }: SandboxOptions): Promise<Sandbox> {
  let reviewed = 0;
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    if (request.headers.apikey !== apiKey || request.headers.accountid !== accountId) {
      return send(response, 403, { Status: false, Message: 'Invalid account or key', StatusCode: 2003 });
    }
    if (request.method !== 'POST' || request.url !== reviewPath) {
      return send(response, 404, { Status: false, Message: 'Not found', StatusCode: 2002 });
    }
    const hotels = parseHotels(body);
    if (!hotels) return send(response, 200, { Status: false, Message: 'Invalid request', StatusCode: 2002 });
    if (hotels.length === 0)
      return send(response, 200, { Status: false, Message: 'No hotels', StatusCode: 2021 });
    if (!hotels.every(isHotel)) {
      return send(response, 200, { Status: false, Message: 'Invalid hotel data', StatusCode: 2009 });
    }
    reviewed += hotels.length;
    return send(response, 200, { Status: true, Message: 'Hotels were taken for review', StatusCode: 2000 });
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}${base}`,
    get reviewed() {
      return reviewed;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

function parseHotels(body: string): unknown[] | undefined {
  try {
    const parsed = JSON.parse(body) as { Hotels?: unknown } | null;
    return Array.isArray(parsed?.Hotels) ? parsed.Hotels : undefined;
  } catch {
    return undefined;
  }
}

function isHotel(item: unknown): boolean {
  return (
    typeof item === 'object' && item !== null && 'ServiceId' in item && Number.isSafeInteger(item.ServiceId)
  );
}

function send(response: ServerResponse, status: number, envelope: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(envelope));
}
