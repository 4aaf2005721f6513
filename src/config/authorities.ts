import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { findAuthority } from '../base/connection-security.js';
import { codeOf } from '../base/safe-error.js';
import type { Problem } from './problems.js';
import type { Config } from './resolve.js';

/** Checks the CA certificate files that addresses name, so that a wrong one is not first noticed at night. */
export async function checkAuthorities(config: Config): Promise<readonly Problem[]> {
  const problems = await Promise.all(
    Object.entries(listAuthorities(config)).map(async ([path, file]): Promise<Problem[]> => {
      const message = file === undefined ? undefined : await explainFile(file);
      return message === undefined ? [] : [{ path, message }];
    }),
  );
  return problems.flat();
}

function listAuthorities({ ledger, queue, source }: Config): Readonly<Record<string, string | undefined>> {
  return {
    ledger: ledger.kind === 'postgres' ? findAuthority(ledger.url) : undefined,
    'queue.ca': queue.kind === 'redis' ? queue.ca : undefined,
    'source.url': source.kind === 'sql' ? findAuthority(source.url) : undefined,
  };
}

async function explainFile(file: string): Promise<string | undefined> {
  let content: Buffer;
  try {
    content = await readFile(file);
  } catch (error) {
    return `the file of its authority cannot be read (${codeOf(error) ?? 'unknown'})`;
  }
  try {
    new X509Certificate(content);
    return undefined;
  } catch {
    return 'expected a file of its authority with a certificate in PEM, got: another content';
  }
}
