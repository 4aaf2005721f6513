import { realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { formatCountOf } from '../../base/format.js';
import { describeError } from '../../base/safe-error.js';
import { quoteForShell } from '../../base/shell.js';
import { batchStreams } from '../../booking/sending.js';
import type { Config } from '../../config/load.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import { readEveryRun } from '../../review/every-run.js';
import { KeyError } from '../../storage/day-keys.js';
import type { KeyFolder } from '../../storage/key-folder.js';
import { type Finding, findingsOf } from '../examination/finding.js';
import { findFolder, tryToWrite } from './folders.js';

const { ok, warning, wrong } = findingsOf('keys');

type Stores = Pick<Config, 'ledger' | 'archive' | 'queue'>;

/** Checks the keys that encrypt guests' names: where they are, who may read them, and whether they can be used. */
export async function checkKeys(
  keys: KeyFolder,
  stores: Stores,
  platform: NodeJS.Platform,
): Promise<readonly Finding[]> {
  const { root } = keys;
  try {
    const { folder, isThere } = await findFolder(root);
    await tryToWrite(folder);
    const { days, faults } = keys.examine();
    const usable = days.length === 0 ? 'no key yet' : `${formatCountOf(days.length, 'day key')}, all usable`;
    return [
      ...faults.map((fault) => wrong(fault)),
      ...(faults.length === 0 ? [ok(isThere ? `${root}: ${usable}` : `${root} will be created`)] : []),
      ...(await warnOfNeighbours(root, stores)),
      ...(isThere && platform !== 'win32' ? await warnOfMode(root) : []),
      ...(stores.queue.kind === 'redis' ? [sharedFolder(root)] : []),
    ];
  } catch (error) {
    return [wrong(`${root}: ${describeError(error)}`, 'Fix that, or set keys to another folder.')];
  }
}

/**
 * Warns of days that can't be read because their key is missing, once for each reason. Days that were stored before
 * anything was encrypted have no key either, so the first batch of each run without a key is tried.
 *
 * @param keyDays the days that have a key
 */
export async function checkLostKeys(
  ledger: ReadOnlyLedger,
  keyDays: readonly string[],
): Promise<readonly Finding[]> {
  const known = new Set(keyDays);
  const reasons = new Set<string>();
  for await (const { id, day, namesBlankedAt } of readEveryRun(ledger)) {
    if (known.has(day) || namesBlankedAt !== undefined) continue;
    for (const stream of batchStreams) {
      try {
        await ledger.bookings.readBatch(id, stream, 0);
      } catch (error) {
        if (error instanceof KeyError && error.code === 'lost') reasons.add(error.message);
        // A run has no batch 0 of a stream that it does not use.
        else if (!(error instanceof RangeError)) throw error;
      }
    }
  }
  return [...reasons].map((reason) => warning(reason, 'Restore it soon: retention waits for it.'));
}

/** What is wrong if a read failed because the configured folder has no keys: no run would start. */
export function findEmptyFolder(error: unknown): Finding | undefined {
  return error instanceof KeyError && error.code === 'unusable' ? wrong(error.message) : undefined;
}

/** Warns if a backup of the ledger or the archive would include the keys. */
async function warnOfNeighbours(root: string, { ledger, archive }: Stores): Promise<readonly Finding[]> {
  const others = [
    ...('path' in ledger ? [{ name: "the ledger's folder", path: dirname(ledger.path) }] : []),
    ...(archive.kind === 'directory' ? [{ name: 'the archive', path: archive.path }] : []),
  ];
  const home = await findRealPath(root);
  const findings: Finding[] = [];
  for (const { name, path } of others) {
    if (!isWithin(home, await findRealPath(path))) continue;
    findings.push(
      warning(
        `${root} lies in ${name} (${path}): a copy or a backup of it would hold the keys too`,
        'Move it, set keys to the new place, and back it up separately.',
      ),
    );
  }
  return findings;
}

async function warnOfMode(root: string): Promise<readonly Finding[]> {
  const open = (await stat(root)).mode & 0o077;
  return open === 0
    ? []
    : [warning(`${root} holds keys and is open to others`, `chmod 700 ${quoteForShell(root)}`)];
}

function sharedFolder(root: string): Finding {
  return warning(
    `${root} is a folder on one machine, but workers may run on others: each of them needs the same keys`,
    'Put it on a file system that all workers share, or keep all workers on one machine.',
  );
}

/** Follows links in the part of the path that exists. */
async function findRealPath(path: string): Promise<string> {
  const { folder } = await findFolder(path);
  return join(await realpath(folder), relative(folder, path));
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`);
}
