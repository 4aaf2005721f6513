import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { dotEnvName, readDotEnv } from '../config/dot-env.js';
import { isGroup } from '../config/kinds.js';
import type { Config } from '../config/load.js';
import { ConfigurationError } from '../config/problems.js';
import { readSettings } from '../config/read.js';
import { listPlaceholders } from '../setup/placeholders.js';
import { explain } from './check.js';
import { type Finding, findingsOf } from './finding.js';

const { ok, warning, wrong } = findingsOf('configuration');

export interface ReadConfiguration {
  /** Absent where it cannot be used. */
  readonly config?: Config;
  readonly findings: readonly Finding[];
  /** The settings that are wrong, as paths. */
  readonly wrongSettings: readonly string[];
}

/** Reads the configuration, and says everything that is wrong with it. */
export async function readConfiguration(
  file: string,
  load: () => Promise<Config>,
): Promise<ReadConfiguration> {
  try {
    const config = await load();
    const understood = ok(`${file} is understood; bookings are delivered by ${config.delivery}`);
    const findings = [
      understood,
      ...listPlaceholders(config).map(askToFillIn),
      ...config.literalSecrets.map(warnOfSecret),
    ];
    return { config, findings, wrongSettings: [] };
  } catch (error) {
    const problems = error instanceof ConfigurationError ? error.problems : undefined;
    const mistakes = problems?.map(({ path, message }) => wrong(`${path}: ${message}`)) ?? [
      wrong(explain(error)),
    ];
    return {
      findings: [...mistakes, warning('the other parts are looked at when the configuration can be read')],
      wrongSettings: problems?.map(({ path }) => path) ?? [],
    };
  }
}

function askToFillIn(path: string): Finding {
  const advice = /hostKey$/.test(path)
    ? 'The line sftp shows what the server presents; ask its operator whether that is right.'
    : 'Put in the right one: in the configuration, or in .env where that takes it from there.';
  return wrong(`${path} is still the placeholder that init wrote`, advice);
}

function warnOfSecret(path: string): Finding {
  return warning(
    `${path} holds a secret that stands in the file itself`,
    `Put it into the environment or into .env, and write the setting as "\${NAME}" with the variable's name.`,
  );
}

/**
 * The SFTP server of a configuration that is otherwise not understood yet; undefined where it can't be told.
 */
export async function findSftpServer(
  file: string,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly host: string; readonly port: number } | undefined> {
  try {
    const ofFile = await readDotEnv(join(dirname(file), dotEnvName));
    const text = await readFile(file, 'utf8');
    const { tree } = readSettings({ text, file, env: { ...ofFile, ...env } });
    const sftp = memberOf(memberOf(tree, 'file'), 'sftp');
    const host = memberOf(sftp, 'host');
    const port = memberOf(sftp, 'port') ?? 22;
    const isPort = Number.isInteger(port) && Number(port) >= 1 && Number(port) <= 65_535;
    // A variable that is missing stands there as it is written.
    return typeof host === 'string' && /^[^\s/@${}]+$/.test(host) && isPort
      ? { host, port: Number(port) }
      : undefined;
  } catch {
    // What is wrong with the file has been said.
    return undefined;
  }
}

function memberOf(group: unknown, name: string): unknown {
  return isGroup(group) ? group[name] : undefined;
}
