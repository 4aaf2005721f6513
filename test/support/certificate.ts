import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** What is missing on this machine, and how to get it. */
export const certificateNeeds =
  spawnSync('openssl', ['version'], { stdio: 'ignore' }).status === 0
    ? undefined
    : 'needs openssl: apt-get install openssl';

export interface CertificateFiles {
  /** In PEM. */
  readonly certificate: string;
  readonly key: string;
}

/**
 * Makes a certificate that vouches for itself; its files go with the test.
 *
 * @param name as in a certificate's subjectAltName, for example `DNS:sandbox` or `IP:127.0.0.1`
 */
export function makeCertificate(name: string): CertificateFiles {
  const folder = mkdtempSync(join(tmpdir(), 'certificate-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const files = { certificate: join(folder, 'certificate.pem'), key: join(folder, 'key.pem') };
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const names = ['-subj', '/CN=sandbox', '-addext', `subjectAltName=${name}`];
  const out = ['-keyout', files.key, '-out', files.certificate];
  execFileSync('openssl', ['req', '-x509', ...kind, ...names, ...out], { stdio: 'ignore' });
  return files;
}
