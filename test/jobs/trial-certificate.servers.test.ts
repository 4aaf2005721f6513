import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { type CertificateFiles, certificateNeeds, makeCertificate } from '../support/machine.js';
import { makeComposeCertificate, makeVolumes } from './compose-topology.js';

const builtCommand = fileURLToPath(new URL('../../dist/jobs/hotel-review.js', import.meta.url));

/** A certificate for `localhost` that the trial's key has signed, with the one of the trial to prove it. */
function forge(signer: CertificateFiles): { readonly cert: string; readonly key: string } {
  const folder = mkdtempSync(join(tmpdir(), 'forged-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const at = (name: string) => join(folder, name);
  writeFileSync(at('names'), 'subjectAltName=DNS:localhost');
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'ignore' });
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl('req', ...kind, '-subj', '/CN=localhost', '-keyout', at('key'), '-out', at('request'));
  const signed = ['-CA', signer.certificate, '-CAkey', signer.key, '-days', '2', '-extfile', at('names')];
  openssl('x509', '-req', '-in', at('request'), ...signed, '-out', at('certificate'));
  return {
    cert: [at('certificate'), signer.certificate].map((file) => readFileSync(file, 'utf8')).join(''),
    key: readFileSync(at('key'), 'utf8'),
  };
}

/** A server that answers under another name with that certificate, and records the keys that arrive. */
async function listen(tls: { readonly cert: string; readonly key: string }) {
  const keys: unknown[] = [];
  const server = createServer(tls, (request, response) => {
    keys.push(request.headers.apikey);
    response.end('{"Status":true,"StatusCode":2000,"HotelBrands":[]}');
  }).listen(0, 'localhost');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { keys, baseUrl: `https://localhost:${(server.address() as AddressInfo).port}/api/3.0` };
}

async function callBrands(folder: string, baseUrl: string, ca: string) {
  const config = join(folder, 'hotel-review.yaml');
  const service = { baseUrl, apiKey: 'sandbox-key', accountId: 'a' };
  const retry = { tries: 1 };
  writeFileSync(config, stringify({ service, retry, source: { kind: 'csv', path: '{day}.csv' } }));
  const called = spawn(process.execPath, [builtCommand, 'brands', '--config', config], {
    cwd: folder,
    env: { PATH: process.env.PATH, NODE_EXTRA_CA_CERTS: ca },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [said, [code]] = await Promise.all([text(called.stderr), once(called, 'exit')]);
  return { code, text: said };
}

describe('A certificate for another host, signed with the key of the trial', () => {
  beforeEach(({ skip }) => skip(certificateNeeds !== undefined, certificateNeeds));

  it('is refused by the job, which sends nothing', async () => {
    const folder = makeVolumes();
    const files = makeComposeCertificate(folder);
    const other = await listen(forge(files));
    const { code, text } = await callBrands(folder, other.baseUrl, files.certificate);
    expect(other.keys).toEqual([]);
    expect(code).toBe(1);
    expect(text).toContain('tls-certificate');
  });

  it('would be accepted if that of the trial were an authority', async () => {
    const folder = makeVolumes();
    const files = makeCertificate('DNS:sandbox');
    const other = await listen(forge(files));
    await callBrands(folder, other.baseUrl, files.certificate);
    expect(other.keys).toEqual(['sandbox-key']);
  });
});
