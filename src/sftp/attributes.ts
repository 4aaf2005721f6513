import type { Stats } from 'ssh2';
import { SftpError } from './sftp.js';

/** What a server says about a file or folder. Every attribute is optional in the protocol. */
export interface RemoteAttributes {
  /** `unknown` where the server does not tell. */
  readonly kind: 'file' | 'folder' | 'other' | 'unknown';
  readonly size: number | undefined;
  /** Epoch seconds. */
  readonly mtime: number | undefined;
  /** Its permissions. */
  readonly mode: number | undefined;
}

const typeBits = 0o170_000;
const kinds: ReadonlyMap<number, RemoteAttributes['kind']> = new Map([
  [0, 'unknown'],
  [0o100_000, 'file'],
  [0o040_000, 'folder'],
]);

/** The beginning of a line of `ls -l`. */
const longForm = /^[-a-zA-Z][-r][-w][-xsStT]/;

/**
 * Reads the attributes of an answer. Some servers leave out the type, or all permissions: then the long name of a listing
 * may tell. A time of 0 is none: servers that keep no times send it for every file.
 */
export function readAttributes(stats: Partial<Stats>, longname = ''): RemoteAttributes {
  const { mode, size, mtime } = stats;
  const kind = mode === undefined ? 'unknown' : (kinds.get(mode & typeBits) ?? 'other');
  return { kind: kind === 'unknown' ? kindOfLine(longname) : kind, size, mtime: mtime || undefined, mode };
}

function kindOfLine(longname: string): RemoteAttributes['kind'] {
  if (!longForm.test(longname)) return 'unknown';
  if (longname.startsWith('-')) return 'file';
  return longname.startsWith('d') ? 'folder' : 'other';
}

/** What a server does not describe counts as a file: it shows when it is read. */
export function mayBeFile({ kind }: RemoteAttributes): boolean {
  return kind === 'file' || kind === 'unknown';
}

/** @throws SftpError where the server reports no size: then nobody could tell a whole file from a part */
export function sizeOf({ size }: RemoteAttributes, path: string): number {
  if (size !== undefined) return size;
  throw new SftpError('denied', 'no-size', `look at ${path}: the server does not report the size of files`);
}
