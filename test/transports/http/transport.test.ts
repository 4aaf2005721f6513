import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createTransport, type HttpResult } from '../../../src/transports/http/transport.js';

const timeoutMs = 60_000;

/** A server with what it received; it never answers, unless told how. */
async function startServer(answer: (response: ServerResponse) => void = () => {}) {
  const received: unknown[] = [];
  const server = createServer(({ url }, response) => {
    received.push(url);
    answer(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close().closeAllConnections());
  const countConnections = () =>
    new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const limits = { connections: 1, connectTimeoutMs: 5_000, maxAnswerBytes: 4_000, timeoutMs };
  const transport = createTransport({ origin, ...limits });
  onTestFinished(() => transport.close());
  return { transport, received, countConnections };
}

describe('calls that wait for a connection', () => {
  it.each(['abort', 'close', 'timeout'] as const)('are never sent after they ended: %s', async (how) => {
    // The calls begin and end at the same moment: one that ended later would have had its turn.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { transport, received, countConnections } = await startServer();
    const abort = new AbortController();
    const call = (path: string): Promise<HttpResult | undefined> =>
      transport
        .call({ method: 'POST', path, headers: [], body: Buffer.from('{}'), signal: abort.signal })
        .catch(() => undefined);
    const calls = ['/a', '/b', '/c'].map(call);
    await expect.poll(() => received).toEqual(['/a']);
    if (how === 'abort') abort.abort();
    if (how === 'close') await transport.close();
    if (how === 'timeout') vi.advanceTimersByTime(timeoutMs);
    const failures = (await Promise.all(calls)).map((result) => result?.failure);
    const code = how === 'close' ? 'client-closed' : 'timeout';
    const unreached = { code, meaning: 'unreached' };
    expect(failures).toEqual(
      how === 'abort' ? Array(3).fill(undefined) : [{ code, meaning: 'broken' }, unreached, unreached],
    );
    await transport.close();
    expect(vi.getTimerCount()).toBe(0);
    await expect.poll(countConnections).toBe(0);
    expect(received).toEqual(['/a']);
  });

  it('have their turn when one before them has ended', async () => {
    const { transport, received } = await startServer();
    const first = new AbortController();
    const call = (path: string, { signal }: AbortController) =>
      transport.call({ method: 'GET', path, headers: [], signal }).catch(() => undefined);
    const aborted = call('/a', first);
    void call('/b', new AbortController());
    await expect.poll(() => received).toEqual(['/a']);
    first.abort();
    await aborted;
    await expect.poll(() => received).toEqual(['/a', '/b']);
  });
});

it.each([
  [1_000, [true, 0]],
  [8_000, [false, 5_000]],
])(
  'a compressed answer of 5,000 bytes is unpacked up to the limit of its request: %i',
  async (most, found) => {
    const { transport } = await startServer((response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(5_000))),
    );
    const { signal } = new AbortController();
    const request = { path: '/', headers: [], signal, maxAnswerBytes: most };
    const { answer } = await transport.call({ method: 'GET', ...request });
    expect([answer?.bodyTruncated, answer?.body.length]).toEqual(found);
  },
);
