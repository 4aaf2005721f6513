import { formatCountOf } from '../../base/format.js';
import { describeError } from '../../base/safe-error.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import { ArchiveAwayError, type FitParts, findMisfit } from '../../review/archive-fit.js';
import { describeFolder, findUnknownFolders } from '../../review/unknown-folders.js';
import type { RunFolder } from '../../storage/archive-marks.js';
import { type Finding, findingsOf } from '../examination/finding.js';

const { ok, warning, wrong } = findingsOf('archive');

/** How many folders are named. */
const foldersNamed = 5;

/** Whether the archive belongs to the ledger, and what it holds that the ledger does not know. */
export async function checkArchive(
  parts: FitParts & { readonly ledger: ReadOnlyLedger | undefined },
): Promise<readonly Finding[]> {
  const { archive, ledger } = parts;
  try {
    const misfit = await findMisfit(parts);
    const { ours, unmarked } = await findUnknownFolders(archive, ledger);
    const name = (folders: readonly RunFolder[]) => [
      ...folders.slice(-foldersNamed).map((folder) => describeFolder(archive, folder)),
      ...(folders.length > foldersNamed ? [`and ${folders.length - foldersNamed} more`] : []),
    ];
    const list = (what: string, folders: readonly RunFolder[]) =>
      [`${archive.path}: ${formatCountOf(folders.length, 'folder')} ${what}`, ...name(folders)].join('\n');
    return [
      misfit
        ? wrong(misfit.message, 'No run starts until that is put right.')
        : ok(`${archive.path} belongs to this ledger, or to none yet`),
      ...(ours.length > 0
        ? [
            warning(
              list('of runs that the ledger does not know', ours),
              'A ledger that is gone knew them. guest purge removes what is due of them, and guest erase looks into them.',
            ),
          ]
        : []),
      ...(unmarked.length > 0
        ? [
            warning(
              list('of unknown runs without a mark of their account', unmarked),
              "Nothing of them is ever changed. They may hold guests' names: if they are yours, remove them yourself.",
            ),
          ]
        : []),
    ];
  } catch (error) {
    return [
      warning(
        error instanceof ArchiveAwayError
          ? error.message
          : `${archive.path} could not be looked into: ${describeError(error)}`,
        'Fix that: by file no run starts meanwhile.',
      ),
    ];
  }
}
