import { once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { hookPath } from '../../../src/desk/server/hook.js';
import { patienceMs } from '../../support/patience.js';
import { openSocket, type Parts, startServer } from './some-server.js';

/** A route whose responses the test makes, and how many requests are being answered. */
function createSlowRoute() {
  const answers: (() => void)[] = [];
  let inProgress = 0;
  let most = 0;
  const desk: NonNullable<Parts['desk']> = (app) => {
    app.get('/slow/:number', async ({ params }) => {
      inProgress += 1;
      most = Math.max(most, inProgress);
      await new Promise<void>((resolve) => answers.push(resolve));
      inProgress -= 1;
      return params;
    });
    app.get('/large', async () => 'x'.repeat(50_000_000));
  };
  return {
    desk,
    answers,
    most: () => most,
    reached: (count: number) =>
      vi.waitUntil(() => answers.length >= count, { interval: 1, timeout: patienceMs }),
  };
}

const ask = (path: string) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`;

async function open(url: string, count: number): Promise<Socket[]> {
  const sockets = await Promise.all(Array.from({ length: count }, () => openSocket(url)));
  for (const socket of sockets) socket.resume().on('error', () => {});
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

  it('give way to new ones if they do not read their response', async () => {
    const { desk } = createSlowRoute();
    const { url } = await startServer({ desk, limits: { connections: 2 } });
    for (let caller = 0; caller < 2; caller += 1) {
      const socket = await openSocket(url);
      socket.on('error', () => {});
      socket.write(ask('/large'));
      await once(socket, 'readable');
    }
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });
});

describe('requests that are sent ahead on a connection', () => {
  it('end the connection if there are too many of them, and none of those that wait is begun', async () => {
    const { desk, answers, reached } = createSlowRoute();
    const { url } = await startServer({ desk, limits: { waitingRequests: 3 } });
    const [few, many] = await open(url, 2);
    few?.write(ask('/slow/1').repeat(4));
    await reached(1);
    many?.write(ask('/slow/2').repeat(5));
    if (many && !many.closed) await once(many, 'close');
    const answerAll = () => {
      for (const answer of answers) answer();
      return answers.length >= 5;
    };
    // The one that ended its connection had begun one.
    await vi.waitUntil(answerAll, { interval: 1, timeout: patienceMs });
    await fetch(`${url}/healthz`);
    expect(answers).toHaveLength(5);
    expect(few?.closed).toBe(false);
  });

  it('are forgotten when the caller has gone', async () => {
    const { desk, answers, reached } = createSlowRoute();
    const { url } = await startServer({ desk });
    const [socket] = await open(url, 1);
    socket?.write(ask('/slow/1').repeat(5));
    await reached(1);
    socket?.resetAndDestroy();
    for (let call = 0; call < 5; call += 1) await fetch(`${url}/healthz`);
    answers[0]?.();
    for (let call = 0; call < 5; call += 1) await fetch(`${url}/healthz`);
    expect(answers).toHaveLength(1);
  });
});
