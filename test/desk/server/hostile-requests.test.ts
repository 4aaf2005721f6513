import { once } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { hookPath } from '../../../src/desk/server/hook.js';
import { patienceMs } from '../../support/patience.js';
import { post, signed, startHook } from './hook-calls.js';
import { openSocket, readToEnd, startServer } from './some-server.js';

const megabyte = `{"day":"2026-11-20","more":"${'x'.repeat(1_000_000)}"}`;
const head = `POST ${hookPath} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n`;

describe('a body over the limit', () => {
  it('is refused although it is signed, also when its length is not given', async () => {
    const { url, runs } = await startHook();
    for (const body of [megabyte, new Blob([megabyte]).stream()])
      expect(await post(url, body, signed(megabyte))).toMatchObject({
        ...{ status: 413, body: { error: { class: 'too-large' } } },
      });
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
    const { url } = await startHook({ limits: { requestMs: 100 } });
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

it('A request that never completes is abandoned', async () => {
  const { url, runs } = await startHook({ limits: { requestMs: 100 } });
  const answer = await exchange(url, `${head}content-length: 20\r\n\r\n{"day"`);
  expect(answer).toMatch(/^HTTP\/1\.1 408 .*"too-slow"/s);
  expect(runs.starts).toEqual([]);
});

describe('an invalid request', () => {
  it('is answered as an error', async () => {
    const { url } = await startHook();
    for (const [bytes, status] of [
      ['hello\r\n\r\n', 400],
      ['GET / HTTP/9.9\r\n\r\n', 400],
      [`${head}content-length: 2\r\ncontent-length: 3\r\n\r\n{}`, 400],
      [`GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx: ${'x'.repeat(40_000)}\r\n\r\n`, 431],
    ] as const) {
      const answer = await exchange(url, bytes);
      expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} .*"error":`, 's'));
      expect(answer).toContain('cache-control: no-store');
    }
  });

  it('is one that names another host than its header may', async () => {
    const { url, runs, logged } = await startHook();
    for (const start of [
      ...['GET http://evil.example/metrics', 'HEAD HTTPS://evil.example/', 'GET http:/metrics'],
      ...['GET evil.example', 'OPTIONS *', 'GET //evil.example/healthz', 'GET /\\evil.example/', 'GET ?a=b'],
      ...[`POST http://evil.example${hookPath}`, 'POST //evil.example/sign-in'],
    ]) {
      const rest = 'host: 127.0.0.1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n';
      const answer = await exchange(url, `${start} HTTP/1.1\r\n${rest}`);
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).not.toContain('evil');
    }
    expect([runs.starts, logged.join()]).toEqual([[], expect.not.stringContaining('evil')]);
  });

  it('gets a response, whatever its path', async () => {
    const { url } = await startServer();
    for (const [path, status] of [
      ['/nothing', 404],
      ['/runs/%zz', 400],
      [`/runs/${'x'.repeat(200)}`, 404],
      ['/runs/..%2f..%2fetc', 404],
    ] as const) {
      const response = await fetch(url + path);
      expect([path, response.status]).toEqual([path, status]);
      expect(response.headers.get('cache-control')).toBe('no-store');
      const error = { class: expect.any(String), message: expect.any(String) };
      expect(await response.json()).toEqual({ error });
    }
  });
});

/** What the server answers to these bytes, until it ends the connection. */
async function exchange(url: string, bytes: string): Promise<string> {
  const socket = await openSocket(url);
  socket.write(bytes);
  return readToEnd(socket);
}
