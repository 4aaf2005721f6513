import { randomUUID } from 'node:crypto';
import { open, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { measureRoom } from '../../base/disk-room.js';
import { codeOf, describeError, SafeError } from '../../base/safe-error.js';
import { quoteForShell } from '../../base/shell.js';
import { type Finding, findingsOf } from '../examination/finding.js';

interface FoundFolder {
  /** The folder itself or, if it does not exist, its nearest existing parent. */
  readonly folder: string;
  readonly isThere: boolean;
}

/** Finds the part of a path that exists. @throws the system's error, also if a file is in the way */
export async function findFolder(path: string): Promise<FoundFolder> {
  let folder = path;
  while (!(await isFolder(folder))) {
    if (dirname(folder) === folder) break;
    folder = dirname(folder);
  }
  return { folder, isThere: folder === path };
}

async function isFolder(path: string): Promise<boolean> {
  try {
    const stats = await stat(path);
    if (stats.isDirectory()) return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
  throw new NotAFolderError(path);
}

/** Something else is where a folder should be. It is reported like the system's own errors. */
class NotAFolderError extends Error {
  readonly code = 'ENOTDIR';
  readonly syscall = 'stat';
  constructor(path: string) {
    super(`ENOTDIR: not a directory, stat '${path}'`);
  }
}

/** Writes a small file into a folder and removes it: permissions alone prove nothing. @throws the system's error */
export async function tryToWrite(folder: string): Promise<void> {
  const path = join(folder, `.hotel-review-doctor-${randomUUID()}.tmp`);
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile('A file of hotel-review doctor. It can be removed.\n');
  } finally {
    await file.close();
    await rm(path, { force: true });
  }
}

const { ok, warning, wrong } = findingsOf('disk');

const mebibyte = 2 ** 20;
const gibibyte = 2 ** 30;
const scarceBytes = gibibyte;
const tooFewBytes = 100 * mebibyte;

/** Something that is written, and its folder, which may not exist yet. */
export interface WrittenFolder {
  readonly name: string;
  readonly path: string;
}

/** Reports the free space, once for each file system that is written to. */
export async function checkDisk(folders: readonly WrittenFolder[]): Promise<readonly Finding[]> {
  const fileSystems = new Map<number, { readonly folder: string; readonly names: string[] }>();
  for (const { name, path } of folders) {
    const { folder } = await findFolder(path);
    const { dev } = await stat(folder);
    const known = fileSystems.get(dev);
    if (known) known.names.push(name);
    else fileSystems.set(dev, { folder, names: [name] });
  }
  return Promise.all([...fileSystems.values()].map(judge));
}

async function judge({ folder, names }: { readonly folder: string; readonly names: readonly string[] }) {
  const { bytes: free, inodes } = await measureRoom(folder);
  const where = `${names.join(', ')} (${folder})`;
  const advice = 'Free some space: a day that cannot be stored is not sent.';
  if (inodes === 0)
    return wrong(
      `no free inodes for ${where}`,
      'Remove files there: the disk has space, but can hold no more files.',
    );
  const message = `${formatSpace(free)} free for ${where}`;
  if (free < tooFewBytes) return wrong(message, advice);
  return free < scarceBytes ? warning(message, advice) : ok(message);
}

function formatSpace(bytes: number): string {
  return bytes < gibibyte ? `${Math.floor(bytes / mebibyte)} MiB` : `${(bytes / gibibyte).toFixed(1)} GiB`;
}

/** A folder that will hold files with guests' names. */
export interface StoreFolder {
  readonly part: 'archive' | 'spool';
  readonly path: string;
}

/** Checks that this folder can be written to, and is closed to others. */
export async function checkStoreFolder(
  { part, path }: StoreFolder,
  platform: NodeJS.Platform,
): Promise<readonly Finding[]> {
  const { ok, warning, wrong } = findingsOf(part);
  try {
    const { folder, isThere } = await findFolder(path);
    await tryToWrite(folder);
    if (!isThere) return [ok(`it does not exist yet and will be created at ${path}`)];
    const writable = ok(`${path} can be written to`);
    const open = (await stat(path)).mode & 0o077;
    if (open === 0 || platform === 'win32') return [writable];
    return [
      writable,
      warning(`${path} is open to others, and holds guests' names`, `chmod 700 ${quoteForShell(path)}`),
    ];
  } catch (error) {
    const setting = part === 'archive' ? 'archive' : 'file.spool';
    return [
      wrong(
        `${path} cannot be written to: ${describeError(error)}`,
        `Fix that, or set ${setting} to another folder.`,
      ),
    ];
  }
}

/** Checks that lines can be appended to the file of new master hotels, without touching it. */
export async function checkNewHotels(path: string): Promise<readonly Finding[]> {
  const { ok, wrong } = findingsOf('mappings');
  try {
    if (await isFileThere(path)) await (await open(path, 'a+')).close();
    else await tryToWrite((await findFolder(dirname(path))).folder);
    return [ok(`new master hotels can be appended to ${path}`)];
  } catch (error) {
    return [
      wrong(
        `${path} cannot be written to: ${describeError(error)}`,
        'Fix that, or set mappings.newHotels to another file.',
      ),
    ];
  }
}

async function isFileThere(path: string): Promise<boolean> {
  const stats = await stat(path).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (stats && !stats.isFile()) throw new SafeError('it is not a file');
  return stats !== undefined;
}
