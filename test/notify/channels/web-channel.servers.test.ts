import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createPlainServer } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect, type Server } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type CertificateFiles, certificateNeeds, makeCertificate } from '../../support/machine.js';
import { trustAuthority } from '../../support/trusted-authority.js';
import { open, path, refusalOf, secret, send, webKinds } from './channel-kit.js';

describe.skipIf(certificateNeeds !== undefined)('Over https', () => {
  it.each(webKinds)('a channel of kind %s trusts known authorities only', async (_, write) => {
    const files = makeCertificate('DNS:localhost');
    const { origin, received } = await startTls(files);
    const refusal = await refusalOf(send(await open(write(origin))));
    expect(refusal.code).toBe('tls-certificate');
    expect(refusal.message).toMatch(/NODE_EXTRA_CA_CERTS/);
    expect(received()).toBe(0);
    trustAuthority(files.certificate);
    await send(await open(write(origin)));
    expect(received()).toBe(1);
  });

  it('a channel uses the proxy of HTTPS_PROXY, which sees no secret', async () => {
    const files = makeCertificate('DNS:localhost');
    const { origin, received } = await startTls(files);
    const seen: string[] = [];
    const proxy = createPlainServer().on('connect', ({ url = '', headers }, socket) => {
      seen.push(url, ...Object.values(headers).map(String));
      const other = connect(Number(url.split(':')[1]), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        other.pipe(socket).pipe(other);
      });
      for (const one of [other, socket]) one.on('error', () => {});
    });
    const port = await listen(proxy);
    trustAuthority(files.certificate);
    const written = { kind: 'webhook', url: `${origin}${path}`, secret };
    await send(await open(written, { proxy: { url: `http://127.0.0.1:${port}` } }));
    expect(received()).toBe(1);
    expect(seen[0]).toBe(new URL(origin).host);
    expect(seen.join(' ')).not.toContain('hidden');
  });
});

/** A receiver that accepts every call over TLS. */
async function startTls({ certificate, key }: CertificateFiles) {
  let received = 0;
  const files = { cert: readFileSync(certificate), key: readFileSync(key) };
  const server = createServer(files, (request, response) => {
    received += 1;
    request.resume().once('end', () => response.end());
  });
  onTestFinished(() => server.closeAllConnections());
  const port = await listen(server);
  return { origin: `https://localhost:${port}`, received: () => received };
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}
