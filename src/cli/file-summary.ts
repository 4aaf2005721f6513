import { describeSetAside } from '../review/day/report.js';
import type { ResultCounts } from '../review/review-file.js';
import type { Counts, Run } from '../review/run.js';
import { formatCount, formatCountOf, wrapText } from '../text/format.js';
import type { WriteCommand } from '../text/shell.js';
import { renderTable } from '../text/tables.js';

/**
 * The files of a run by file, and what is odd about its result.
 *
 * @param mailPlace see `describeMailPlace`
 */
export function renderFileSummary(
  { file, day, counts }: Run,
  command: WriteCommand,
  mailPlace?: string,
): string[] {
  if (file?.rows === undefined) return [];
  const rows = [
    ['file', file.remotePath ?? 'not uploaded yet'],
    ['rows', formatCount(file.rows)],
    ['result', nameResult(file)],
    ['archived to', file.archivedTo ?? 'not yet'],
  ];
  return [
    renderTable(rows),
    ...describePosted(counts, command(`posted ${day}`), mailPlace),
    ...describeOddities(file),
    ...describeUnanswered(file, day, command),
    ...describeAffected(file, day, command),
  ];
}

/** Why the file has fewer rows than bookings were delivered. */
function describePosted({ posted }: Counts, list: string, mailPlace: string | undefined): string[] {
  if (posted === 0) return [];
  return [
    ...wrapText(
      `${formatCountOf(posted, 'more booking')} went by body, because the file's rules leave no room for a missing ` +
        `field or a value that reads as null; those verdicts come by e-mail only.`,
    ),
    `  to list them: ${list}`,
    ...describeMailPlace(mailPlace),
  ];
}

/** @param mailPlace where verdict e-mails are read; undefined for nowhere */
export function describeMailPlace(mailPlace: string | undefined): string[] {
  return wrapText(
    mailPlace === undefined
      ? 'Nobody reads these e-mails here: name their mailbox in the setting verdicts.'
      : `\`serve\` reads these e-mails from ${mailPlace}.`,
  );
}

function describeUnanswered(
  { verdicts }: NonNullable<Run['file']>,
  day: string,
  command: WriteCommand,
): string[] {
  if (!verdicts || verdicts.unanswered + verdicts.unclear === 0) return [];
  return ['  to list the bookings without a verdict:', `  ${command(`affected ${day} --unanswered`)}`];
}

function nameResult({ result, growing }: NonNullable<Run['file']>): string {
  if (result) return result.name;
  return growing ? `${growing.name}, not accepted yet` : 'not there yet';
}

function describeOddities({
  rows,
  result,
  verdicts,
  setAside = [],
  laterResults = [],
}: NonNullable<Run['file']>): string[] {
  const { ignored = 0 } = verdicts ?? {};
  const oddities: (string | false | undefined)[] = [
    result &&
      !result.isWhole &&
      `the result was accepted although incomplete: ${formatCount(result.rows)} records for ${formatCount(rows ?? 0)} sent`,
    verdicts &&
      verdicts.unanswered > 0 &&
      `bookings missing from the result: ${formatCount(verdicts.unanswered)}`,
    verdicts &&
      verdicts.unclear > 0 &&
      `bookings that the result names without a readable verdict: ${formatCount(verdicts.unclear)}`,
    ignored > 0 &&
      `result rows that name no booking of the file, such as totals: ${formatCount(ignored)}; they are ignored`,
    ...setAside.map(describeSetAside),
    verdicts && verdicts.malformed > 0 && `unreadable result rows: ${formatCount(verdicts.malformed)}`,
    laterResults.length > 0 &&
      `after its result was judged, the server held another one, which is archived but was not judged: ${laterResults.join(', ')}`,
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
function isClear({ unanswered, unclear, malformed }: ResultCounts): boolean {
  return unanswered === 0 && unclear === 0 && malformed === 0;
}
