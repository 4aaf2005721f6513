import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { codeOf } from '../text/safe-error.js';
import type { Problem } from './problems.js';
import type { Config } from './resolve.js';

/** Checks the CA certificate files that the settings name, so that a wrong one is not first noticed at night. */
export async function checkAuthorities(config: Config): Promise<readonly Problem[]> {
  const problems = await Promise.all(
    Object.entries(listAuthorities(config)).map(async ([path, file]): Promise<Problem[]> => {
      const message = file === undefined ? undefined : await explainFile(file);
      return message === undefined ? [] : [{ path, message }];
    }),
  );
  return problems.flat();
}

/** The ledger's authority is part of its address. */
function listAuthorities({
  s3,
  ledger,
  queue,
  source,
  notify,
  verdicts,
}: Config): Readonly<Record<string, string | undefined>> {
  return {
    's3.ca': s3.ca,
    'ledger.ca':
      ledger.kind === 'postgres'
        ? (new URL(ledger.url).searchParams.get('sslrootcert') ?? undefined)
        : undefined,
    'queue.ca': queue.kind === 'redis' ? queue.ca : undefined,
    'source.ca': 'ca' in source ? source.ca : undefined,
    'verdicts.imap.ca': verdicts.imap?.ca,
    ...Object.fromEntries(notify.map(({ ca }, index) => [`notify[${index}].ca`, ca])),
  };
}

async function explainFile(file: string): Promise<string | undefined> {
  let content: Buffer;
  try {
    content = await readFile(file);
  } catch (error) {
    return `${file} cannot be read (${codeOf(error) ?? 'unknown'})`;
  }
  try {
    new X509Certificate(content);
    return undefined;
  } catch {
    return `expected a certificate in PEM, got: another content of ${file}`;
  }
}
