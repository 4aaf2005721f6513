import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { hookPath } from '../../../src/desk/server/hook.js';
import { createHostCheck } from '../../../src/desk/server/server.js';
import { openSocket, readToEnd, startServer } from './some-server.js';

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
  it('is refused, except at what probes request: the site may have let its name resolve to this machine', async () => {
    const { url } = await startServer();
    for (const path of ['/', '/days/2026-11-20', '/runs/some-run', '/metrics', hookPath, '/nothing']) {
      const { status, text } = await call(url, path, 'rebound.example.com');
      expect([path, status, JSON.parse(text).error.class]).toEqual([path, 421, 'wrong-host']);
      expect(text).not.toContain('rebound');
    }
    for (const path of ['/healthz', '/readyz'])
      expect((await call(url, path, 'pod-7.example.com')).status).toBe(200);
  });

  it('is answered where the host is configured, on any port and in any case', async () => {
    const { url } = await startServer({ hosts: ['Review.example.com'] });
    for (const [host, status] of [
      ...['review.example.com', 'REVIEW.example.com:8443', 'review.example.com.'].map((one) => [one, 200]),
      ...['evil-review.example.com', 'review.example.com.evil.example'].map((one) => [one, 421]),
    ] as [string, number][])
      expect([host, (await call(url, '/metrics', host)).status]).toEqual([host, status]);
  });

  it('is refused if it also names an allowed one', async () => {
    const { url } = await startServer();
    for (const path of ['/', '/healthz', hookPath])
      for (const second of ['Host: rebound.example.com', 'host: localhost']) {
        const socket = await openSocket(url);
        socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n${second}\r\nconnection: close\r\n\r\n`);
        expect(await readToEnd(socket)).toMatch(/^HTTP\/1\.1 400 .*more than one Host header/s);
      }
  });
});

it.each<[string | undefined, string | undefined, boolean]>([
  ['localhost:8080', '10.0.0.5', true],
  ['[::1]:8080', '10.0.0.5', true],
  ['10.0.0.5:8080', '10.0.0.5', true],
  ['10.0.0.5', '::ffff:10.0.0.5', true],
  ['[fe80:0::1]:80', 'fe80::1%eth0', true],
  ['[2001:DB8:0::1]', '10.0.0.5', true],
  [undefined, '10.0.0.5', false],
  ['', '10.0.0.5', false],
  ['10.0.0.6', '10.0.0.5', false],
  ['127.0.0.1.example.com', '10.0.0.5', false],
  ['localhost@example.com', '10.0.0.5', false],
  ['localhost, example.com', '10.0.0.5', false],
  ['undefined', undefined, false],
])('The host %s on a connection to %s: is it allowed? %s', (header, local, isAllowed) => {
  const check = createHostCheck(['review.example.com', '2001:db8::1']);
  expect(check(header, local)).toBe(isAllowed);
});
