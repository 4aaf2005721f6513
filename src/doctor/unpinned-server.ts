import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { dotEnvName, readDotEnv } from '../config/dot-env.js';
import { isGroup } from '../config/kinds.js';
import { readSettings } from '../config/read.js';
import { readFileLocation } from '../sources/files/location.js';

/** An SFTP server whose host key is not pinned, or not as a host key is. */
export interface UnpinnedServer {
  /** What it is for: the part of whose findings it is one. */
  readonly part: 'sftp' | 'source';
  /** The setting that would pin it. */
  readonly setting: string;
  readonly host: string;
  readonly port: number;
}

/**
 * The SFTP servers of a configuration that is not understood, the pins of their host keys among what is wrong, as far as
 * they can be told: that of the review file, and that of the day's file.
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
    // What is wrong with the file has been said.
    return [];
  }
}

type Address = Pick<UnpinnedServer, 'host' | 'port'>;

function findDeliveryServer(tree: unknown): Address | undefined {
  const sftp = memberOf(memberOf(tree, 'file'), 'sftp');
  const host = memberOf(sftp, 'host');
  const port = memberOf(sftp, 'port') ?? 22;
  const isPort = Number.isInteger(port) && Number(port) >= 1 && Number(port) <= 65_535;
  // A variable that is missing stands there as it is written.
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
    // The same goes for what is wrong with the path.
    return undefined;
  }
}

function memberOf(group: unknown, name: string): unknown {
  return isGroup(group) ? group[name] : undefined;
}
