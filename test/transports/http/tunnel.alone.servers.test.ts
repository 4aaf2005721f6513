import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createTransport } from '../../../src/transports/http/transport.js';
import type { ProxyRules } from '../../../src/transports/http/tunnel.js';
import { createS3Client } from '../../../src/transports/s3/client.js';
import { type CertificateFiles, certificateNeeds, makeCertificate } from '../../support/machine.js';
import { trustAuthority } from '../../support/trusted-authority.js';

async function listen(server: ReturnType<typeof createServer>): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as { readonly port: number }).port;
}

/** A server that records the keys that callers sent. */
async function startServer({ certificate, key }: CertificateFiles, { closes = false } = {}) {
  const keys: unknown[] = [];
  const answer: RequestListener = (request, response) => {
    if (closes) response.setHeader('connection', 'close');
    keys.push(request.headers.apikey ?? request.headers.authorization);
    response.end('{}');
  };
  const files = { cert: readFileSync(certificate), key: readFileSync(key) };
  const port = await listen(createTlsServer(files, answer));
  return { origin: `https://localhost:${port}`, port, keys };
}

/** A proxy that records what it was asked for. @param isRefused by the number of the connection, from 1 */
async function startProxy(status = '200 OK', isRefused = (_number: number) => status !== '200 OK') {
  const asked: unknown[] = [];
  const open = new Set<Duplex>();
  let mostOpen = 0;
  const server = createServer((_, response) => response.end());
  server.on('connect', ({ url = '', headers }, socket) => {
    asked.push([url, headers['proxy-authorization']]);
    open.add(socket);
    mostOpen = Math.max(mostOpen, open.size);
    socket.on('error', () => {}).on('close', () => open.delete(socket));
    if (isRefused(asked.length)) {
      socket.end(`HTTP/1.1 ${status}\r\n\r\n`);
      return;
    }
    const other = connect(Number(url.split(':')[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      other.pipe(socket).pipe(other);
    });
    // Nothing reads from the caller any more, so its end would not be noticed.
    other.on('error', () => {}).on('close', () => socket.destroy());
  });
  const port = await listen(server);
  return { url: `http://user:pa%40ss@localhost:${port}`, asked, mostOpen: () => mostOpen };
}

async function callOver(origin: string, proxy?: ProxyRules) {
  const limits = { connections: 1, timeoutMs: 5_000, connectTimeoutMs: 5_000, maxAnswerBytes: 1_000 };
  const transport = createTransport({ origin, ...limits, proxy });
  onTestFinished(() => transport.close());
  const { signal } = new AbortController();
  const { answer, failure } = await transport.call({
    method: 'GET',
    path: '/',
    headers: ['apikey', 'k-1'],
    signal,
  });
  return failure?.code ?? answer?.status;
}

describe('a call over https', () => {
  let files: CertificateFiles;
  beforeEach(({ skip }) => {
    skip(certificateNeeds !== undefined, certificateNeeds);
    files = makeCertificate('DNS:localhost');
  });
  afterEach(() => vi.unstubAllEnvs());

  it('reaches a server whose authority is trusted, and no other', async () => {
    const { origin, keys } = await startServer(files);
    expect(await callOver(origin)).toBe('tls-certificate');
    expect(keys).toEqual([]);
    trustAuthority(files.certificate);
    expect(await callOver(origin)).toBe(200);
    expect(keys).toEqual(['k-1']);
  });

  it('sends no key to an untrusted server, even if the environment turns verification off', async () => {
    const { origin, keys } = await startServer(files);
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    expect(await callOver(origin)).toBe('tls-certificate');
    expect(keys).toEqual([]);
  });

  it('goes through the proxy, which sees only the host, or bypasses it with NO_PROXY', async () => {
    const { origin, port, keys } = await startServer(files);
    const proxy = await startProxy();
    expect(await callOver(origin, { url: proxy.url })).toBe('tls-certificate');
    expect([keys, proxy.asked.splice(0)]).toEqual([[], [expect.anything()]]);
    trustAuthority(files.certificate);
    expect(await callOver(origin, { url: proxy.url })).toBe(200);
    expect(proxy.asked).toEqual([
      [`localhost:${port}`, `Basic ${Buffer.from('user:pa@ss').toString('base64')}`],
    ]);
    expect(await callOver(origin, { url: proxy.url, direct: ['localhost'] })).toBe(200);
    expect(proxy.asked).toHaveLength(1);
    expect(keys).toEqual(['k-1', 'k-1']);
  });

  it('fails with its own code if the proxy refuses or is unreachable', async () => {
    const { origin } = await startServer(files);
    const proxy = await startProxy('407 Proxy Authentication Required');
    expect(await callOver(origin, { url: proxy.url })).toBe('proxy-refused');
    expect(await callOver(origin, { url: 'http://127.0.0.1:1' })).toBe('proxy-unreachable');
  });

  it('that waits while the proxy refuses others arrives once, and one reported as not sent never arrives', async () => {
    const { origin, keys } = await startServer(files, { closes: true });
    const proxy = await startProxy('503 Busy', (number) => number % 3 === 0);
    trustAuthority(files.certificate);
    const transport = createTransport({
      ...{ origin, proxy: { url: proxy.url } },
      ...{ connections: 2, timeoutMs: 20_000, connectTimeoutMs: 20_000, maxAnswerBytes: 1_000 },
    });
    onTestFinished(() => transport.close());
    const { signal } = new AbortController();
    const callers = Array.from({ length: 30 }, (_, index) => `k-${index}`);
    const results = await Promise.all(
      callers.map((key) => transport.call({ method: 'GET', path: '/', headers: ['apikey', key], signal })),
    );
    const refused = callers.filter((_, index) => results[index]?.failure?.meaning === 'unreached');
    expect(results.filter(({ answer }) => answer?.status === 200)).toHaveLength(30 - refused.length);
    expect(refused).toHaveLength(Math.floor(proxy.asked.length / 3));
    expect(refused.length).toBeGreaterThan(5);
    expect([...keys, ...refused].sort()).toEqual(callers.sort());
    expect(proxy.mostOpen()).toBeLessThanOrEqual(2);
  });

  it('to a bucket follows the same rules', async () => {
    const { origin, port, keys } = await startServer(files);
    const proxy = await startProxy();
    const list = async (proxying: { readonly proxy?: ProxyRules } = {}) => {
      const { ListBucketsCommand } = await import('@aws-sdk/client-s3');
      const client = createS3Client({
        endpoint: origin,
        accessKeyId: 'i',
        secretAccessKey: 's',
        ...proxying,
      });
      await client.send(new ListBucketsCommand()).catch(() => undefined);
      client.destroy();
    };
    await list();
    expect(keys).toEqual([]);
    trustAuthority(files.certificate);
    await list();
    expect(keys.length).toBeGreaterThan(0);
    expect(proxy.asked).toEqual([]);
    await list({ proxy: { url: proxy.url } });
    expect(proxy.asked[0]).toEqual([`localhost:${port}`, expect.stringMatching(/^Basic /)]);
  });
});
