import { createHash } from 'node:crypto';

/** A folder of a run in the archive. */
export interface RunFolder {
  /** YYYY-MM-DD */
  readonly day: string;
  readonly runId: string;
  /** The account that its mark names, as `hashAccount` wrote it; absent in a folder without a mark. */
  readonly account?: string;
  /** Of its files, sorted. */
  readonly names: readonly string[];
}

/** What names an account in the archive: nobody reads the account's id from it. */
export function hashAccount(accountId: string): string {
  return createHash('sha256').update(accountId).digest('hex').slice(0, 16);
}

/** The name of the file that says which ledger an account's archive belongs to. */
export function nameLedgerMark(account: string): string {
  return `ledger-of-${account}.json`;
}

const folderMarkPrefix = '.account-';

/** The name of the empty file that marks the folder of a run. It starts with a dot, so it is never listed among the run's files. */
export function nameFolderMark(account: string): string {
  return `${folderMarkPrefix}${account}`;
}

/** Whether a folder of that name, in place of a day, holds runs; reports and exports are no runs. */
export function holdsRuns(day: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(day);
}

/** The folder that holds files with these names. */
export function toRunFolder(day: string, runId: string, all: readonly string[]): RunFolder {
  const mark = all.find((name) => name.startsWith(folderMarkPrefix));
  return {
    ...{ day, runId },
    ...(mark !== undefined && { account: mark.slice(folderMarkPrefix.length) }),
    names: withoutHidden(all),
  };
}

/** Files that are being written, and marks, start with a dot, which archived files never do. */
export function withoutHidden(names: readonly string[]): readonly string[] {
  return names.filter((name) => name !== '' && !name.startsWith('.')).toSorted();
}
