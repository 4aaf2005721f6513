import type { RemoteFile } from '../../sftp/sftp.js';
import type { ExportFileKind } from './export-log.js';

export const exportFileKinds = ['mappings', 'transformed', 'hotels'] as const satisfies ExportFileKind[];

export interface ExportFile extends RemoteFile {
  readonly kind: ExportFileKind;
}

/** The files of one export, by the part that their names share; all three of them where it is complete. */
export interface ExportSet {
  readonly id: string;
  readonly files: readonly ExportFile[];
}

/** Puts the files of a folder together to exports, the newest one first. What fits no pattern is left out. */
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

/** Whether none of its files is older. */
export function isFrom({ files }: ExportSet, instant: number): boolean {
  return files.every(({ modifiedAt }) => modifiedAt >= instant);
}

function newestOf({ files }: ExportSet): number {
  return Math.max(...files.map(({ modifiedAt }) => modifiedAt));
}

/** Without what no plain file name has: slashes, control characters, halves of characters. */
const anything = '[^/\\\\\\p{Cc}\\p{Cs}\\u2028\\u2029]';
const identifier = '([0-9A-Za-z-]{1,100})';

/**
 * Reads the part that the names of an export's files share out of a name that fits the pattern; undefined for any other
 * name. `{guid}` stands for that part, `{account}` for some characters, `*` for any number of them.
 */
export function createNameReader(pattern: string): (name: string) => string | undefined {
  const source = pattern
    .split(/(\{guid\}|\{account\}|\*)/)
    .map((part) => {
      if (part === '{guid}') return identifier;
      if (part === '{account}') return `${anything}+`;
      return part === '*' ? `${anything}*` : part.replace(/[\\^$.+?()[\]{}|]/g, '\\$&');
    })
    .join('');
  const form = new RegExp(`^(?!\\.)${source}$`, 'u');
  return (name) => form.exec(name)?.[1];
}

/** Tells for how long an export has been seen to stay as it is, in milliseconds. */
export function createQuietWatch(): (set: ExportSet, now: number) => number {
  let seen: { readonly traits: string; readonly since: number } | undefined;
  return (set, now) => {
    const traits = describeTraits(set);
    if (seen?.traits !== traits) seen = { traits, since: now };
    return now - seen.since;
  };
}

function describeTraits({ id, files }: ExportSet): string {
  const traits = files.map(({ name, size, modifiedAt }) => [name, size, modifiedAt]);
  return JSON.stringify([id, traits.sort()]);
}
