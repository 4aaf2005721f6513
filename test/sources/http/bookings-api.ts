import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export type Answer = (request: ApiRequest, response: ServerResponse) => void;

export interface ApiRequest {
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  /** Counted from 1. */
  readonly number: number;
}

export interface BookingsApi {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  /** All requests, in order of arrival. */
  readonly requests: readonly ApiRequest[];
  /** The number of open connections. */
  open(): number;
}

/** An HTTP API on a free local port with scripted responses, which is closed with the test. */
export async function useBookingsApi(answer: Answer): Promise<BookingsApi> {
  const requests: ApiRequest[] = [];
  const sockets = new Set<Socket>();
  let origin = '';
  const server = createServer((incoming, response) => {
    const url = new URL(incoming.url ?? '', origin);
    const request = { url, headers: incoming.headers, number: requests.length + 1 };
    requests.push(request);
    answer(request, response);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onTestFinished(async () => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  });
  return { origin, requests, open: () => sockets.size };
}

export function sendJson(
  response: ServerResponse,
  body: unknown,
  headers: Readonly<Record<string, string | readonly string[]>> = {},
): void {
  response.writeHead(200, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

/** Sends the head and half of the body, then cuts the connection. */
export function sendHalf(response: ServerResponse, body: unknown): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length });
  response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
}
