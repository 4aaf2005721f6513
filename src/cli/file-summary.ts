import type { VerifiedItem } from '../review/file/verify.js';
import { formatCount, formatCountOf } from '../text/format.js';
import type { WriteCommand } from '../text/shell.js';

/** What `verify` found in one run, and what the result left open. */
export interface VerifiedRun {
  readonly runId: string;
  readonly items: readonly VerifiedItem[];
  /** Bookings of the file without a verdict; null where there is no file. */
  readonly unanswered: number | null;
  /** Bookings that went by body: their verdicts come by e-mail only. */
  readonly posted: number;
}

/** The findings of `verify`, run by run. */
export function renderVerified(day: string, runs: readonly VerifiedRun[], command: WriteCommand): string {
  if (runs.length === 0) return `No run of ${day} has files in the archive; only runs by file do.\n`;
  const lines = runs.flatMap(({ runId, items, unanswered, posted }) => [
    `run ${runId}:`,
    ...items.map(({ item, fault, note }) =>
      fault === undefined
        ? `  ok      ${item}${note === undefined ? '' : `: ${note}`}`
        : `  DIFFERS ${item}: ${fault}`,
    ),
    ...(unanswered === 0
      ? ['  Every booking of the file has a verdict.']
      : [
          `  ${formatCountOf(unanswered ?? 0, 'booking')} of the file without a verdict; to list them:`,
          `  ${command(`affected ${day} --unanswered`)}`,
        ]),
    ...(posted > 0 ? [`  ${formatCount(posted)} went by body: their verdicts come by e-mail only.`] : []),
  ]);
  return `${lines.join('\n')}\n`;
}
