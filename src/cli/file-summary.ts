import type { VerifiedItem } from '../review/file/verify.js';
import type { ResultCounts } from '../review/review-file.js';
import type { Run } from '../review/run.js';
import { formatCount, wrapText } from '../text/format.js';
import type { WriteCommand } from '../text/shell.js';
import { renderTable } from './tables.js';

/** The files of a run by file, and what is odd about its result. */
export function renderFileSummary({ file, day }: Run, command: WriteCommand): string[] {
  if (file?.rows === undefined) return [];
  const rows = [
    ['file', file.remotePath ?? 'not uploaded yet'],
    ['rows', formatCount(file.rows)],
    ['result', file.result?.name ?? 'not there yet'],
    ['archived to', file.archivedTo ?? 'not yet'],
  ];
  return [renderTable(rows), ...describeOddities(file), ...describeAffected(file, day, command)];
}

function describeOddities({ rows, result, verdicts }: NonNullable<Run['file']>): string[] {
  const oddities: (string | false | undefined)[] = [
    result &&
      !result.isWhole &&
      `the result was accepted although incomplete, because it had stopped changing: ${formatCount(result.rows)} records for ${formatCount(rows ?? 0)} sent`,
    verdicts &&
      verdicts.unanswered > 0 &&
      `bookings missing from the result: ${formatCount(verdicts.unanswered)}`,
    verdicts && verdicts.unclear > 0 && `result rows without a verdict: ${formatCount(verdicts.unclear)}`,
    verdicts && verdicts.malformed > 0 && `unreadable result rows: ${formatCount(verdicts.malformed)}`,
  ];
  return oddities
    .filter((oddity) => typeof oddity === 'string')
    .flatMap((oddity) => wrapText(`warning: ${oddity}`));
}

function describeAffected(
  { verdicts }: NonNullable<Run['file']>,
  day: string,
  command: WriteCommand,
): string[] {
  if (!verdicts) return [];
  if (verdicts.affected > 0)
    return [
      `  affected bookings: ${formatCount(verdicts.affected)}; to list them:`,
      `  ${command(`affected ${day}`)}`,
    ];
  return isClear(verdicts) ? ['  The result marks no booking as affected.'] : [];
}

/** A booking without a verdict does not count as correctly mapped. */
export function isClear({ unanswered, unclear, malformed }: ResultCounts): boolean {
  return unanswered === 0 && unclear === 0 && malformed === 0;
}

/** The findings of `verify`, run by run. */
export function renderVerified(
  day: string,
  runs: readonly { readonly runId: string; readonly items: readonly VerifiedItem[] }[],
): string {
  if (runs.length === 0) return `No run of ${day} has files in the archive; only runs by file do.\n`;
  const lines = runs.flatMap(({ runId, items }) => [
    `run ${runId}:`,
    ...items.map(({ item, fault }) =>
      fault === undefined ? `  ok      ${item}` : `  DIFFERS ${item}: ${fault}`,
    ),
  ]);
  return `${lines.join('\n')}\n`;
}
