import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { hookPath } from '../../src/server/hook.js';
import { patienceMs } from '../support/patience.js';
import { openSocket, startServer, stopServers } from './some-server.js';

const opened: Socket[] = [];

afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy();
  await stopServers();
});

async function open(url: string, count: number): Promise<Socket[]> {
  const sockets = await Promise.all(Array.from({ length: count }, () => openSocket(url)));
  for (const socket of sockets) socket.resume().on('error', () => {});
  opened.push(...sockets);
  return sockets;
}

const countOpen = (sockets: readonly Socket[]) => sockets.filter(({ closed }) => !closed).length;

describe('the connections of a server', () => {
  it('stay below their limit, however many callers open some, and probes are still answered', async () => {
    const { url } = await startServer();
    const sockets = await open(url, 300);
    await vi.waitUntil(() => countOpen(sockets) <= 64, { interval: 5, timeout: patienceMs });
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect(countOpen(sockets)).toBeGreaterThan(60);
  });

  it('give way to new ones if they have sent half a request', async () => {
    const { url } = await startServer({ limits: { connections: 3 } });
    const sockets = await open(url, 3);
    for (const socket of sockets)
      socket.write(`POST ${hookPath} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99\r\n\r\n{`);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  it('are kept while their response is being made', async () => {
    let answer = () => {};
    const waiting = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const { url } = await startServer({ checks: { ledger: () => waiting }, limits: { connections: 2 } });
    const [busy] = await open(url, 1);
    busy?.write('GET /readyz HTTP/1.1\r\nhost: localhost\r\n\r\n');
    const [idle, later] = [await open(url, 1), await open(url, 1)].flat();
    if (idle && !idle.closed) await once(idle, 'close');
    expect(later?.closed).toBe(false);
    if (!busy) throw new Error('no connection');
    const data = once(busy, 'data');
    answer();
    expect(String((await data)[0])).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('are not kept long for another request', async () => {
    const { url } = await startServer();
    expect((await fetch(`${url}/healthz`)).headers.get('keep-alive')).toBe('timeout=5');
  });
});
