import { once, setMaxListeners } from 'node:events';
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** What the stand-in does with a request. */
export type StandInAnswer =
  | {
      readonly kind: 'json';
      readonly status?: number;
      readonly body: unknown;
      readonly headers?: OutgoingHttpHeaders;
      readonly delayMs?: number;
    }
  | {
      readonly kind: 'text';
      readonly status?: number;
      readonly body: string | Uint8Array;
      readonly headers?: OutgoingHttpHeaders;
      readonly delayMs?: number;
    }
  /** Never answers. */
  | { readonly kind: 'hang' }
  /** `mid-answer` sends the headers and the first half of a success. */
  | { readonly kind: 'drop'; readonly when: 'before-reading' | 'after-reading' | 'mid-answer' };

/** A booked hotel item as received, with the names of spec 2.5. */
export type ReceivedHotel = Readonly<Record<string, unknown>>;

export interface RecordedRequest {
  readonly method: string;
  readonly url: string;
  /** Names and values alternating, spelled as received. */
  readonly rawHeaders: readonly string[];
  /** Empty until it was read completely, and forever when the connection was dropped before reading. */
  readonly body: Buffer;
  /** When its headers arrived, in milliseconds since 1970. */
  readonly at: number;
}

type Recording = Omit<RecordedRequest, 'body'> & { body: Buffer };

/** A request as the handler sees it: the body is read on demand. */
export interface ArrivingRequest extends Omit<RecordedRequest, 'body'> {
  readBody(): Promise<Buffer>;
  /** The items of `Hotels`; none when the body holds no such list. */
  readHotels(): Promise<readonly ReceivedHotel[]>;
}

/** @param number counts the requests from 1, in the order of arrival */
export type StandInHandler = (
  request: ArrivingRequest,
  number: number,
) => StandInAnswer | Promise<StandInAnswer>;

export interface StandIn {
  /** With the version segment and without a trailing slash: `http://127.0.0.1:12345/api/3.0`. */
  readonly baseUrl: string;
  readonly port: number;
  /** Every request, in the order of arrival. */
  readonly requests: readonly RecordedRequest[];
  /** How many connections were opened. */
  readonly connections: number;
  /** The hotels of all requests that were answered with success, in the order of the answers. */
  accepted(): readonly ReceivedHotel[];
  /** Waits until this many requests have been read completely. */
  received(count: number): Promise<void>;
  /** Cuts all connections and stops listening. */
  close(): Promise<void>;
}

/** Headers by their names in small letters. */
export function toHeaders(raw: readonly string[]): Record<string, string> {
  const pairs = raw.flatMap((name, index) => (index % 2 === 0 ? [[name.toLowerCase(), raw[index + 1]]] : []));
  return Object.fromEntries(pairs);
}

/** The service's success. (Spec 2.1.) */
export const success: StandInAnswer = {
  kind: 'json',
  body: { Status: true, Message: 'Success', StatusCode: 2000 },
};

/** A refusal inside an HTTP 200. */
export function refusal(statusCode: number, message = 'Refused'): StandInAnswer {
  return { kind: 'json', body: { Status: false, Message: message, StatusCode: statusCode } };
}

/**
 * Adds what the service received to each answer that is not a success, with its secrets and a guest's name, as some
 * services do. So every test of a failing service also tests that nothing of it leaks.
 */
export function quotingRequests(handler: StandInHandler): StandInHandler {
  return async (request, number) => {
    const answer = await handler(request, number);
    if (answer.kind === 'hang' || answer.kind === 'drop' || isSuccess(answer)) return answer;
    const [hotel] = await request.readHotels();
    const quoted = ` (received: ${hotel?.BookingClientName ?? 'Guest 1'}, ${request.url}, ${request.rawHeaders.join(' ')})`;
    if (answer.kind === 'text')
      return typeof answer.body === 'string' ? { ...answer, body: answer.body + quoted } : answer;
    const { body } = answer;
    return isEnvelope(body) ? { ...answer, body: { ...body, Message: body.Message + quoted } } : answer;
  };
}

function isEnvelope(body: unknown): body is { readonly Message: string } {
  return typeof body === 'object' && body !== null && 'Message' in body && typeof body.Message === 'string';
}

/**
 * A small HTTP service on a free port of 127.0.0.1 that runs the handler and records what it received.
 * When the handler throws, it answers with 599, so that a mistake in a test shows.
 */
export async function startStandIn(handler: StandInHandler = () => success): Promise<StandIn> {
  const requests: Recording[] = [];
  const accepted: ReceivedHotel[] = [];
  const open = new Set<Socket>();
  const closing = new AbortController();
  // Each delayed answer listens to it.
  setMaxListeners(0, closing.signal);
  let connections = 0;
  let readWhole = 0;
  let wake = () => {};
  let nextRead = new Promise<void>((resolve) => {
    wake = resolve;
  });

  const serve = async (incoming: IncomingMessage, response: ServerResponse) => {
    const { method = '', url = '', rawHeaders } = incoming;
    const record: Recording = { method, url, rawHeaders, body: Buffer.alloc(0), at: Date.now() };
    requests.push(record);

    let reading: Promise<Buffer> | undefined;
    const readBody = () => {
      reading ??= collect(incoming).then((body) => {
        record.body = body;
        readWhole += 1;
        wake();
        nextRead = new Promise((resolve) => {
          wake = resolve;
        });
        return body;
      });
      return reading;
    };
    const readHotels = async () => parseHotels(await readBody());

    const arriving = { method, url, rawHeaders, at: record.at, readBody, readHotels };
    const answer = await askHandler(handler, arriving, requests.length);
    if (answer.kind === 'drop' && answer.when === 'before-reading') {
      incoming.socket.destroy();
      return;
    }
    const hotels = await readHotels();
    switch (answer.kind) {
      case 'hang':
        return;
      case 'drop':
        if (answer.when === 'mid-answer') await sendHalf(response);
        incoming.socket.destroy();
        return;
      case 'json':
      case 'text': {
        if (answer.delayMs !== undefined) await delay(answer.delayMs, undefined, { signal: closing.signal });
        if (response.destroyed) return;
        if (isSuccess(answer)) accepted.push(...hotels);
        const type = answer.kind === 'json' ? 'application/json' : 'text/html; charset=utf-8';
        response.writeHead(answer.status ?? 200, { 'content-type': type, ...answer.headers });
        response.end(answer.kind === 'json' ? JSON.stringify(answer.body) : answer.body);
        return;
      }
    }
  };

  const server = createServer((incoming, response) => {
    // Node's own would show the real time where a test has set the clock.
    response.setHeader('date', new Date().toUTCString());
    // A client that disconnects midway is what many tests are about.
    serve(incoming, response).catch(() => response.destroy());
  });
  server.on('connection', (socket) => {
    connections += 1;
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    baseUrl: `http://127.0.0.1:${port}/api/3.0`,
    port,
    requests,
    get connections() {
      return connections;
    },
    accepted: () => [...accepted],
    async received(count) {
      while (readWhole < count) await nextRead;
    },
    async close() {
      if (closing.signal.aborted) return;
      closing.abort();
      const closed = once(server, 'close');
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

async function askHandler(
  handler: StandInHandler,
  request: ArrivingRequest,
  number: number,
): Promise<StandInAnswer> {
  try {
    return await handler(request, number);
  } catch (error) {
    return { kind: 'text', status: 599, body: `the handler of the stand-in threw: ${String(error)}` };
  }
}

async function collect(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function parseHotels(body: Buffer): readonly ReceivedHotel[] {
  try {
    const parsed: unknown = JSON.parse(body.toString());
    const hotels = typeof parsed === 'object' && parsed !== null && 'Hotels' in parsed ? parsed.Hotels : [];
    return Array.isArray(hotels) ? hotels : [];
  } catch {
    return [];
  }
}

function isSuccess(answer: Extract<StandInAnswer, { kind: 'json' | 'text' }>): boolean {
  if (answer.kind !== 'json' || (answer.status ?? 200) !== 200) return false;
  const { Status, StatusCode } = { ...(answer.body as { Status?: unknown; StatusCode?: unknown }) };
  return Status === true && StatusCode === 2000;
}

async function sendHalf(response: ServerResponse): Promise<void> {
  const bytes = Buffer.from(JSON.stringify({ Status: true, Message: 'Success', StatusCode: 2000 }));
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length });
  await new Promise<void>((resolve) => {
    response.write(bytes.subarray(0, bytes.length / 2), () => resolve());
  });
}
