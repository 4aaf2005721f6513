import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describeError } from '../../base/safe-error.js';
import { isGroup } from '../../base/setting-values.js';
import { dotEnvName, readDotEnv } from '../../config/environment.js';
import type { Config } from '../../config/load.js';
import { listPlaceholders } from '../../config/placeholders.js';
import { ConfigurationError } from '../../config/problems.js';
import { readSettings } from '../../config/read.js';
import { readFileLocation } from '../../sources/files/day-file.js';
import { type Finding, findingsOf } from '../examination/finding.js';

const { ok, warning, wrong } = findingsOf('configuration');

interface ReadConfiguration {
  /** Absent if it can't be used. */
  readonly config?: Config;
  readonly findings: readonly Finding[];
  /** The settings that are wrong, as paths. */
  readonly wrongSettings: readonly string[];
}

/** Reads the configuration and reports everything that is wrong with it. */
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
      wrong(describeError(error)),
    ];
    return {
      findings: [...mistakes, warning('the other parts are checked once the configuration can be read')],
      wrongSettings: problems?.map(({ path }) => path) ?? [],
    };
  }
}

function askToFillIn(path: string): Finding {
  const advice = /hostKey$/.test(path)
    ? 'The line `sftp` shows the key that the server presents. Ask its operator to confirm it.'
    : 'Replace it, in the configuration or in .env, wherever the value comes from.';
  return wrong(`${path} is still the placeholder that init wrote`, advice);
}

function warnOfSecret(path: string): Finding {
  return warning(
    `${path} holds a secret in the file itself`,
    `Move it into the environment or .env, and set this to "\${NAME}" with the variable's name, or into a file: "\${file:PATH}".`,
  );
}

/** An SFTP server without a valid pinned host key. */
export interface UnpinnedServer {
  /** The part that reports it. */
  readonly part: 'sftp' | 'source';
  /** The setting that would pin it. */
  readonly setting: string;
  readonly host: string;
  readonly port: number;
}

/**
 * The SFTP servers of an invalid configuration whose pinned host key is among the problems, as far as they can be found: that
 * of the review file and that of the day's file.
 *
 * @param wrongSettings as paths
 */
export async function findUnpinnedServers(
  file: string,
  env: NodeJS.ProcessEnv,
  wrongSettings: readonly string[],
): Promise<readonly UnpinnedServer[]> {
  const kinds = [
    { part: 'sftp', setting: 'file.sftp.hostKey', find: findDeliveryServer },
    { part: 'source', setting: 'source.sftp.hostKey', find: findSourceServer },
  ] as const;
  const unpinned = kinds.filter(({ setting }) => wrongSettings.some((path) => path.startsWith(setting)));
  if (unpinned.length === 0) return [];
  try {
    const ofFile = await readDotEnv(join(dirname(file), dotEnvName));
    const text = await readFile(file, 'utf8');
    const { tree } = readSettings({ text, file, env: { ...ofFile, ...env } });
    return unpinned.flatMap(({ part, setting, find }) => {
      const address = find(tree);
      return address === undefined ? [] : [{ part, setting, ...address }];
    });
  } catch {
    // The file's problems have been reported already.
    return [];
  }
}

type Address = Pick<UnpinnedServer, 'host' | 'port'>;

function findDeliveryServer(tree: unknown): Address | undefined {
  const sftp = memberOf(memberOf(tree, 'file'), 'sftp');
  const host = memberOf(sftp, 'host');
  const port = memberOf(sftp, 'port') ?? 22;
  const isPort = Number.isInteger(port) && Number(port) >= 1 && Number(port) <= 65_535;
  // A missing variable is still there as `${NAME}`.
  return typeof host === 'string' && /^[^\s/@${}]+$/.test(host) && isPort
    ? { host, port: Number(port) }
    : undefined;
}

function findSourceServer(tree: unknown): Address | undefined {
  const path = memberOf(memberOf(tree, 'source'), 'path');
  if (typeof path !== 'string') return undefined;
  try {
    const location = readFileLocation(path);
    return location.kind === 'sftp' ? { host: location.host, port: location.port } : undefined;
  } catch {
    // The path's problems have been reported already.
    return undefined;
  }
}

function memberOf(group: unknown, name: string): unknown {
  return isGroup(group) ? group[name] : undefined;
}
