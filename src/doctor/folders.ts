import { randomUUID } from 'node:crypto';
import { open, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Finding, findingsOf } from '../examination/finding.js';
import { describeError } from '../text/safe-error.js';
import { quoteForShell } from '../text/shell.js';

interface Place {
  /** The folder itself, or where it is missing the nearest one above it that is there. */
  readonly folder: string;
  readonly isThere: boolean;
}

/** Looks where a path leads, as far as it is there. @throws the system's error, also where a file stands in the way */
export async function findPlace(path: string): Promise<Place> {
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
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
  throw new NotAFolderError(path);
}

/** Something else stands where a folder is to be. It is told as the system's own errors are. */
class NotAFolderError extends Error {
  readonly code = 'ENOTDIR';
  readonly syscall = 'stat';
  constructor(path: string) {
    super(`ENOTDIR: not a directory, stat '${path}'`);
  }
}

/** Writes a little file into a folder and removes it: permissions alone don't tell. @throws the system's error */
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

/** Something that is written, and the folder in which it is or will be. */
export interface WrittenPlace {
  readonly name: string;
  readonly path: string;
}

/** Says how much room there is, once for every file system that is written to. */
export async function checkDisk(places: readonly WrittenPlace[]): Promise<readonly Finding[]> {
  const fileSystems = new Map<number, { readonly folder: string; readonly names: string[] }>();
  for (const { name, path } of places) {
    const { folder } = await findPlace(path);
    const { dev } = await stat(folder);
    const known = fileSystems.get(dev);
    if (known) known.names.push(name);
    else fileSystems.set(dev, { folder, names: [name] });
  }
  return Promise.all([...fileSystems.values()].map(judge));
}

async function judge({ folder, names }: { readonly folder: string; readonly names: readonly string[] }) {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const told = `${formatSpace(free)} free for ${names.join(', ')} (${folder})`;
  const advice = 'Make room: a day that cannot be written down is not sent.';
  if (free < tooFewBytes) return wrong(told, advice);
  return free < scarceBytes ? warning(told, advice) : ok(told);
}

function formatSpace(bytes: number): string {
  return bytes < gibibyte ? `${Math.floor(bytes / mebibyte)} MiB` : `${(bytes / gibibyte).toFixed(1)} GiB`;
}

/** A folder that will hold files with guests' names. */
export interface KeptFolder {
  readonly part: 'archive' | 'spool';
  readonly path: string;
}

/** Checks that such a folder can be written, and by its owner alone. */
export async function checkKeptFolder(
  { part, path }: KeptFolder,
  platform: NodeJS.Platform,
): Promise<readonly Finding[]> {
  const { ok, warning, wrong } = findingsOf(part);
  try {
    const { folder, isThere } = await findPlace(path);
    await tryToWrite(folder);
    if (!isThere) return [ok(`there is none yet; it will be made at ${path}`)];
    const writable = ok(`${path} can be written`);
    const open = (await stat(path)).mode & 0o077;
    if (open === 0 || platform === 'win32') return [writable];
    return [
      writable,
      warning(
        `${path} is open to others than its owner, and holds guests' names`,
        `chmod 700 ${quoteForShell(path)}`,
      ),
    ];
  } catch (error) {
    const setting = part === 'archive' ? 'archive' : 'file.spool';
    return [
      wrong(
        `${path} cannot be written: ${describeError(error)}`,
        `Mend that, or name another folder with ${setting}.`,
      ),
    ];
  }
}
