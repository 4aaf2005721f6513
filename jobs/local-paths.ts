import type { Config } from '../src/config/load.js';
import { createPathShortener } from '../src/server/shown-paths.js';

/** Shortens the configured paths of this machine in texts that leave it. */
export function createLocalPathShortener(config: Config): (text: string) => string {
  const { folder, ledger, archive, file, source } = config;
  // Paths that texts may name besides those below the configuration's folder.
  const paths = [
    'path' in ledger ? ledger.path : '',
    'path' in archive ? archive.path : '',
    file.spool,
    'path' in source ? source.path : '',
  ];
  return createPathShortener({ folder, paths });
}
