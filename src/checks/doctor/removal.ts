import { formatCountOf } from '../../base/format.js';
import type { Config } from '../../config/load.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import { readEveryRun } from '../../review/every-run.js';
import { createRemovalCheck, wasDenied } from '../../review/stored/remove-sent.js';
import { findDueDay } from '../../review/stored/retention.js';
import { type Finding, findingsOf } from '../examination/finding.js';

const { ok, warning } = findingsOf('sftp');

/** Says what `file.removeAfterDays` would remove from the SFTP server now, and whether the server refused that before. */
export async function checkRemoval(
  { file: { removeAfterDays, sftp }, timezone }: Pick<Config, 'file' | 'timezone'>,
  ledger: ReadOnlyLedger,
  clock: () => number,
): Promise<readonly Finding[]> {
  if (removeAfterDays === undefined || sftp === undefined) return [];
  const before = findDueDay(removeAfterDays, { now: clock(), timezone });
  const isDue = createRemovalCheck(before, { timezone, now: clock() });
  const due: string[] = [];
  let refused = 0;
  for await (const run of readEveryRun(ledger)) {
    if (wasDenied(run)) refused += 1;
    if (isDue(run)) due.push(run.day);
  }
  const days = due.length === 1 ? ` (${due[0]})` : ` (${due.at(-1)} to ${due[0]})`;
  const what =
    due.length === 0
      ? 'nothing is due'
      : `the next run removes the files of ${formatCountOf(due.length, 'day')}${days}`;
  const message = `file.removeAfterDays is ${removeAfterDays}: ${what}`;
  if (refused === 0) return [ok(message)];
  return [
    warning(
      `${message}; the server refused to remove the files of ${formatCountOf(refused, 'day')}`,
      'Ask its operator for the right to remove files below VerifyMappings: it is tried again a week after each refusal.',
    ),
  ];
}
