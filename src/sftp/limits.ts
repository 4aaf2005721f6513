import { statfs } from 'node:fs/promises';
import { formatBytes, formatCount } from '../text/format.js';
import { SftpError } from './sftp.js';

/** How much a session may cost, whatever the server sends. */
export interface SftpLimits {
  /** The entries of a folder, of any kind. */
  readonly maxEntries: number;
  /** How long an upload or a download may take, even with steady progress. */
  readonly transferMs: number;
  /** How long any other operation may take. */
  readonly operationMs: number;
}

export const defaultLimits: SftpLimits = {
  maxEntries: 100_000,
  transferMs: 3_600_000,
  operationMs: 300_000,
};

/** How large a file may be that is downloaded. */
export interface SizeLimit {
  readonly bytes: number;
  /** A sentence that says what to do about a larger one. */
  readonly advice: string;
}

/** On average, per entry: a name and the line that `ls -l` would print about it. */
const bytesPerEntry = 500;

/** @returns a function that takes each part of a listing, and throws once the limit is exceeded */
export function limitListing(
  path: string,
  maxEntries: number,
): (entries: readonly { readonly filename: string; readonly longname: string }[]) => void {
  const maxBytes = maxEntries * bytesPerEntry;
  let found = 0;
  let bytes = 0;
  let parts = 0;
  return (entries) => {
    parts += 1;
    found += entries.length;
    for (const { filename, longname } of entries) bytes += filename.length + longname.length;
    if (found <= maxEntries && bytes <= maxBytes && parts <= maxEntries) return;
    const exceeded =
      bytes > maxBytes
        ? `names of more than ${formatBytes(maxBytes)}`
        : found > maxEntries
          ? `more than ${formatCount(maxEntries)} entries`
          : `more than ${formatCount(maxEntries)} parts`;
    throw new SftpError(
      'excessive',
      'too-many-files',
      `list ${path}: the server lists ${exceeded}. Have the folder tidied up.`,
    );
  };
}

/** @throws SftpError before anything of a file is read that is larger than allowed */
export function expectSize(path: string, size: number, { bytes, advice }: SizeLimit): void {
  if (size <= bytes) return;
  throw new SftpError(
    'excessive',
    'too-large',
    `download ${path}: it has ${formatCount(size)} bytes, and at most ${formatCount(bytes)} are accepted. ${advice}`,
  );
}

/** Stays free on the local disk, which others write to as well: this much, but no more than a share of a small disk. */
const spareBytes = 64 * 1024 * 1024;
const spareShare = 0.05;

/**
 * How much must be freed before a file fits; 0 if it fits.
 *
 * @param disk its size and what is free, in bytes; some file systems don't say, which is 0
 */
export function findMissingSpace(
  bytes: number,
  disk: { readonly size: number; readonly free: number },
): { readonly missing: number; readonly spare: number } {
  const spare = Math.min(spareBytes, Math.floor(disk.size * spareShare));
  return { missing: disk.size === 0 ? 0 : Math.max(0, bytes + spare - disk.free), spare };
}

/** @throws SftpError if the disk of a local folder has no room for that many bytes; the system's error */
export async function expectSpace(path: string, folder: string, bytes: number): Promise<void> {
  const { blocks, bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const { missing, spare } = findMissingSpace(bytes, { size: blocks * bsize, free });
  if (missing === 0) return;
  throw new SftpError(
    'retryable',
    'no-local-space',
    `${path} is on the server, but its ${formatBytes(bytes)} do not fit on the disk of ${folder}, where ${formatBytes(free)} are free and ${formatBytes(spare)} must stay free. Free ${formatBytes(roundUp(missing))} there.`,
  );
}

/** To a tenth of a megabyte, as it is written. */
function roundUp(bytes: number): number {
  return Math.ceil(bytes / 1e5) * 1e5;
}
