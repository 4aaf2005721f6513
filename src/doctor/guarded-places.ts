import { dirname, join } from 'node:path';
import { dotEnvName } from '../config/dot-env.js';
import type { Config } from '../config/load.js';
import type { WrittenPlace } from './disk.js';
import type { ClosedFile } from './file-modes.js';
import type { KeptFolder } from './kept-folder.js';

/** The files that are their owner's alone. @param file the configuration's */
export function listClosedFiles(file: string, config?: Config): ClosedFile[] {
  const env = { path: join(dirname(file), dotEnvName), holds: 'secrets' };
  if (config === undefined) return [env];
  const { literalSecrets, ledger, source } = config;
  const keys = [config.file.sftp?.privateKeyFile, 'sftp' in source ? source.sftp?.privateKeyFile : undefined];
  return [
    ...(literalSecrets.length > 0 ? [{ path: file, holds: 'a secret' }] : []),
    env,
    ...[...new Set(keys)].flatMap((path) => (path === undefined ? [] : [{ path, holds: 'a private key' }])),
    ...(ledger.kind === 'sqlite' ? [{ path: ledger.path, holds: "guests' names" }] : []),
  ];
}

/** The folders that hold guests' names. */
export function listKeptFolders({ archive, file: { spool } }: Config): KeptFolder[] {
  return [
    ...(archive.kind === 'directory' ? [{ part: 'archive' as const, path: archive.path }] : []),
    { part: 'spool', path: spool },
  ];
}

/** Everything on this machine that grows. */
export function listWrittenPlaces(config: Config): WrittenPlace[] {
  const { ledger } = config;
  return [
    ...(ledger.kind === 'sqlite' ? [{ name: 'ledger', path: dirname(ledger.path) }] : []),
    ...listKeptFolders(config).map(({ part, path }) => ({ name: part, path })),
  ];
}
