import { randomUUID } from 'node:crypto';
import { open, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { measureRoom } from '../../base/disk-room.js';
import { codeOf, describeError } from '../../base/safe-error.js';
import type { Config } from '../../config/load.js';
import { type Check, type Finding, findingsOf, type Part } from '../check.js';

/** A folder on this machine that is written to; it may not exist yet. */
interface WrittenFolder {
  readonly part: Part;
  readonly setting: string;
  readonly path: string;
}

/**
 * The folders that the configuration names. Notices of low resources store the names of these parts, and one ends when its part is
 * found with room again: a part with another name leaves it open.
 */
export function listWritten({ ledger, archive, file, keys, mappings }: Config): readonly WrittenFolder[] {
  const { newHotels } = mappings;
  const all: readonly (readonly [Part, setting: string, path: string | undefined])[] = [
    ['ledger', 'ledger', 'path' in ledger ? dirname(ledger.path) : undefined],
    ['archive', 'archive', archive.kind === 'directory' ? archive.path : undefined],
    ['spool', 'file.spool', file.spool],
    ['keys', 'keys', keys],
    ['mappings', 'mappings.newHotels', newHotels && dirname(newHotels)],
  ];
  return all.flatMap(([part, setting, path]) => (path === undefined ? [] : [{ part, setting, path }]));
}

/** Writes a small file into each folder and removes it: permissions alone prove nothing. */
export const writtenFolders: Check = {
  part: 'disk',
  look: ({ config }) => Promise.all(listWritten(config).map(tryToWrite)),
};

async function tryToWrite({ part, setting, path }: WrittenFolder): Promise<Finding> {
  const { ok, wrong } = findingsOf(part);
  try {
    const folder = await findFolder(path);
    const trial = join(folder, `.hotel-review-doctor-${randomUUID()}.tmp`);
    const file = await open(trial, 'wx', 0o600);
    try {
      await file.writeFile('A file of hotel-review doctor. It can be removed.\n');
    } finally {
      await file.close();
      await rm(trial, { force: true });
    }
    return ok(
      folder === path ? `${path} can be written to` : `${path} does not exist yet and will be created`,
    );
  } catch (error) {
    return wrong(
      `${path} cannot be written to: ${describeError(error)}`,
      `Fix that, or set ${setting} to another place.`,
    );
  }
}

/** The path itself or, if it does not exist, its nearest existing parent. @throws the system's error */
export async function findFolder(path: string): Promise<string> {
  try {
    // The slash makes the system refuse anything that is not a folder.
    await stat(join(path, '/'));
    return path;
  } catch (error) {
    if (codeOf(error) === 'ENOENT' && dirname(path) !== path) return findFolder(dirname(path));
    throw error;
  }
}

const { ok, warning, wrong } = findingsOf('disk');

const mebibyte = 2 ** 20;
const gibibyte = 2 ** 30;
const scarceBytes = gibibyte;
const tooFewBytes = 100 * mebibyte;

/** The free space, once for each file system that is written to. */
export const disk: Check = {
  part: 'disk',
  async look({ config }) {
    const fileSystems = new Map<number, { readonly folder: string; readonly parts: Part[] }>();
    for (const { part, path } of listWritten(config)) {
      const folder = await findFolder(path);
      const { dev } = await stat(folder);
      const known = fileSystems.get(dev) ?? { folder, parts: [] };
      known.parts.push(part);
      fileSystems.set(dev, known);
    }
    return Promise.all([...fileSystems.values()].map(judgeRoom));
  },
};

async function judgeRoom({ folder, parts }: { readonly folder: string; readonly parts: readonly Part[] }) {
  const { bytes, inodes } = await measureRoom(folder);
  const where = `${parts.join(', ')} (${folder})`;
  if (inodes === 0)
    return wrong(
      `no free inodes for ${where}`,
      'Remove files there: the disk has space, but can hold no more files.',
    );
  const space =
    bytes < gibibyte ? `${Math.floor(bytes / mebibyte)} MiB` : `${(bytes / gibibyte).toFixed(1)} GiB`;
  const message = `${space} free for ${where}`;
  if (bytes >= scarceBytes) return ok(message);
  return (bytes < tooFewBytes ? wrong : warning)(
    message,
    'Free some space: a day that cannot be stored is not sent.',
  );
}
