import { type Finding, findingsOf } from '../examination/finding.js';
import type { Run } from '../review/run.js';
import { wasDenied } from '../review/stored/remove-sent.js';
import { formatCountOf } from '../text/format.js';

const { ok, warning } = findingsOf('sftp');

/**
 * Says what `file.removeAfterDays` would remove from the SFTP server, and whether the server refused that before.
 *
 * @param due the runs whose files would be removed now, the newest first
 */
export function checkRemoval(
  { runs, due }: { readonly runs: readonly Run[]; readonly due: readonly Run[] },
  removeAfterDays: number,
): readonly Finding[] {
  const refused = runs.filter(wasDenied).length;
  const days = due.length === 1 ? ` (${due[0]?.day})` : ` (${due.at(-1)?.day} to ${due[0]?.day})`;
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
