import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { dotEnvName, readDotEnv } from '../config/dot-env.js';
import { isGroup } from '../config/kinds.js';
import { readSettings } from '../config/read.js';

/**
 * The SFTP server of a configuration that is not understood, the pin of its host key among what is wrong; undefined
 * where it can't be told.
 *
 * @param wrongSettings as paths
 */
export async function findUnpinnedServer(
  file: string,
  env: NodeJS.ProcessEnv,
  wrongSettings: readonly string[],
): Promise<{ readonly host: string; readonly port: number } | undefined> {
  if (!wrongSettings.some((path) => path.startsWith('file.sftp.hostKey'))) return undefined;
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
