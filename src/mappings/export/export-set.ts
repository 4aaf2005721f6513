import type { RemoteFile } from '../../sftp/sftp.js';
import { escapePattern } from '../../text/pattern.js';
import type { ExportFileKind } from './export-log.js';

const exportFileKinds = ['mappings', 'transformed', 'hotels'] as const satisfies ExportFileKind[];

export interface ExportFile extends RemoteFile {
  readonly kind: ExportFileKind;
}

/** The files of one export, identified by the part that their names share; three when complete. */
export interface ExportSet {
  readonly id: string;
  readonly files: readonly ExportFile[];
}

/** Groups the files of a folder into exports, newest first. Ignores files that match no pattern. */
export function createSetFinder(
  patterns: Readonly<Record<ExportFileKind, string>>,
): (files: readonly RemoteFile[]) => readonly ExportSet[] {
  const readers = exportFileKinds.map((kind) => ({ kind, read: createNameReader(patterns[kind]) }));
  return (files) => {
    const sets = new Map<string, Map<ExportFileKind, ExportFile>>();
    for (const file of files) {
      for (const { kind, read } of readers) {
        const id = read(file.name);
        if (id === undefined) continue;
        const set = sets.get(id) ?? new Map<ExportFileKind, ExportFile>();
        sets.set(id, set);
        const other = set.get(kind);
        if (!other || timeOf(other) < timeOf(file)) set.set(kind, { ...file, kind });
      }
    }
    return [...sets]
      .map(([id, set]) => ({ id, files: exportFileKinds.flatMap((kind) => set.get(kind) ?? []) }))
      .sort((one, other) => newestOf(other) - newestOf(one));
  };
}

export function isComplete({ files }: ExportSet): boolean {
  return files.length === exportFileKinds.length;
}

/** Whether none of its files is known to be older than the instant. */
export function isFrom({ files }: ExportSet, instant: number): boolean {
  return files.every(({ modifiedAt }) => modifiedAt === undefined || modifiedAt >= instant);
}

function newestOf({ files }: ExportSet): number {
  return files.reduce((newest, file) => Math.max(newest, timeOf(file)), 0);
}

function timeOf({ modifiedAt = 0 }: RemoteFile): number {
  return modifiedAt;
}

/** Excludes what no plain file name contains: slashes, control characters, lone surrogates. */
const anything = '[^/\\\\\\p{Cc}\\p{Cs}\\u2028\\u2029]';
const identifier = '([0-9A-Za-z-]{1,100})';

/**
 * Extracts the part that an export's file names share from a name that matches the pattern; undefined for any other name.
 * `{guid}` stands for that part, `{account}` for one or more characters, `*` for any number of them.
 */
export function createNameReader(pattern: string): (name: string) => string | undefined {
  const source = pattern
    .split(/(\{guid\}|\{account\}|\*)/)
    .map((part) => {
      if (part === '{guid}') return identifier;
      if (part === '{account}') return `${anything}+`;
      return part === '*' ? `${anything}*` : escapePattern(part);
    })
    .join('');
  const form = new RegExp(`^(?!\\.)${source}$`, 'u');
  return (name) => form.exec(name)?.[1];
}

/** Measures for how long an export has stayed unchanged, in milliseconds. */
export function createQuietWatch(): (set: ExportSet, now: number) => number {
  let seen: { readonly set: ExportSet; readonly since: number } | undefined;
  return (set, now) => {
    seen = { set, since: seen && !hasChanged(seen.set, set) ? seen.since : now };
    return now - seen.since;
  };
}

function hasChanged(before: ExportSet, after: ExportSet): boolean {
  const isSame = (one: ExportFile, other: ExportFile | undefined) =>
    one.name === other?.name && one.size === other.size;
  if (before.id !== after.id || before.files.length !== after.files.length) return true;
  // By kind, in one order.
  if (!after.files.every((file, at) => isSame(file, before.files[at]))) return true;
  const hasMoved = after.files.some((file, at) => file.modifiedAt !== before.files[at]?.modifiedAt);
  return hasMoved && !(isOneMoment(before) && isOneMoment(after));
}

/** Whether all its files have one time: servers that keep no times give them that of the look. */
function isOneMoment({ files }: ExportSet): boolean {
  const times = files.map(timeOf);
  return Math.max(...times) - Math.min(...times) <= 1_000;
}
