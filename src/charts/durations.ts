import { formatCountOf, formatDuration } from '../text/format.js';
import type { Html } from '../text/html.js';
import { type DayRange, renderDayFigure } from './day-figure.js';
import { timeSteps } from './figure.js';

/** The ended run of a day. */
export interface RunDuration {
  /** YYYY-MM-DD */
  readonly day: string;
  /** In which somebody worked on it: hours between a failure and a resumed run would dwarf all others. */
  readonly durationMs: number;
  readonly isFailed?: boolean;
}

/** If the longest run exceeds the 90th percentile by this factor, it is cut off at the edge, so that the others can be compared. */
const outlierTimes = 4;
/** The height of the axis then, relative to the 90th percentile. */
const headroom = 1.5;

/** How long the runs of days took; a cross marks those that failed. */
export function renderDurations({
  runs,
  ...range
}: DayRange & { readonly runs: readonly RunDuration[] }): Html {
  const shown = runs.filter(({ day }) => day >= range.from && day <= range.to);
  const [most, longest] = [findQuantile(shown, 0.9), findQuantile(shown, 1)];
  const top = most > 0 && longest > most * outlierTimes ? most * headroom : longest;
  const isBeyond = ({ durationMs }: RunDuration) => durationMs > outlierTimes * most && top < longest;
  return renderDayFigure({
    ...{ ...range, items: shown, empty: 'No run to show yet.' },
    // The clock may have been set back during the run.
    value: ({ durationMs }) => Math.max(0, durationMs),
    signs: [
      ['×', 'failed', (run) => run.isFailed && !isBeyond(run)],
      ['▲', 'took longer than the axis', isBeyond],
    ],
    ...{ steps: timeSteps, top },
    format: (value) => (value === 0 ? '0' : formatDuration(value).replace('.0 ', ' ')),
    summarise: (items) =>
      [
        formatCountOf(items.length, 'run'),
        `half took at most ${formatDuration(findQuantile(items, 0.5))}`,
        `the longest ${formatDuration(longest)}`,
        ...(countFailed(items) > 0 ? [`${countFailed(items)} failed`] : []),
      ].join(', '),
    columns: {
      Runs: (items) => `${items.length}`,
      Median: (items) => describeQuantile(items, 0.5),
      Longest: (items) => describeQuantile(items, 1),
      Failed: (items) => `${countFailed(items)}`,
    },
  });
}

function countFailed(runs: readonly RunDuration[]): number {
  return runs.filter(({ isFailed }) => isFailed).length;
}

/** The shortest duration that this share of the runs does not exceed. */
function findQuantile(runs: readonly RunDuration[], share: number): number {
  const sorted = runs.map(({ durationMs }) => durationMs).sort((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
}

function describeQuantile(runs: readonly RunDuration[], share: number): string {
  return runs.length === 0 ? '-' : formatDuration(findQuantile(runs, share));
}
