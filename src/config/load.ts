import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { findAuthority } from '../base/connection-security.js';
import { codeOf } from '../base/safe-error.js';
import { commandNameIn } from './command-name.js';
import { dotEnvName, readDotEnv } from './environment.js';
import { ConfigurationError, type Problem } from './problems.js';
import { readText } from './read-text.js';
import type { Config } from './resolve.js';

export type { Config } from './resolve.js';

/**
 * Reads the configuration file. `${NAME}` in it is replaced by the variable of the environment or, if that has none, of
 * the file `.env` beside it.
 *
 * @param request `script`: see `commandNameIn`; `adjust` changes the settings as they are written, before they are checked
 * @throws ConfigurationError when there is no such file, it or `.env` can't be read, or something in it has to be fixed
 */
export async function loadConfig(request: {
  readonly file: string;
  readonly env: NodeJS.ProcessEnv;
  readonly script?: string | undefined;
  readonly adjust?: ((settings: unknown) => void) | undefined;
}): Promise<Config> {
  const { file, env, script, adjust } = request;
  // The schema's libraries take longer to load than everything else; --help must not wait for them.
  const [text, { parseConfig }] = await Promise.all([
    requireText(file, commandNameIn(env, script)),
    import('./parse.js'),
  ]);
  const ofFile = await readDotEnv(join(dirname(file), dotEnvName));
  const config = parseConfig({ text, file, env: { ...ofFile, ...env } }, adjust);
  const problems = await checkAuthorities(config);
  if (problems.length > 0) throw new ConfigurationError(file, problems);
  return config;
}

async function requireText(file: string, commandName: string): Promise<string> {
  const text = await readText(file);
  if (text !== undefined) return text;
  const message = `there is no such file; \`${commandName} init\` writes one, or name another with --config`;
  throw new ConfigurationError(file, [{ path: file, message }]);
}

/** Checks the CA certificate files that addresses name, so that a wrong one is not first noticed at night. */
async function checkAuthorities(config: Config): Promise<readonly Problem[]> {
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
