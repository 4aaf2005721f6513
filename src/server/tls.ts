import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext, type Server } from 'node:tls';
import { UsageError } from '../review/refusals.js';
import { codeOf, describeError } from '../text/safe-error.js';
import type { ServerLog } from './ports.js';

/** The files of the server's certificate, in PEM. */
interface TlsFiles {
  /** The certificate, followed by those of intermediate authorities. */
  readonly certificateFile: string;
  readonly keyFile: string;
}

/** A certificate and its private key, in PEM. */
export interface TlsIdentity {
  readonly cert: string;
  readonly key: string;
  /** Epoch milliseconds */
  readonly validUntil: number;
}

/** Reads the files and tries them together. @throws UsageError that names the setting to change */
export async function readTlsIdentity({ certificateFile, keyFile }: TlsFiles): Promise<TlsIdentity> {
  const [cert, key] = await Promise.all([
    readSetting('server.tls.certificateFile', certificateFile),
    readSetting('server.tls.keyFile', keyFile),
  ]);
  const validUntil = readValidUntil(cert, certificateFile);
  try {
    createSecureContext({ cert, key });
  } catch {
    // OpenSSL's own messages don't say which file is meant.
    throw new UsageError(
      `server.tls.keyFile: ${keyFile} is not the private key of the certificate, in PEM and without a passphrase`,
    );
  }
  return { cert, key, validUntil };
}

async function readSetting(setting: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new UsageError(`${setting}: ${path} cannot be read (${codeOf(error)})`);
  }
}

function readValidUntil(cert: string, path: string): number {
  try {
    return Date.parse(new X509Certificate(cert).validTo);
  } catch {
    throw new UsageError(`server.tls.certificateFile: ${path} is not a certificate in PEM`);
  }
}

interface IdentityParts {
  readonly read: () => Promise<TlsIdentity>;
  /** How often the files are read again, in milliseconds. */
  readonly everyMs: number;
  readonly log: ServerLog;
}

/**
 * Gives a server its certificate, and a renewed one once it is there. One that can't be used is logged, and the server keeps the
 * one that it has.
 *
 * @throws what `read` throws, the first time
 */
export async function keepIdentity(server: Server, { read, everyMs, log }: IdentityParts): Promise<void> {
  let current = await read();
  let problem: string | undefined;
  server.setSecureContext(current);

  async function renew(): Promise<void> {
    try {
      const next = await read();
      problem = undefined;
      if (next.cert === current.cert && next.key === current.key) return;
      server.setSecureContext(next);
      current = next;
      log.info({ validUntil: new Date(next.validUntil).toISOString() }, 'certificate renewed');
    } catch (error) {
      const words = describeError(error);
      if (words !== problem) log.error({ error: words }, 'the renewed certificate cannot be used');
      problem = words;
    }
  }

  const timer = setInterval(() => void renew(), everyMs).unref();
  server.once('close', () => clearInterval(timer));
}
