import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { dotEnvName } from '../config/environment.js';
import type { Config } from '../config/load.js';
import { type Finding, findingsOf } from '../examination/finding.js';
import { kindOf } from '../sources/registry.js';
import { codeOf } from '../text/safe-error.js';
import { quoteForShell } from '../text/shell.js';
import type { KeptFolder, WrittenPlace } from './folders.js';

const { ok, warning, wrong } = findingsOf('file-modes');

/** A file that only its owner may read. */
interface ClosedFile {
  readonly path: string;
  /** What it holds, for people: "a secret". */
  readonly holds: string;
}

/** Checks that these are files, and closed to others. Missing ones are skipped: other checks report them. */
export async function checkFileModes(
  files: readonly ClosedFile[],
  platform: NodeJS.Platform,
): Promise<readonly Finding[]> {
  if (platform === 'win32') return [ok('not checked: Windows has no file modes')];
  const found = await Promise.all(files.map(lookAt));
  const findings = found.flat();
  return findings.length > 0 ? findings : [ok('no file with secrets or names is open to others')];
}

async function lookAt({ path, holds }: ClosedFile): Promise<Finding[]> {
  try {
    const stats = await stat(path);
    if (stats.isDirectory()) return [wrong(`${path} is a folder, expected a file that holds ${holds}`)];
    const mode = stats.mode & 0o777;
    if ((mode & 0o077) === 0) return [];
    const message = `${path} holds ${holds} and is open to others (mode ${mode.toString(8)})`;
    return [warning(message, `chmod 600 ${quoteForShell(path)}`)];
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')) return [];
    throw error;
  }
}

/** The files that only their owner may read. @param file the configuration */
export function listClosedFiles(file: string, config?: Config): ClosedFile[] {
  const env = { path: join(dirname(file), dotEnvName), holds: 'secrets' };
  if (config === undefined) return [env];
  const { literalSecrets, ledger, source } = config;
  const keys = [config.file.sftp?.privateKeyFile, ...(kindOf(source).listSecretFiles?.(source) ?? [])];
  return [
    ...(literalSecrets.length > 0 ? [{ path: file, holds: 'a secret' }] : []),
    env,
    ...[...new Set(keys)].flatMap((path) => (path === undefined ? [] : [{ path, holds: 'a private key' }])),
    ...(config.server.users !== undefined
      ? [{ path: config.server.users, holds: 'the key of sessions and hashes of passwords' }]
      : []),
    ...('path' in ledger ? [{ path: ledger.path, holds: "guests' names" }] : []),
  ];
}

/** The folders that hold guests' names. */
export function listKeptFolders({ archive, file: { spool } }: Config): KeptFolder[] {
  return [
    ...(archive.kind === 'directory' ? [{ part: 'archive' as const, path: archive.path }] : []),
    { part: 'spool', path: spool },
  ];
}

/** Everything on this machine that is written to. */
export function listWrittenPlaces(config: Config): WrittenPlace[] {
  const { ledger } = config;
  return [
    ...('path' in ledger ? [{ name: 'ledger', path: dirname(ledger.path) }] : []),
    ...listKeptFolders(config).map(({ part, path }) => ({ name: part, path })),
  ];
}
