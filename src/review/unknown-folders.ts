import { formatCount } from '../base/format.js';
import type { ReadOnlyLedger } from '../ledger/ledger.js';
import { readInSlices } from '../ledger/runs.js';
import type { Archive, RunFolder } from '../storage/archive.js';
import { manifestName } from './file/archive-run.js';

/** Folders of the archive that hold bookings of runs which the ledger does not know. */
interface UnknownFolders {
  /** Marked as this account's: a ledger that is gone knew them. Their names may be older than they should be. */
  readonly ours: readonly RunFolder[];
  /** Without a mark: nobody knows whose they are, so they are only named. */
  readonly unmarked: readonly RunFolder[];
}

/** Sorts the folders of an archive. Those of other accounts are nobody's business. */
export function sortUnknown(
  folders: readonly RunFolder[],
  { account, known }: { readonly account: string; readonly known: ReadonlySet<string> },
): UnknownFolders {
  const unknown = folders
    .map((folder) => ({ ...folder, names: folder.names.filter((name) => name !== manifestName) }))
    .filter(({ runId, names }) => names.length > 0 && !known.has(runId));
  return {
    ours: unknown.filter((folder) => folder.account === account),
    unmarked: unknown.filter((folder) => folder.account === undefined),
  };
}

/** @throws ArchiveError `unreadable` */
export async function findUnknownFolders(
  archive: Archive,
  ledger: ReadOnlyLedger | undefined,
): Promise<UnknownFolders> {
  const folders = await archive.listFolders();
  const known = new Set<string>();
  if (ledger) for await (const { id } of readInSlices(ledger.runs.listKeys)) known.add(id);
  return sortUnknown(folders, { account: archive.account, known });
}

/** For people: what is there, and where. */
function describeFolder(archive: Archive, { day, runId, names }: RunFolder): string {
  return `${archive.locate(day, runId)}: ${names.join(', ')}`;
}

/** How many folders a text names; JSON has all. */
const foldersShown = 10;

/** Lines for people; none without folders. */
export function describeUnknown(archive: Archive, folders: readonly RunFolder[]): string[] {
  if (folders.length === 0) return [];
  const more = folders.length - foldersShown;
  return [
    'In the archive, of runs that the ledger does not know:',
    ...folders.slice(-foldersShown).map((folder) => `  ${describeFolder(archive, folder)}`),
    ...(more > 0 ? [`  … and ${formatCount(more)} earlier ones`] : []),
  ];
}

/** As a member of an object; none without folders. */
export function unknownToJson(archive: Archive, folders: readonly RunFolder[]) {
  if (folders.length === 0) return {};
  const listed = folders.map(({ day, runId, names: files }) => {
    return { day, runId, folder: archive.locate(day, runId), files };
  });
  return { unknownFolders: listed };
}
