import { randomBytes } from 'node:crypto';
import { EventEmitter, getEventListeners, once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import type { CallResult } from '../../src/service/call-result.js';
import {
  createServiceClient,
  type ServiceClient,
  type ServiceClientOptions,
} from '../../src/service/client.js';
import { type StandIn, type StandInHandler, startStandIn, success } from '../support/http-stand-in.js';
import { headersOf } from './opened-service.js';

const body = Buffer.from('{"Hotels":[{"ServiceId":101,"BookingClientName":"Zoë Okonjo"}]}');
const notDone = { kind: 'retryable', outcomeUnknown: false, refusedWhenSpent: false };
const done = '{"Status":true,"StatusCode":2000}';
const compressed = (bytes: Buffer, coding: string) => ({
  kind: 'text' as const,
  body: bytes,
  headers: { 'content-encoding': coding },
});
const perhapsDone = { kind: 'retryable', outcomeUnknown: true, refusedWhenSpent: false };

const toClose: { close(): unknown }[] = [];
afterEach(async () => {
  for (const thing of toClose.splice(0).reverse()) await thing.close();
});

async function standInFor(handler?: StandInHandler): Promise<StandIn> {
  const standIn = await startStandIn(handler);
  toClose.push(standIn);
  return standIn;
}

function clientOf(baseUrl: string, more: Partial<ServiceClientOptions> = {}): ServiceClient {
  const client = createServiceClient({
    baseUrl,
    apiKey: 'k-7f3a',
    accountId: 'acme',
    connections: 2,
    timeoutMs: 20_000,
    connectTimeoutMs: 10_000,
    clock: () => new Date('2026-11-20T02:30:00Z'),
    ...more,
  });
  toClose.push(client);
  return client;
}

function review(client: ServiceClient, signal = new AbortController().signal): Promise<CallResult> {
  return client.reviewBookedHotels(body, { signal });
}

const operationByFile = '/api/3.0/hotels/ReviewMappingsOfBookedHotelsByFile';
const filePath = 'VerifyMappings/112026/20112026.csv';

function reviewFile(client: ServiceClient, path = filePath): Promise<CallResult> {
  const { signal } = new AbortController();
  return client.reviewBookedHotelsByFile(path, { signal });
}

/** A bare TCP server, for behaviour that no HTTP server has. */
async function startTcp(onConnection: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server: Server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    onConnection(socket);
  });
  toClose.push({
    close() {
      for (const socket of sockets) socket.destroy();
    },
  });
  return listen(server);
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  toClose.push(server);
  return (server.address() as AddressInfo).port;
}

describe('a call', () => {
  it('sends exactly the request of the specification', async () => {
    const standIn = await standInFor();

    expect(await review(clientOf(standIn.baseUrl))).toMatchObject({ kind: 'accepted', code: 'ok' });

    const [request, ...others] = standIn.requests;
    expect(others).toEqual([]);
    expect(request?.method).toBe('POST');
    expect(request?.url).toBe('/api/3.0/hotels/ReviewMappingsOfBookedHotels');
    expect(request?.body).toEqual(body);
    const pairs = headersOf(request);
    for (const header of [
      ...['apikey: k-7f3a', 'accountId: acme', 'Content-Type: application/json', 'Accept: application/json'],
      ...['User-Agent: booked-hotel-review', 'Accept-Encoding: identity', `Content-Length: ${body.length}`],
    ])
      expect(pairs).toContain(header);
    expect(pairs.join('\n')).not.toMatch(/transfer-encoding/i);
    expect(standIn.accepted()).toEqual([{ ServiceId: 101, BookingClientName: 'Zoë Okonjo' }]);
  });

  it.each([
    ['/api/3.0/', '/api/3.0/hotels/ReviewMappingsOfBookedHotels'],
    ['', '/hotels/ReviewMappingsOfBookedHotels'],
    ['/a%20b', '/a%20b/hotels/ReviewMappingsOfBookedHotels'],
  ])('appends its path to the base path %j', async (path, expected) => {
    const standIn = await standInFor();
    await review(clientOf(`http://127.0.0.1:${standIn.port}${path}`));
    expect(standIn.requests[0]?.url).toBe(expected);
  });

  it('limits and reuses connections', async () => {
    const standIn = await standInFor();
    const client = clientOf(standIn.baseUrl, { connections: 3 });
    await Promise.all(Array.from({ length: 60 }, () => review(client)));
    expect(standIn.requests).toHaveLength(60);
    expect(standIn.connections).toBe(3);
  });

  it('sends only its part of a larger buffer', async () => {
    const standIn = await standInFor();
    const whole = new Uint8Array([1, 2, ...body, 3, 4]);
    const { signal } = new AbortController();
    await clientOf(standIn.baseUrl).reviewBookedHotels(whole.subarray(2, -2), { signal });
    expect(standIn.requests[0]?.body).toEqual(body);
  });
});

describe('an answer is judged', () => {
  it.each<[string, StandInHandler, object]>([
    [
      '503 with Retry-After',
      () => ({
        kind: 'json',
        status: 503,
        body: { code: 7, message: 'later' },
        headers: { 'retry-after': '4' },
      }),
      { ...notDone, code: 'http-503', retryAfterMs: 4_000, statusCode: 7, answer: 'later' },
    ],
    [
      '429 with Retry-After as a date',
      () => ({
        kind: 'text',
        status: 429,
        body: '',
        headers: { 'Retry-After': 'Fri, 20 Nov 2026 02:31:00 GMT' },
      }),
      { ...notDone, code: 'http-429', retryAfterMs: 60_000 },
    ],
    [
      'an HTML page',
      () => ({ kind: 'text', body: '<h1>Sign in</h1>' }),
      { ...perhapsDone, code: 'unreadable-answer', answer: '<h1>Sign in</h1>' },
    ],
    [
      'a success that came compressed, unasked',
      () => compressed(gzipSync(done), 'gzip'),
      { kind: 'accepted', httpStatus: 200 },
    ],
    ['the same in Brotli', () => compressed(brotliCompressSync(done), 'br'), { kind: 'accepted' }],
    ['the same deflated', () => compressed(deflateSync(done), 'deflate'), { kind: 'accepted' }],
    ['the same without its wrapper', () => compressed(deflateRawSync(done), 'deflate'), { kind: 'accepted' }],
    [
      'a success in an unknown compression, which the code names',
      () => compressed(Buffer.from(done), 'zstd'),
      { ...perhapsDone, code: 'unknown-compression', httpStatus: 200 },
    ],
    [
      'a success whose compressed body is damaged',
      () => compressed(gzipSync(done).subarray(0, 20), 'gzip'),
      { ...perhapsDone, code: 'damaged-compression', httpStatus: 200 },
    ],
    [
      'a success that expands beyond every limit',
      () => compressed(gzipSync(`${done}${' '.repeat(100_000)}`), 'gzip'),
      { ...perhapsDone, code: 'answer-too-large' },
    ],
    [
      'a success whose compressed body is longer than what is read',
      () => compressed(gzipSync(randomBytes(70_000)), 'gzip'),
      { ...perhapsDone, code: 'answer-too-large' },
    ],
    [
      '503 with a page longer than what is read',
      () => ({ kind: 'text', status: 503, body: 'x'.repeat(70_000) }),
      { ...notDone, code: 'http-503' },
    ],
    [
      '426 that asks for another protocol',
      () => ({
        kind: 'text',
        status: 426,
        body: 'no',
        headers: { Upgrade: 'TLS/1.3', Connection: 'Upgrade' },
      }),
      { kind: 'fatal', code: 'http-426' },
    ],
  ])('%s', async (_what, handler, result) => {
    const standIn = await standInFor(handler);
    expect(await review(clientOf(standIn.baseUrl))).toMatchObject(result);
    expect(standIn.requests).toHaveLength(1);
  });

  it('without following redirects', async () => {
    const elsewhere = await standInFor();
    const standIn = await standInFor(() => ({
      kind: 'text',
      status: 307,
      body: '',
      headers: { location: `${elsewhere.baseUrl}/hotels/ReviewMappingsOfBookedHotels` },
    }));
    expect(await review(clientOf(standIn.baseUrl))).toMatchObject({ kind: 'fatal', code: 'http-307' });
    expect(standIn.requests).toHaveLength(1);
    expect(elsewhere.requests).toHaveLength(0);
  });

  it('by its status alone when the body never arrives', async () => {
    const port = await startTcp((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 100\r\n\r\n{"mess'));
    });
    expect(await review(clientOf(`http://127.0.0.1:${port}`))).toMatchObject({
      kind: 'fatal',
      code: 'http-403',
      answer: '{"mess',
    });
  });

  it('from its first bytes when it never ends; then the connection is cut', async () => {
    const server = createServer((_request, response) => {
      const pour = () => {
        while (!response.destroyed && response.write('x'.repeat(16_384))) {}
      };
      response.on('drain', pour);
      pour();
    });
    const port = await listen(server);
    const hungUp = new Promise((resolve) => {
      server.once('connection', (socket) => socket.once('close', resolve));
    });

    const client = clientOf(`http://127.0.0.1:${port}`);
    expect(await review(client)).toMatchObject({ ...perhapsDone, code: 'answer-too-large' });
    await hungUp;
  });

  it('as complete up to the size limit, and as too large beyond it', async () => {
    const json = '{"Status":true,"StatusCode":2000}';
    const standIn = await standInFor(() => ({ kind: 'text', body: json }));
    const exact = clientOf(standIn.baseUrl, { maxAnswerBytes: json.length });
    const less = clientOf(standIn.baseUrl, { maxAnswerBytes: json.length - 1 });
    expect(await review(exact)).toMatchObject({ kind: 'accepted' });
    expect(await review(less)).toMatchObject({ ...perhapsDone, code: 'answer-too-large' });
  });
});

describe('a call without a clear answer', () => {
  it.each(['before-reading', 'after-reading'] as const)('is a dropped connection %s', async (when) => {
    const standIn = await standInFor(() => ({ kind: 'drop', when }));
    expect(await review(clientOf(standIn.baseUrl))).toEqual({ ...perhapsDone, code: 'connection-reset' });
    expect(standIn.requests).toHaveLength(1);
    expect(standIn.requests[0]?.body).toEqual(when === 'after-reading' ? body : Buffer.alloc(0));
  });

  it('is a connection dropped in mid-answer; the part received is kept', async () => {
    const standIn = await standInFor(() => ({ kind: 'drop', when: 'mid-answer' }));
    const result = await review(clientOf(standIn.baseUrl));
    expect(result).toMatchObject({ ...perhapsDone, code: 'connection-reset', httpStatus: 200 });
    expect(result.answer).toMatch(/^\{"Status":true/);
  });

  it('is answered after an informational response, also after one that nobody asked for', async () => {
    const final = `HTTP/1.1 200 OK\r\nContent-Length: ${done.length}\r\n\r\n${done}`;
    for (const informational of ['100 Continue', '103 Early Hints']) {
      const port = await startTcp((socket) => {
        socket.once('data', () => socket.write(`HTTP/1.1 ${informational}\r\n\r\n${final}`));
      });
      expect(await review(clientOf(`http://127.0.0.1:${port}`))).toMatchObject({ kind: 'accepted' });
    }
  });

  it('is an answer that is not HTTP', async () => {
    const port = await startTcp((socket) => socket.once('data', () => socket.end('SSH-2.0-OpenSSH_9.6\r\n')));
    expect(await review(clientOf(`http://127.0.0.1:${port}`))).toEqual({
      ...perhapsDone,
      code: 'malformed-answer',
    });
  });

  it('is a hang, ended by the timeout, and the next call finds a fresh connection', async () => {
    const standIn = await standInFor((_request, number) => (number === 1 ? { kind: 'hang' } : success));
    const client = clientOf(standIn.baseUrl, { connections: 1, timeoutMs: 300 });
    expect(await review(client)).toEqual({ ...perhapsDone, code: 'timeout' });
    expect(await review(client)).toMatchObject({ kind: 'accepted' });
    expect(standIn.connections).toBe(2);
  });

  it('is an answer whose body stalls until the timeout', async () => {
    const port = await startTcp((socket) => {
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"Sta'));
    });
    expect(await review(clientOf(`http://127.0.0.1:${port}`, { timeoutMs: 300 }))).toMatchObject({
      ...perhapsDone,
      code: 'timeout',
      httpStatus: 200,
      answer: '{"Sta',
    });
  });
});

describe('a call that was never sent', () => {
  it('is one by https to a service that speaks plain http, which stops the run', async () => {
    const standIn = await standInFor();
    const client = clientOf(`https://127.0.0.1:${standIn.port}`);
    expect(await review(client)).toEqual({ kind: 'fatal', code: 'tls-protocol' });
    expect(standIn.requests).toEqual([]);
  });

  it('is a refused connection, for all calls waiting for it', async () => {
    const standIn = await startStandIn();
    await standIn.close();
    const client = clientOf(standIn.baseUrl, { connections: 2 });
    const results = await Promise.all(Array.from({ length: 9 }, () => review(client)));
    for (const result of results) expect(result).toEqual({ ...notDone, code: 'connection-refused' });
  });

  it('is a connection that is not established in time', async () => {
    const port = await startTcp(() => {});
    const client = clientOf(`https://127.0.0.1:${port}`, { connectTimeoutMs: 200 });
    expect(await review(client)).toEqual({ ...notDone, code: 'connect-timeout' });
  });

  it('is one by a proxy that does not answer', async () => {
    const url = `http://127.0.0.1:${await startTcp(() => {})}`;
    const client = clientOf('https://service.invalid', { proxy: { url }, connectTimeoutMs: 200 });
    expect(await review(client)).toEqual({ ...notDone, code: 'proxy-unreachable' });
  });

  it('is one whose time ran out before the connection was established', async () => {
    const port = await startTcp(() => {});
    const client = clientOf(`https://127.0.0.1:${port}`, { timeoutMs: 200 });
    expect(await review(client)).toEqual({ ...notDone, code: 'timeout' });
  });
});

describe('the caller', () => {
  it('aborts all hanging calls, and each rejects with the reason', async () => {
    const standIn = await standInFor(() => ({ kind: 'hang' }));
    const stop = new AbortController();
    const client = clientOf(standIn.baseUrl);
    const calls = [review(client, stop.signal), review(client, stop.signal)];
    await standIn.received(2);
    const reason = new Error('Ctrl-C');
    stop.abort(reason);
    for (const call of calls) await expect(call).rejects.toBe(reason);
  });

  it('can use one signal for 300 calls, fifty at a time, without leftover listeners', async () => {
    const standIn = await standInFor();
    const client = clientOf(standIn.baseUrl, { connections: 8 });
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on('warning', note);
    const { signal } = new AbortController();
    let accepted = 0;
    const callOften = async () => {
      for (let i = 0; i < 6; i += 1) {
        if ((await review(client, signal)).kind === 'accepted') accepted += 1;
      }
    };
    await Promise.all(Array.from({ length: 50 }, callOften));
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', note);
    expect(accepted).toBe(300);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(warnings).toEqual([]);
  });
});

describe('closing', () => {
  it('ends calls in flight with an unknown outcome, and is idempotent', async () => {
    const standIn = await standInFor(() => ({ kind: 'hang' }));
    const client = clientOf(standIn.baseUrl, { connections: 1 });
    const sent = review(client);
    const waiting = review(client);
    await standIn.received(1);
    await Promise.all([client.close(), client.close()]);
    await client.close();
    expect(await sent).toEqual({ ...perhapsDone, code: 'client-closed' });
    expect(await waiting).toEqual({ ...notDone, code: 'client-closed' });
    expect(await review(client)).toEqual({ ...notDone, code: 'client-closed' });
    expect(standIn.requests).toHaveLength(1);
  });

  it.each(['directly', 'through a proxy'])(
    'aborts connections that are still being opened, %s',
    async (how) => {
      const events = new EventEmitter();
      const opened = once(events, 'opened');
      const hungUp = once(events, 'hung up');
      const port = await startTcp((socket) => {
        events.emit('opened');
        socket.resume().once('close', () => events.emit('hung up'));
      });
      const proxy = how === 'directly' ? {} : { url: `http://127.0.0.1:${port}` };
      const client = clientOf(`https://127.0.0.1:${port}`, { proxy, connectTimeoutMs: 3_600_000 });
      const call = review(client);
      await opened;
      await client.close();
      expect(await call).toEqual({ ...notDone, code: 'client-closed' });
      await hungUp;
    },
  );
});

describe('a call by file', () => {
  it('sends exactly the request of the specification', async () => {
    const standIn = await standInFor();

    expect(await reviewFile(clientOf(standIn.baseUrl))).toMatchObject({ kind: 'accepted', code: 'ok' });

    const [request, ...others] = standIn.requests;
    expect(others).toEqual([]);
    expect(request?.method).toBe('GET');
    expect(request?.url).toBe(`${operationByFile}?ftpFilePath=VerifyMappings/112026/20112026.csv`);
    expect(request?.body).toEqual(Buffer.alloc(0));
    const pairs = headersOf(request);
    for (const header of ['apikey: k-7f3a', 'accountId: acme', 'Accept: application/json'])
      expect(pairs).toContain(header);
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
    await reviewFile(clientOf(standIn.baseUrl), path);
    const url = new URL(standIn.requests[0]?.url ?? '', standIn.baseUrl);
    expect(url.pathname).toBe(operationByFile);
    expect([...url.searchParams]).toEqual([['ftpFilePath', path]]);
    expect(url.hash).toBe('');
  });

  it.each([500, 503, 504])('may have started a review after a %i, unlike a call by body', async (status) => {
    const standIn = await standInFor(() => ({ kind: 'json', status, body: {} }));
    const client = clientOf(standIn.baseUrl);
    expect(await reviewFile(client)).toMatchObject({ ...perhapsDone, code: `http-${status}` });
    const { signal } = new AbortController();
    expect(await client.reviewBookedHotels(Buffer.from('{"Hotels":[]}'), { signal })).toMatchObject({
      kind: 'retryable',
      outcomeUnknown: false,
    });
  });
});

it.each(['before-reading', 'after-reading', 'mid-answer'] as const)(
  'a call by file on a kept connection that drops %s is made once, its outcome unknown',
  async (when) => {
    const standIn = await standInFor((_request, number) => (number === 2 ? { kind: 'drop', when } : success));
    const client = clientOf(standIn.baseUrl, { connections: 1 });
    expect(await reviewFile(client)).toMatchObject({ kind: 'accepted' });
    expect(await reviewFile(client)).toMatchObject({ ...perhapsDone, code: 'connection-reset' });
    expect(standIn.connections).toBe(1);
    expect(await reviewFile(client)).toMatchObject({ kind: 'accepted' });
    expect(standIn.requests).toHaveLength(3);
  },
);

it('a call by file whose connection drops at any moment arrives at most once, and otherwise its outcome is unknown', async () => {
  const arrived: string[] = [];
  let drops = 0;
  const server = createServer((request, response) => {
    arrived.push(request.url?.split('=')[1] ?? '');
    const turns = arrived.length % 6;
    response.end('{"Status":true,"StatusCode":2000}', () =>
      cutAfter(turns, request.socket, () => {
        drops += 1;
      }),
    );
  });
  const client = clientOf(`http://127.0.0.1:${await listen(server)}/api/3.0`, { connections: 1 });
  for (let number = 0; number < 120; number += 1) {
    const path = `${number}.csv`;
    const result = await reviewFile(client, path);
    if (result.kind === 'accepted') expect(arrived).toContain(path);
    else expect(result).toMatchObject(perhapsDone);
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
