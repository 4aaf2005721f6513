import { request } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { hookPath } from '../../src/desk/server/hook.js';
import { createHostCheck } from '../../src/desk/server/server.js';
import { openSocket, readToEnd, startServer, stopServers } from './some-server.js';

afterEach(stopServers);

async function call(url: string, path: string, host: string): Promise<{ status?: number; text: string }> {
  const message = request(`${url}${path}`, { headers: { host } });
  return new Promise((resolve, reject) => {
    message.once('error', reject).once('response', async (response) => {
      let text = '';
      for await (const part of response) text += part;
      resolve({ status: response.statusCode ?? 0, text });
    });
    message.end();
  });
}

describe('a request for the host of another site', () => {
  it.each(['/', '/days/2026-11-20', '/runs/some-run', '/metrics', hookPath, '/nothing'])(
    'is refused at %s: the site may have let its name resolve to this machine',
    async (path) => {
      const { url } = await startServer();
      const { status, text } = await call(url, path, 'rebound.example.com');
      expect([status, JSON.parse(text).error.class]).toEqual([421, 'wrong-host']);
      expect(text).not.toContain('rebound');
    },
  );

  it.each(['/healthz', '/readyz'])('is answered at %s, which probes request', async (path) => {
    const { url } = await startServer();
    expect((await call(url, path, 'pod-7.example.com')).status).toBe(200);
  });

  it('is answered where the host is configured, on any port and in any case', async () => {
    const { url } = await startServer({ hosts: ['Review.example.com'] });
    for (const host of ['review.example.com', 'REVIEW.example.com:8443', 'review.example.com.'])
      expect((await call(url, '/metrics', host)).status).toBe(200);
    expect((await call(url, '/metrics', 'evil-review.example.com')).status).toBe(421);
    expect((await call(url, '/metrics', 'review.example.com.evil.example')).status).toBe(421);
  });

  it.each(['/', '/healthz', hookPath])('is refused at %s if it also names an allowed one', async (path) => {
    const { url } = await startServer();
    for (const hosts of [
      'host: localhost\r\nHost: rebound.example.com',
      'host: localhost\r\nhost: localhost',
    ]) {
      const socket = await openSocket(url);
      socket.write(`GET ${path} HTTP/1.1\r\n${hosts}\r\nconnection: close\r\n\r\n`);
      expect(await readToEnd(socket)).toMatch(/^HTTP\/1\.1 400 .*more than one Host header/s);
    }
  });
});

describe('the check of a host', () => {
  const isAllowed = createHostCheck(['review.example.com', '2001:db8::1']);

  it.each([
    ['localhost:8080', '10.0.0.5'],
    ['[::1]:8080', '10.0.0.5'],
    ['10.0.0.5:8080', '10.0.0.5'],
    ['10.0.0.5', '::ffff:10.0.0.5'],
    ['[fe80:0::1]:80', 'fe80::1%eth0'],
    ['[2001:DB8:0::1]', '10.0.0.5'],
  ])('accepts %s on a connection to %s', (header, local) => {
    expect(isAllowed(header, local)).toBe(true);
  });

  it.each([
    [undefined, '10.0.0.5'],
    ['', '10.0.0.5'],
    ['10.0.0.6', '10.0.0.5'],
    ['127.0.0.1.example.com', '10.0.0.5'],
    ['localhost@example.com', '10.0.0.5'],
    ['localhost, example.com', '10.0.0.5'],
    ['undefined', undefined],
  ])('refuses %s on a connection to %s', (header, local) => {
    expect(isAllowed(header, local)).toBe(false);
  });
});
