import { realpath } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { formatCountOf } from '../../base/format.js';
import type { Config } from '../../config/load.js';
import { type Check, findingsOf } from '../check.js';
import { findFolder, listWritten } from './folders.js';

const { ok, warning, wrong } = findingsOf('keys');

/** The keys that encrypt guests' names: whether they can be used, and whether a backup of what they encrypt would hold them. */
export const keys: Check = {
  part: 'keys',
  appliesTo: ({ config }) => config.keys !== undefined,
  async look({ config, keys }) {
    const { days, faults } = keys()?.examine() ?? { days: [], faults: [] };
    const usable = days.length === 0 ? 'no key yet' : `${formatCountOf(days.length, 'day key')}, all usable`;
    return [
      ...(faults.length === 0 ? [ok(`${config.keys}: ${usable}`)] : faults.map((fault) => wrong(fault))),
      ...(await listNeighbours(config)).map((path) =>
        warning(
          `${config.keys} lies in ${path}: a copy or a backup of it would hold the keys too`,
          'Move it, set keys to the new place, and back it up separately.',
        ),
      ),
    ];
  },
};

/** The folders of the ledger and of the archive, if the keys lie in them. */
async function listNeighbours(config: Config): Promise<readonly string[]> {
  const home = await findRealPath(config.keys ?? '');
  const found: string[] = [];
  for (const { part, path } of listWritten(config)) {
    if (part !== 'ledger' && part !== 'archive') continue;
    const way = relative(await findRealPath(path), home);
    if (way !== '..' && !way.startsWith(`..${sep}`)) found.push(path);
  }
  return found;
}

/** Follows links in the part of the path that exists. */
async function findRealPath(path: string): Promise<string> {
  const folder = await findFolder(path);
  return join(await realpath(folder), relative(folder, path));
}
