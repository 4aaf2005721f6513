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
        if (!other || other.modifiedAt < file.modifiedAt) set.set(kind, { ...file, kind });
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

/** Whether none of its files is older than the instant. */
export function isFrom({ files }: ExportSet, instant: number): boolean {
  return files.every(({ modifiedAt }) => modifiedAt >= instant);
}

function newestOf({ files }: ExportSet): number {
  return Math.max(...files.map(({ modifiedAt }) => modifiedAt));
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
  let seen: { readonly print: string; readonly since: number } | undefined;
  return (set, now) => {
    const print = fingerprint(set);
    if (seen?.print !== print) seen = { print, since: now };
    return now - seen.since;
  };
}

function fingerprint({ id, files }: ExportSet): string {
  const traits = files.map(({ name, size, modifiedAt }) => [name, size, modifiedAt]);
  return JSON.stringify([id, traits.sort()]);
}
