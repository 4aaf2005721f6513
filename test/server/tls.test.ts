import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { get } from 'node:https';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { checkServer } from '../../src/doctor/server.js';
import { readTlsIdentity } from '../../src/server/tls.js';
import { hookToken } from '../support/hook-secrets.js';
import { certificateNeeds, makeCertificate } from '../support/machine.js';
import { patienceMs } from '../support/patience.js';
import { startServer, stopServers } from './some-server.js';

afterEach(stopServers);

function fetchOver(url: string, ca: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(`${url}/healthz`, { ca, agent: false }, (response) => resolve(response.resume().statusCode)).once(
      'error',
      reject,
    );
  });
}

describe.skipIf(certificateNeeds !== undefined)(`serve with a certificate ${certificateNeeds ?? ''}`, () => {
  const prepare = async () => {
    const { certificate: certificateFile, key: keyFile } = makeCertificate('IP:127.0.0.1');
    return { certificateFile, keyFile };
  };

  it('speaks TLS, and nothing else', async () => {
    const files = await prepare();
    const { url } = await startServer({ readIdentity: () => readTlsIdentity(files) });
    expect(url).toMatch(/^https:/);
    expect(await fetchOver(url, await readFile(files.certificateFile, 'utf8'))).toBe(200);
    await expect(fetch(url.replace('https', 'http'))).rejects.toThrow();
  });

  it('keeps silent callers below the limit of connections, and closes without waiting for them', async () => {
    const files = await prepare();
    const { url, server } = await startServer({
      readIdentity: () => readTlsIdentity(files),
      limits: { connections: 3, closeGraceMs: 50 },
    });
    const port = Number(new URL(url).port);
    const silent = Array.from({ length: 9 }, () =>
      connect(port, '127.0.0.1')
        .on('error', () => {})
        .resume(),
    );
    onTestFinished(() => {
      for (const socket of silent) socket.destroy();
    });
    await vi.waitUntil(() => silent.filter(({ closed }) => !closed).length <= 3, { timeout: patienceMs });
    expect(await fetchOver(url, await readFile(files.certificateFile, 'utf8'))).toBe(200);
    await server.close();
  });

  it('uses a renewed certificate, and keeps the one it has while the new one is broken', async () => {
    const [files, renewed] = [await prepare(), await prepare()];
    const { url, logged } = await startServer({
      readIdentity: () => readTlsIdentity(files),
      limits: { identityMs: 10 },
    });
    const readSerial = () =>
      new Promise<string>((resolve, reject) => {
        const { port } = new URL(url);
        const socket = connectTls(
          { port: Number(port), host: '127.0.0.1', rejectUnauthorized: false },
          () => {
            resolve(socket.getPeerCertificate().serialNumber);
            socket.destroy();
          },
        ).once('error', reject);
      });
    const first = await readSerial();
    await writeFile(files.certificateFile, 'half a certificate');
    await vi.waitUntil(() => logged.join().includes('cannot be used'), { timeout: patienceMs });
    expect(await readSerial()).toBe(first);
    await copyFile(renewed.keyFile, files.keyFile);
    await copyFile(renewed.certificateFile, files.certificateFile);
    await vi.waitUntil(() => logged.join().includes('certificate renewed'), { timeout: patienceMs });
    expect(await readSerial()).not.toBe(first);
  });

  it('does not start with files that do not fit, and names the setting', async () => {
    const [files, others] = [await prepare(), await prepare()];
    const mixed = { ...files, keyFile: others.keyFile };
    const swapped = { certificateFile: files.keyFile, keyFile: files.keyFile };
    await expect(readTlsIdentity(mixed)).rejects.toThrow('server.tls.keyFile: ');
    await expect(readTlsIdentity(swapped)).rejects.toThrow('server.tls.certificateFile: ');
    const missing = { ...files, keyFile: '/nowhere/key.pem' };
    await expect(startServer({ readIdentity: () => readTlsIdentity(missing) })).rejects.toThrow(
      'server.tls.keyFile: /nowhere/key.pem cannot be read (ENOENT)',
    );
  });

  it('is examined by doctor: its files, and how long it is valid', async () => {
    const tls = await prepare();
    const look = (now: number, files = tls) =>
      checkServer({ server: { host: '0.0.0.0', tls: files }, hook: someHook }, now);
    const { validUntil } = await readTlsIdentity(tls);
    expect(await look(validUntil - 15 * 86_400_000)).toMatchObject([{ verdict: 'ok' }]);
    expect(await look(validUntil - 13 * 86_400_000)).toMatchObject([{ verdict: 'warning' }]);
    expect(await look(Date.now(), { ...tls, keyFile: '/nowhere' })).toMatchObject([{ verdict: 'wrong' }]);
  });
});

const someHook = { toleranceSeconds: 300 };

describe('serve without a certificate', () => {
  it.each(['0.0.0.0', '::', '10.0.0.5', 'review.example.com'])(
    'is a warning of doctor on %s',
    async (host) => {
      const server = { host };
      expect(await checkServer({ server, hook: someHook }, 0)).toMatchObject([
        { part: 'configuration', verdict: 'warning', advice: expect.stringContaining('server.tls.keyFile') },
      ]);
      const withToken = { ...someHook, token: hookToken };
      const [finding] = await checkServer({ server, hook: withToken }, 0);
      expect(finding?.message).toContain('bearer token crosses the network in plain text');
      expect(JSON.stringify(finding)).not.toContain(hookToken);
    },
  );

  it.each(['127.0.0.1', 'localhost', '::1'])('is no warning on %s', async (host) => {
    expect(await checkServer({ server: { host }, hook: someHook }, 0)).toEqual([]);
  });
});
