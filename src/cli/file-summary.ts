import type { Run } from '../review/run.js';
import { formatCount, wrapText } from './format.js';
import { renderTable } from './tables.js';

/** What a file run left behind, and what is odd about its result. */
export function renderFileSummary({ file, day }: Run): string[] {
  if (file?.rows === undefined) return [];
  const rows = [
    ['file', file.remotePath ?? 'not uploaded yet'],
    ['rows', formatCount(file.rows)],
    ['result', file.result?.name ?? 'not there yet'],
    ['archived to', file.archivedTo ?? 'not yet'],
  ];
  return [renderTable(rows), ...describeOddities(file), ...describeAffected(file, day)];
}

function describeOddities({ rows, result, verdicts }: NonNullable<Run['file']>): string[] {
  const oddities: (string | false | undefined)[] = [
    result &&
      !result.isWhole &&
      `the result was taken as it is, for it no longer changed: ${formatCount(result.rows)} records for ${formatCount(rows ?? 0)} sent`,
    verdicts &&
      verdicts.unanswered > 0 &&
      `${formatCount(verdicts.unanswered)} bookings are not in the result`,
    verdicts && verdicts.unclear > 0 && `${formatCount(verdicts.unclear)} rows of the result hold no verdict`,
    verdicts &&
      verdicts.malformed > 0 &&
      `${formatCount(verdicts.malformed)} rows of the result can't be read`,
  ];
  return oddities
    .filter((oddity) => typeof oddity === 'string')
    .flatMap((oddity) => wrapText(`warning: ${oddity}`));
}

function describeAffected({ verdicts }: NonNullable<Run['file']>, day: string): string[] {
  if (!verdicts) return [];
  if (verdicts.affected === 0) return ['  The result marks no booking as affected.'];
  return [`  ${formatCount(verdicts.affected)} bookings are affected: hotel-review affected ${day}`];
}
