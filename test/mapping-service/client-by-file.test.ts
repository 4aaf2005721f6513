import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createServiceClient, type ServiceClient } from '../../src/service/client.js';
import type { Verdict } from '../../src/service/verdict.js';
import { type StandIn, type StandInHandler, startStandIn } from '../support/http-stand-in.js';

const operation = '/api/3.0/hotels/ReviewMappingsOfBookedHotelsByFile';
const filePath = 'VerifyMappings/112026/20112026.csv';
const perhapsDone = { kind: 'retryable', outcomeUnknown: true, refusedWhenSpent: false };

async function standInFor(handler?: StandInHandler): Promise<StandIn> {
  const standIn = await startStandIn(handler);
  onTestFinished(() => standIn.close());
  return standIn;
}

function clientOf(baseUrl: string, connections = 1): ServiceClient {
  const client = createServiceClient({
    baseUrl,
    apiKey: 'k-7f3a',
    accountId: 'acme',
    connections,
    timeoutMs: 20_000,
    connectTimeoutMs: 10_000,
    clock: () => new Date('2026-11-20T02:30:00Z'),
  });
  onTestFinished(() => client.close());
  return client;
}

function review(
  client: ServiceClient,
  path = filePath,
  signal = new AbortController().signal,
): Promise<Verdict> {
  return client.reviewBookedHotelsByFile(path, { signal });
}

describe('a call by file', () => {
  it('sends exactly the request of the specification', async () => {
    const standIn = await standInFor();

    expect(await review(clientOf(standIn.baseUrl))).toMatchObject({ kind: 'accepted', code: 'ok' });

    const [request, ...others] = standIn.requests;
    expect(others).toEqual([]);
    expect(request?.method).toBe('GET');
    expect(request?.url).toBe(`${operation}?ftpFilePath=VerifyMappings/112026/20112026.csv`);
    expect(request?.body).toEqual(Buffer.alloc(0));
    const headers = request?.rawHeaders ?? [];
    const pairs = headers.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${headers[i + 1]}`] : []));
    expect(pairs).toContain('apikey: k-7f3a');
    expect(pairs).toContain('accountId: acme');
    expect(pairs).toContain('Accept: application/json');
    expect(pairs.join('\n')).not.toMatch(/content-type|content-length|transfer-encoding/i);
  });

  it.each([
    'a b/20112026.csv',
    'a+b&c=d#e?f/20112026.csv',
    '100%/%2F.csv',
    'żółć/山田 😀.csv',
    '/with/a/leading/slash.csv',
    'carriage\r\nreturn.csv',
  ])('transmits any path intact: %j', async (path) => {
    const standIn = await standInFor();
    await review(clientOf(standIn.baseUrl), path);
    const url = new URL(standIn.requests[0]?.url ?? '', standIn.baseUrl);
    expect(url.pathname).toBe(operation);
    expect([...url.searchParams]).toEqual([['ftpFilePath', path]]);
    expect(url.hash).toBe('');
  });

  it.each([500, 503, 504])('may have started a review after a %i, unlike a call by body', async (status) => {
    const standIn = await standInFor(() => ({ kind: 'json', status, body: {} }));
    const client = clientOf(standIn.baseUrl);
    expect(await review(client)).toMatchObject({ ...perhapsDone, code: `http-${status}` });
    const { signal } = new AbortController();
    expect(await client.reviewBookedHotels(Buffer.from('{"Hotels":[]}'), { signal })).toMatchObject({
      kind: 'retryable',
      outcomeUnknown: false,
    });
  });
});

it('a call by file whose connection drops at any moment arrives at most once, and otherwise its outcome is unknown', async () => {
  const arrived: string[] = [];
  let drops = 0;
  const port = await startServer((request, response) => {
    arrived.push(request.url?.split('=')[1] ?? '');
    const turns = arrived.length % 6;
    response.end('{"Status":true,"StatusCode":2000}', () =>
      cutAfter(turns, request.socket, () => {
        drops += 1;
      }),
    );
  });
  const client = clientOf(`http://127.0.0.1:${port}/api/3.0`);
  for (let number = 0; number < 120; number += 1) {
    const path = `${number}.csv`;
    const verdict = await review(client, path);
    if (verdict.kind === 'accepted') expect(arrived).toContain(path);
    else expect(verdict).toMatchObject(perhapsDone);
  }
  expect(drops).toBeGreaterThan(0);
  expect(new Set(arrived).size).toBe(arrived.length);
});

/** Cuts a connection after this many turns of the event loop, unless the other side was faster. */
function cutAfter(turns: number, socket: Socket, onCut: () => void): void {
  if (turns > 0) {
    setImmediate(() => cutAfter(turns - 1, socket, onCut));
  } else if (!socket.destroyed) {
    socket.destroy();
    onCut();
  }
}

async function startServer(onRequest: RequestListener): Promise<number> {
  const server = createServer(onRequest);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}
