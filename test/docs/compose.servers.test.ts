import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeTemporaryFolder } from '../doctor/temporary-folder.js';
import { readComposeFile } from '../support/compose-file.js';
import { certificateNeeds, makeCertificate } from '../support/machine.js';

const { services } = readComposeFile();

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
});
