import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf } from '../../base/safe-error.js';
import { quoteForShell } from '../../base/shell.js';
import type { BusinessDay } from '../../booking/business-day.js';
import { dotEnvName } from '../../config/environment.js';
import type { Config } from '../../config/load.js';
import type { LocalFile } from '../../sources/common/kind.js';
import { kindOf } from '../../sources/registry.js';
import { type Finding, findingsOf } from '../examination/finding.js';
import type { StoreFolder, WrittenFolder } from './folders.js';

const { ok, warning, wrong } = findingsOf('file-modes');

/** A file that only its owner may read. */
interface ClosedFile {
  readonly path: string;
  /** What it holds, for people: "a secret". */
  readonly holds: string;
}

/**
 * Checks that these are files, and closed to others. Missing ones are skipped: other checks report them.
 *
 * @param sourceFiles may be open to the group of those who write them
 */
export async function checkFileModes(
  files: readonly ClosedFile[],
  platform: NodeJS.Platform,
  sourceFiles: readonly LocalFile[] = [],
): Promise<readonly Finding[]> {
  if (platform === 'win32') return [ok('not checked: Windows has no file modes')];
  const folders = new Set(sourceFiles.map(({ path }) => dirname(path)));
  const found = await Promise.all([
    ...files.map(lookAt),
    ...[...folders].map(lookAtSourceFolder),
    ...sourceFiles.map(lookAtSourceFile),
  ]);
  const findings = found.flat();
  return findings.length > 0 ? findings : [ok('no file with secrets or names is open to others')];
}

async function lookAt({ path, holds }: ClosedFile): Promise<Finding[]> {
  const stats = await statIfThere(path);
  if (stats === undefined) return [];
  if (stats.isDirectory()) return [wrong(`${path} is a folder, expected a file that holds ${holds}`)];
  return (stats.mode & 0o077) === 0
    ? []
    : [
        warning(
          `${path} holds ${holds} and is open to others ${showMode(stats)}`,
          `chmod 600 ${quoteForShell(path)}`,
        ),
      ];
}

async function lookAtSourceFile({ path, holds }: LocalFile): Promise<Finding[]> {
  const stats = await statIfThere(path);
  if (stats === undefined) return [];
  const isOpen = (bits: number) => (stats.mode & bits) !== 0;
  const name = quoteForShell(path);
  if (holds === 'code' ? !isOpen(0o002) : !isOpen(0o006)) return [];
  if (!(await isReachable(path))) return [];
  if (isOpen(0o002))
    return [
      warning(
        `everybody on this machine can change ${path}, which is the source ${showMode(stats)}`,
        `chmod o= ${name}`,
      ),
    ];
  return [
    warning(
      `${path} holds guests' names, and everybody on this machine can read it ${showMode(stats)}`,
      `chmod o= ${name}. So that the next ones are closed, too: close their folder to others, or let their writer use umask 027.`,
    ),
  ];
}

/** Others could put another day's file, or other code, in its place. */
async function lookAtSourceFolder(folder: string): Promise<Finding[]> {
  const stats = await statIfThere(folder);
  if (stats === undefined || (stats.mode & 0o002) === 0 || !(await isReachable(folder))) return [];
  const message = `everybody on this machine can write to ${folder}, where the source is ${showMode(stats)}`;
  return [warning(message, `chmod o-w ${quoteForShell(folder)}`)];
}

/** Whether everybody may enter the folders that lead there. */
async function isReachable(path: string): Promise<boolean> {
  const folder = dirname(path);
  if (folder === path) return true;
  const stats = await statIfThere(folder);
  return stats !== undefined && (stats.mode & 0o001) !== 0 && isReachable(folder);
}

function showMode({ mode }: Stats): string {
  return `(mode ${(mode & 0o777).toString(8)})`;
}

async function statIfThere(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(codeOf(error) ?? '')) return undefined;
    throw error;
  }
}

/** What is read for a day, and written by others. */
export function listSourceFiles({ source }: Config, day: BusinessDay): readonly LocalFile[] {
  return kindOf(source).listLocalFiles?.(source, day) ?? [];
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
export function listStoreFolders({ archive, file: { spool } }: Config): StoreFolder[] {
  return [
    ...(archive.kind === 'directory' ? [{ part: 'archive' as const, path: archive.path }] : []),
    { part: 'spool', path: spool },
  ];
}

/** Everything on this machine that is written to. */
export function listWrittenFolders(config: Config): WrittenFolder[] {
  const {
    ledger,
    mappings: { newHotels },
  } = config;
  return [
    ...('path' in ledger ? [{ name: 'ledger', path: dirname(ledger.path) }] : []),
    ...listStoreFolders(config).map(({ part, path }) => ({ name: part, path })),
    ...(newHotels === undefined ? [] : [{ name: 'mappings.newHotels', path: dirname(newHotels) }]),
  ];
}
