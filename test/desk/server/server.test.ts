import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { createGate } from '../../support/gate.js';
import { hookSecret as secret } from '../../support/hook-secrets.js';
import { ask } from './hook-calls.js';
import { createHookRuns, openSocket, readToEnd, startServer, stopServers } from './some-server.js';

afterEach(stopServers);

/** A hook whose runs start when the gate is opened. */
async function startGatedHook(closeGraceMs: number) {
  const runs = createHookRuns();
  const gate = createGate();
  const asked = createGate();
  const gated = {
    ...runs,
    start: async (...request: Parameters<typeof runs.start>) => {
      asked.open();
      await gate.passed;
      return runs.start(...request);
    },
  };
  const hook = { secret, runs: gated };
  const started = await startServer({ hook, ledger: runs.ledger, limits: { closeGraceMs } });
  return { ...started, gate, asked, runs };
}

describe('a server that closes', () => {
  it('closes connections that do not end within the grace period', async () => {
    const { url, server, asked } = await startGatedHook(50);
    const answer = ask(url, { day: '2026-11-20' });
    const failed = expect(answer).rejects.toThrow();
    await asked.passed;
    await server.close();
    await failed;
  });

  it('closes idle connections, and those without any request', async () => {
    const { url, server } = await startGatedHook(50);
    const [kept, silent, slow] = await Promise.all([openSocket(url), openSocket(url), openSocket(url)]);
    for (const socket of [kept, silent, slow]) socket.on('error', () => {});
    kept.write('GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n');
    await once(kept, 'data');
    slow.write('GET /healthz HTTP/1.1\r\n');
    // `once` of Node would reject where the other side resets the connection.
    const ended = [kept, silent, slow].map(
      (socket) => new Promise<void>((resolve) => socket.resume().once('close', () => resolve())),
    );
    await server.close();
    await Promise.all(ended);
  });

  it('refuses requests that still arrive over an open connection', async () => {
    const { url, server, gate, asked } = await startGatedHook(60_000);
    const answer = ask(url, { day: '2026-11-20' });
    await asked.passed;
    const socket = await openSocket(url);
    socket.write('GET /healthz HTTP/1.1\r\n');
    // Both sides have seen the connection when a later one was answered.
    await fetch(`${url}/healthz`);
    const closed = server.close();
    socket.write('host: 127.0.0.1\r\n\r\n');
    expect(await readToEnd(socket)).toMatch(/^HTTP\/1\.1 503 .*connection: close.*"unavailable"/is);
    gate.open();
    expect((await answer).status).toBe(202);
    await closed;
  });

  it('closes once, however often it is called, and even if it never listened', async () => {
    const { server } = await startServer();
    await Promise.all([server.close(), server.close()]);
    await server.close();
  });
});

describe('a server that listens', () => {
  it('fails when its port is taken', async () => {
    const { url } = await startServer();
    const port = Number(new URL(url).port);
    await expect(startServer({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  it('returns a usable address, even for IPv6', async () => {
    const { url } = await startServer({ host: '::1' });
    expect(url).toMatch(/^http:\/\/\[::1\]:\d+$/);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });
});
