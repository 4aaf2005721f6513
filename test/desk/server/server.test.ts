import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { ask, startGatedHook } from './hook-calls.js';
import { openSocket, readToEnd, startServer } from './some-server.js';

describe('a server that closes', () => {
  it('closes connections that do not end within the grace period', async () => {
    const { url, server, asked } = await startGatedHook({ closeGraceMs: 50 });
    const answer = ask(url, { day: '2026-11-20' });
    const failed = expect(answer).rejects.toThrow();
    await asked.passed;
    await server.close();
    await failed;
  });

  it('closes idle connections, and those without any request', async () => {
    const { url, server } = await startGatedHook({ closeGraceMs: 50 });
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
    const { url, server, gate, asked } = await startGatedHook({ closeGraceMs: 60_000 });
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
