import type { ExportFileKind } from '../../ledger/mappings.js';
import type { RemoteFile } from '../../transports/sftp/sftp.js';

const exportFileKinds = ['mappings', 'transformed', 'hotels'] as const satisfies ExportFileKind[];

export interface ExportFile extends RemoteFile {
  readonly kind: ExportFileKind;
}

/** The files of one export, identified by the part that their names share; three when complete. */
export interface ExportSet {
  readonly id: string;
  readonly files: readonly ExportFile[];
}

/** Groups the files of a folder into exports, newest first. Ignores files with other names. */
export function findSets(files: readonly RemoteFile[]): readonly ExportSet[] {
  const sets = new Map<string, Map<ExportFileKind, ExportFile>>();
  for (const file of files) {
    const named = readName(file.name);
    if (!named) continue;
    const { kind, id } = named;
    const set = sets.get(id) ?? new Map<ExportFileKind, ExportFile>();
    sets.set(id, set);
    const other = set.get(kind);
    if (!other || timeOf(other) < timeOf(file)) set.set(kind, { ...file, kind });
  }
  return [...sets]
    .map(([id, set]) => ({ id, files: exportFileKinds.flatMap((kind) => set.get(kind) ?? []) }))
    .sort((one, other) => newestOf(other) - newestOf(one));
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

/** `ACCOUNT_KIND_ID.csv` (spec 8); the account may be anything that a plain file name contains. */
const exportName = new RegExp(
  `^(?!\\.)[^/\\\\\\p{Cc}\\p{Cs}\\u2028\\u2029]+_(?<kind>${exportFileKinds.join('|')})_(?<id>[0-9A-Za-z-]{1,100})\\.csv$`,
  'u',
);

/** What the name of an export's file says; undefined for any other name. */
export function readName(name: string): { readonly kind: ExportFileKind; readonly id: string } | undefined {
  const { kind: word, id } = exportName.exec(name)?.groups ?? {};
  const kind = exportFileKinds.find((known) => known === word);
  return kind && id !== undefined ? { kind, id } : undefined;
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
