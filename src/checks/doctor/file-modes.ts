import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { platform } from 'node:process';
import { codeOf } from '../../base/safe-error.js';
import { quoteForShell } from '../../base/shell.js';
import { dotEnvName } from '../../config/environment.js';
import { kindOf } from '../../sources/registry.js';
import { type Check, type CheckedApp, type Finding, findingsOf } from '../check.js';

const { ok, warning } = findingsOf('file-modes');

/** Something on this machine that others may not read, or not change. */
export interface ClosedPath {
  readonly path: string;
  /** What it holds, for people: "a secret". */
  readonly holds: string;
  /** The bits of its mode that must not be set, and what `chmod` is told. */
  readonly bits: number;
  readonly chmod: string;
  /** Others write it: it does not matter where nobody else can get to. */
  readonly isOfSource?: boolean;
}

/** Whether files and folders with secrets or names are closed to others. Other checks report missing ones. */
export const fileModes: Check = {
  part: 'file-modes',
  async look(app) {
    if (platform === 'win32') return [ok('not checked: Windows has no file modes')];
    const findings = (await Promise.all(listClosed(app).map(lookAt))).flat();
    return findings.length > 0 ? findings : [ok('no file with secrets or names is open to others')];
  },
};

/** Those of the source may be open to the group of those who write them. */
export function listClosed({ config, file, day }: CheckedApp): ClosedPath[] {
  const { literalSecrets, ledger, archive, source } = config;
  const { listSecretFiles, listLocalFiles } = kindOf(source);
  const own = (holds: string, ...paths: (string | undefined)[]) =>
    [...new Set(paths)].flatMap((path) =>
      path === undefined ? [] : [{ path, holds, bits: 0o077, chmod: 'go=' }],
    );
  const read = listLocalFiles?.(source, day) ?? [];
  const folders = new Set(read.map(({ path }) => dirname(path)));
  const names = "guests' names";
  return [
    ...own('a secret', literalSecrets.length > 0 ? file : undefined),
    ...own('secrets', join(dirname(file), dotEnvName)),
    ...own('a private key', config.file.sftp?.privateKeyFile, ...(listSecretFiles?.(source) ?? [])),
    ...own('the key of sessions and hashes of passwords', config.server.users),
    ...own(names, 'path' in ledger ? ledger.path : undefined),
    ...own(names, archive.kind === 'directory' ? archive.path : undefined, config.file.spool),
    ...own('keys', config.keys),
    // In them, others could put another day's file, or other code, in place of the right one.
    ...[...folders].map((path) => ({
      path,
      holds: 'the source',
      bits: 0o002,
      chmod: 'o-w',
      isOfSource: true,
    })),
    ...read.map(({ path, holds }) => ({
      path,
      holds: holds === 'code' ? 'the code that reads bookings' : names,
      bits: holds === 'code' ? 0o002 : 0o006,
      chmod: 'o=',
      isOfSource: true,
    })),
  ];
}

async function lookAt({ path, holds, bits, chmod, isOfSource }: ClosedPath): Promise<Finding[]> {
  const stats = await statIfThere(path);
  if (stats === undefined || (stats.mode & bits) === 0) return [];
  if (isOfSource && !(await isReachable(path))) return [];
  const mode = (stats.mode & 0o777).toString(8);
  return [
    warning(
      `${path} holds ${holds} and is open to others (mode ${mode})`,
      `chmod ${chmod} ${quoteForShell(path)}${isOfSource ? forNext : ''}`,
    ),
  ];
}

const forNext =
  '. So that the next ones are closed, too: close their folder to others, or let their writer use umask 027.';

/** Whether everybody may enter the folders that lead there. */
async function isReachable(path: string): Promise<boolean> {
  const folder = dirname(path);
  if (folder === path) return true;
  const stats = await statIfThere(folder);
  return stats !== undefined && (stats.mode & 0o001) !== 0 && isReachable(folder);
}

async function statIfThere(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(codeOf(error) ?? '')) return undefined;
    throw error;
  }
}
