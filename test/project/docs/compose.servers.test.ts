import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readComposeFile } from '../../support/compose-file.js';
import { certificateNeeds, makeCertificate } from '../../support/machine.js';
import { makeTemporaryFolder } from '../../support/temporary-folder.js';

const { services, secrets } = readComposeFile();

describe('docker-compose.yml', () => {
  it('creates the certificate of the sandbox once, and replaces one that is an authority', ({ skip }) => {
    skip(certificateNeeds !== undefined, certificateNeeds);
    const folder = makeTemporaryFolder();
    const authority = makeCertificate('DNS:sandbox').certificate;
    expect(new X509Certificate(readFileSync(authority)).ca).toBe(true);
    cpSync(authority, join(folder, 'certificate.pem'));
    const { entrypoint = [], command = [] } = services.certificate;
    const script = command.join(' ').replaceAll(/\/certificate(?:-key)?\//g, `${folder}/`);
    const make = () => {
      const [shell = '', ...options] = entrypoint;
      execFileSync(shell, [...options, script], { stdio: 'ignore' });
      return readFileSync(join(folder, 'certificate.pem'));
    };
    const made = make();
    const certificate = new X509Certificate(made);
    expect(certificate.checkHost(services.sandbox.hostname ?? '')).toBe('sandbox');
    expect(certificate.subjectAltName).toBe('DNS:sandbox');
    expect(certificate.ca).toBe(false);
    expect(make()).toEqual(made);
  });

  it('gets its secrets from a script that keeps those that are there', ({ skip }) => {
    // It makes them with openssl.
    skip(certificateNeeds !== undefined, certificateNeeds);
    const folder = makeTemporaryFolder();
    mkdirSync(join(folder, 'ops/docker'), { recursive: true });
    cpSync(
      new URL('../../../ops/docker/make-secrets.sh', import.meta.url),
      join(folder, 'ops/docker/make-secrets.sh'),
    );
    const make = () => {
      execFileSync('sh', [join(folder, 'ops/docker/make-secrets.sh')]);
      const names = readdirSync(join(folder, 'secrets')).sort();
      return Object.fromEntries(
        names.map((name) => [name, readFileSync(join(folder, 'secrets', name), 'utf8')]),
      );
    };
    const made = make();
    const { 'api-key': _ofTheAccount, ...others } = secrets;
    expect(Object.keys(made)).toEqual(Object.keys(others).sort());
    for (const [name, { file }] of Object.entries(others)) expect(file).toBe(`./secrets/${name}`);
    expect(new Set(Object.values(made)).size).toBe(4);
    expect(made['postgres-password']).toMatch(/^[0-9a-f]{48}\n$/);
    expect(made['redis-password']).toMatch(/^[0-9a-f]{48}\n$/);
    expect(made['hook-secret']).toMatch(/^whsec_[\w+/]{43}=\n$/);
    expect(statSync(join(folder, 'secrets')).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'secrets/hash-key')).mode & 0o777).toBe(0o444);
    expect(make()).toEqual(made);
  });
});
