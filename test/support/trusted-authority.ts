import { readFileSync } from 'node:fs';
import tls from 'node:tls';
import { onTestFinished } from 'vitest';

/**
 * Lets this process trust an authority until the test ends, as if NODE_EXTRA_CA_CERTS had named its file when it started, and those
 * that it starts. Other authorities are not trusted meanwhile.
 */
export function trustAuthority(certificateFile: string): void {
  const ca = readFileSync(certificateFile);
  const { createSecureContext } = tls;
  tls.createSecureContext = (options) => createSecureContext({ ca, ...withoutUndefined(options) });
  const { NODE_EXTRA_CA_CERTS: before } = process.env;
  process.env.NODE_EXTRA_CA_CERTS = certificateFile;
  onTestFinished(() => {
    if (before === undefined) delete process.env.NODE_EXTRA_CA_CERTS;
    else process.env.NODE_EXTRA_CA_CERTS = before;
    tls.createSecureContext = createSecureContext;
  });
}

function withoutUndefined(options: tls.SecureContextOptions = {}): tls.SecureContextOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
