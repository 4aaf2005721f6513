import { createWriteStream, type WriteStream } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FromService, ToService } from './start-json-service.js';

/**
 * A stand-in of the mapping service for delivery by body, in its own process: reads each body, parses it if configured,
 * counts `Hotels`, waits for the configured latency, and answers with success.
 */
const answer = JSON.stringify({ Status: true, Message: 'Success', StatusCode: 2000 });
const head = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(answer) };

let latencyMs = 0;
let parses = true;
let record: WriteStream | undefined;
let calls = 0;
let bookings = 0;
let firstCallAt: number | undefined;
let lastAnswerAt = 0;
let cpuBefore = process.cpuUsage();

const server = createServer((request, response) => void serve(request, response));
server.listen(0, '127.0.0.1', () => {
  send({ kind: 'listening', port: (server.address() as AddressInfo).port });
});

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  firstCallAt ??= performance.now();
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  calls += 1;
  bookings += parses ? countParsed(body) : countBraces(body);
  record?.write(Buffer.concat([body, Buffer.from('\n')]));
  if (latencyMs > 0) setTimeout(() => finish(response), latencyMs);
  else finish(response);
}

function countParsed(body: Buffer): number {
  const { Hotels } = JSON.parse(body.toString()) as { readonly Hotels: readonly unknown[] };
  return Hotels.length;
}

/** Each item and the whole body start with `{"`, which generated bookings contain nowhere else. */
function countBraces(body: Buffer): number {
  let count = -1;
  for (let at = body.indexOf('{"'); at !== -1; at = body.indexOf('{"', at + 2)) count += 1;
  return count;
}

function finish(response: ServerResponse): void {
  response.writeHead(200, head).end(answer);
  lastAnswerAt = performance.now();
}

process.on('message', (message: ToService) => {
  switch (message.kind) {
    case 'begin':
      latencyMs = message.latencyMs;
      parses = message.parses;
      record = message.recordTo === undefined ? undefined : createWriteStream(message.recordTo);
      calls = 0;
      bookings = 0;
      firstCallAt = undefined;
      cpuBefore = process.cpuUsage();
      return send({ kind: 'begun' });
    case 'end': {
      const { user, system } = process.cpuUsage(cpuBefore);
      const seconds = (lastAnswerAt - (firstCallAt ?? lastAnswerAt)) / 1000;
      const received = { calls, bookings, seconds, cpuSeconds: (user + system) / 1e6 };
      if (record) record.end(() => send({ kind: 'ended', received }));
      else send({ kind: 'ended', received });
    }
  }
});
process.on('disconnect', () => process.exit());

function send(message: FromService): void {
  process.send?.(message);
}
