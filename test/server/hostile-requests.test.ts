import { once } from 'node:events';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { hookPath } from '../../src/desk/server/hook.js';
import { hookSecret as secret } from '../support/hook-secrets.js';
import { patienceMs } from '../support/patience.js';
import { post, signed } from './hook-calls.js';
import {
  createHookRuns,
  openSocket,
  type Parts,
  readToEnd,
  startServer,
  stopServers,
} from './some-server.js';

afterEach(stopServers);

async function startHook(limits: Parts['limits'] = {}) {
  const runs = createHookRuns();
  const hook = { secret, runs };
  return { runs, ...(await startServer({ hook, ledger: runs.ledger, limits })) };
}

const megabyte = `{"day":"2026-11-20","more":"${'x'.repeat(1_000_000)}"}`;
const head = `POST ${hookPath} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n`;

describe('a body over the limit', () => {
  it('is refused although it is signed', async () => {
    const { url, runs } = await startHook();
    const answer = await post(url, megabyte, signed(megabyte));
    expect(answer).toMatchObject({ status: 413, body: { error: { class: 'too-large' } } });
    expect(runs.starts).toEqual([]);
  });

  it('is refused when its length is not given', async () => {
    const { url, runs } = await startHook();
    const stream = new Blob([megabyte]).stream();
    expect(await post(url, stream, signed(megabyte))).toMatchObject({ status: 413 });
    expect(runs.starts).toEqual([]);
  });

  it.each([1_000_000, 30_000_000])(
    'is refused with a response even if the client sends everything before it reads: %i bytes',
    async (length) => {
      const { url, logged } = await startHook();
      const socket = await openSocket(url);
      const errors: Error[] = [];
      socket.on('error', (error) => errors.push(error));
      socket.write(`${head}content-length: ${length}\r\n\r\n`);
      const sent = new Promise((resolve) => socket.write(Buffer.alloc(length, 'x'), resolve));
      await vi.waitUntil(() => logged.join().includes('413'), { interval: 1, timeout: patienceMs });
      await sent;
      // A reset would have come by the time that another call has its answer.
      await fetch(`${url}/healthz`);
      const [answer] = await once(socket, 'data');
      expect(String(answer)).toMatch(/^HTTP\/1\.1 413 .*"too-large"/s);
      expect(errors).toEqual([]);
      expect(logged).toHaveLength(1);
      expect(await (await fetch(`${url}/metrics`)).text()).toContain('hook_requests_total{status="413"} 1');
      socket.destroy();
    },
  );

  it('is not read for longer than any request may take', async () => {
    const { url } = await startHook({ requestMs: 100 });
    const socket = await openSocket(url);
    // The reset of a connection with bytes that nobody reads.
    socket.resume().on('error', () => {});
    const chunk = Buffer.alloc(16 * 1024, 'x');
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(`${head}transfer-encoding: chunked\r\n\r\n`);
    const send = () => {
      while (!socket.destroyed && socket.write(`4000\r\n${chunk}\r\n`));
    };
    socket.on('drain', send);
    send();
    await closed;
  });

  it('of exactly the limit is read', async () => {
    const { url } = await startHook();
    const room = 64 * 1024 - '{"day":"2026-11-20","more":""}'.length;
    const most = `{"day":"2026-11-20","more":"${'x'.repeat(room)}"}`;
    expect((await post(url, most, signed(most, { id: 'a' }))).status).toBe(202);
    const over = `${most} `;
    expect((await post(url, over, signed(over, { id: 'b' }))).status).toBe(413);
  });
});

describe('a request that never completes', () => {
  it('is abandoned when its body is slow', async () => {
    const { url, runs } = await startHook({ requestMs: 100 });
    const socket = await openSocket(url);
    socket.write(`${head}content-length: 20\r\n\r\n{"day"`);
    expect(await readToEnd(socket)).toMatch(/^HTTP\/1\.1 408 .*"too-slow"/s);
    expect(runs.starts).toEqual([]);
  });
});

describe('an invalid request', () => {
  it.each([
    ['no HTTP', 'hello\r\n\r\n', 400],
    ['no such version', 'GET / HTTP/9.9\r\n\r\n', 400],
    ['two lengths', `${head}content-length: 2\r\ncontent-length: 3\r\n\r\n{}`, 400],
    ['too many headers', `GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx: ${'x'.repeat(40_000)}\r\n\r\n`, 431],
  ])('is answered as an error: %s', async (_what, bytes, status) => {
    const { url } = await startHook();
    const socket = await openSocket(url);
    socket.write(bytes);
    const answer = await readToEnd(socket);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} .*"error":`, 's'));
    expect(answer).toContain('cache-control: no-store');
  });

  it.each([
    ...['GET http://evil.example/metrics', 'HEAD HTTPS://evil.example/', 'GET http:/metrics'],
    ...['GET evil.example', 'OPTIONS *', 'GET //evil.example/healthz', 'GET /\\evil.example/', 'GET ?a=b'],
    ...[`POST http://evil.example${hookPath}`, 'POST //evil.example/sign-in'],
  ])('is one that names another host than its header may: %s', async (start) => {
    const { url, runs, logged } = await startHook();
    const socket = await openSocket(url);
    socket.write(`${start} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
    const answer = await readToEnd(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).not.toContain('evil');
    expect([runs.starts, logged.join()]).toEqual([[], expect.not.stringContaining('evil')]);
  });

  it.each([
    ['/nothing', 404],
    ['/runs/%zz', 400],
    [`/runs/${'x'.repeat(200)}`, 404],
    ['/runs/..%2f..%2fetc', 404],
  ])('gets a response: GET %s', async (path, status) => {
    const { url } = await startServer();
    const response = await fetch(url + path);
    expect(response.status).toBe(status);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.json()).toEqual({
      error: { class: expect.any(String), message: expect.any(String) },
    });
  });
});
