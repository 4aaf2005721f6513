import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createServiceClient } from '../../src/service/client.js';
import type { Verdict } from '../../src/service/verdict.js';
import { startStandIn } from '../support/http-stand-in.js';

const certificate = makeCertificate();

/** A certificate for `localhost` that nobody trusts; undefined where openssl is not installed. */
function makeCertificate(): { key: Buffer; cert: Buffer } | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'certificate-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const kind = [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-subj',
    '/CN=localhost',
  ];
  try {
    execFileSync('openssl', ['req', '-x509', ...kind, '-keyout', key, '-out', cert, '-days', '2'], {
      stdio: 'ignore',
    });
    return { key: readFileSync(key), cert: readFileSync(cert) };
  } catch {
    return undefined;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function review(baseUrl: string): Promise<Verdict> {
  const client = createServiceClient({
    baseUrl,
    apiKey: 'k-7f3a',
    accountId: 'acme',
    connections: 1,
    timeoutMs: 20_000,
    connectTimeoutMs: 10_000,
    clock: () => new Date(),
  });
  const { signal } = new AbortController();
  return client.reviewBookedHotels(Buffer.from('{"Hotels":[]}'), { signal }).finally(() => client.close());
}

describe('a service with an untrusted certificate', () => {
  beforeEach(({ skip }) =>
    skip(certificate === undefined, 'needs openssl on the PATH (Debian: apt-get install openssl)'),
  );

  let requests = 0;
  const server = createServer({ ...certificate }, (_request, response) => {
    requests += 1;
    response.end('{"Status":true,"StatusCode":2000}');
  });
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => server.close());

  it('stops the run and receives nothing', async () => {
    const { port } = server.address() as AddressInfo;
    expect(await review(`https://localhost:${port}`)).toEqual({ kind: 'fatal', code: 'tls-certificate' });
    expect(requests).toBe(0);
  });
});

describe('https to a service that speaks plain http', () => {
  it('stops the run', async () => {
    const standIn = await startStandIn();
    const verdict = await review(`https://127.0.0.1:${standIn.port}`);
    expect(verdict).toEqual({ kind: 'fatal', code: 'tls-protocol' });
    expect(standIn.requests).toHaveLength(0);
    await standIn.close();
  });
});
