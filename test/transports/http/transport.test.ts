import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createTransport, type HttpResult } from '../../../src/transports/http/transport.js';

/** A server that never answers, with what it received. */
async function startSilentServer() {
  const received: unknown[] = [];
  const server = createServer(({ url }) => received.push(url));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close().closeAllConnections());
  const countConnections = () =>
    new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)));
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received, countConnections };
}

describe('calls that wait for a connection', () => {
  it.each(['abort', 'close', 'timeout'] as const)('are never sent after they ended: %s', async (how) => {
    // The calls begin and end at the same moment: one that ended later would have had its turn.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { origin, received, countConnections } = await startSilentServer();
    const limits = { connections: 1, connectTimeoutMs: 5_000, maxAnswerBytes: 1_000, timeoutMs: 60_000 };
    const transport = createTransport({ origin, ...limits });
    const abort = new AbortController();
    const call = (path: string): Promise<HttpResult | undefined> =>
      transport
        .call({ method: 'POST', path, headers: [], body: Buffer.from('{}'), signal: abort.signal })
        .catch(() => undefined);
    const calls = ['/a', '/b', '/c'].map(call);
    await expect.poll(() => received).toEqual(['/a']);
    if (how === 'abort') abort.abort();
    if (how === 'close') await transport.close();
    if (how === 'timeout') vi.advanceTimersByTime(limits.timeoutMs);
    const meanings = (await Promise.all(calls)).map((result) => result?.failure?.meaning);
    expect(meanings).toEqual(
      how === 'abort' ? [undefined, undefined, undefined] : ['broken', 'unreached', 'unreached'],
    );
    await transport.close();
    await expect.poll(countConnections).toBe(0);
    expect(received).toEqual(['/a']);
  });

  it('have their turn when one before them has ended', async () => {
    const { origin, received } = await startSilentServer();
    const limits = { connections: 1, connectTimeoutMs: 5_000, maxAnswerBytes: 1_000, timeoutMs: 60_000 };
    const transport = createTransport({ origin, ...limits });
    onTestFinished(() => transport.close());
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
  [1_000, true],
  [8_000, false],
])(
  'a compressed answer of 5,000 bytes is unpacked up to the limit of its request: %i',
  async (maxAnswerBytes, isTooLarge) => {
    const server = createServer((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(5_000))),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const limits = {
      connections: 1,
      connectTimeoutMs: 5_000,
      maxAnswerBytes: isTooLarge ? 8_000 : 1_000,
      timeoutMs: 60_000,
    };
    const transport = createTransport({ origin, ...limits });
    onTestFinished(() => transport.close());
    const { signal } = new AbortController();
    const { answer } = await transport.call({
      method: 'GET',
      path: '/',
      headers: [],
      signal,
      maxAnswerBytes,
    });
    expect([answer?.bodyTruncated ?? false, answer?.body.length]).toEqual(
      isTooLarge ? [true, 0] : [false, 5_000],
    );
  },
);
