import { formatCountOf, formatDuration } from '../text/format.js';
import { type Html, html } from '../text/html.js';
import {
  createDayAxis,
  createDurationAxis,
  type DayAxis,
  type DayChart,
  groupDays,
  type LegendEntry,
  type NumberTable,
  percent,
  renderDayTicks,
  renderEmptyFigure,
  renderFigure,
  renderValueTicks,
  stretch,
  type ValueAxis,
} from './figure.js';

/** A run of a day; a day may have several. */
export interface RunDuration {
  /** YYYY-MM-DD */
  readonly day: string;
  readonly durationMs: number;
  readonly isFailed?: boolean;
}

export interface DurationChart extends DayChart {
  /** Ended runs, in any order. */
  readonly runs: readonly RunDuration[];
}

const plotHeight = 130;
const height = plotHeight + 16;
/** If the longest run exceeds the 90th percentile by this factor, it is drawn at the edge, so that the others can be compared. */
const outlierTimes = 4;
const nineOfTen = 0.9;
/** The height of the axis then, relative to the 90th percentile. */
const headroom = 1.5;

/** How long runs took, a point each; those that failed are crosses. */
export function renderDurations({ title, from, to, runs }: DurationChart): Html {
  const axis = createDayAxis(from, to);
  // The clock may have been set back during the run.
  const shown = axis.select(runs).map((run) => ({ ...run, durationMs: Math.max(0, run.durationMs) }));
  if (shown.length === 0) return renderEmptyFigure(title, 'No run to show yet.');
  const values = createDurationAxis(findTop(shown), plotHeight);
  const isBeyond = ({ durationMs }: RunDuration) => values.yOf(durationMs) < 0;
  const within = shown.filter((run) => !isBeyond(run));
  return renderFigure({
    title,
    summary: summarise(shown),
    height,
    drawing: html`${renderValueTicks(values)}${renderDayTicks(axis, 0, plotHeight)}
${stretch(axis.days.length, plotHeight, html`<path class="points" d="${drawPoints(axis, within, values)}"/>`)}${[
  ...mark(
    axis,
    within.filter(({ isFailed }) => isFailed),
    '×',
    ({ durationMs }) => values.yOf(durationMs) + 5,
  ),
  ...mark(axis, shown.filter(isBeyond), '▲', () => 11),
]}`,
    legend: listLegend(shown, isBeyond),
    numbers: tabulate(axis, shown),
  });
}

function findTop(runs: readonly RunDuration[]): number {
  const durations = listSorted(runs);
  const longest = durations.at(-1) ?? 0;
  const most = durations[Math.ceil(durations.length * nineOfTen) - 1] ?? 0;
  return most > 0 && longest > most * outlierTimes ? most * headroom : longest;
}

/** Lines without length: their round ends stay circles even if the drawing is stretched. */
function drawPoints(axis: DayAxis, runs: readonly RunDuration[], { yOf }: ValueAxis): string {
  return runs
    .filter(({ isFailed }) => !isFailed)
    .map(({ day, durationMs }) => `M${(axis.indexOf(day) ?? 0) + 0.5} ${yOf(durationMs)}h0`)
    .join('');
}

function mark(
  axis: DayAxis,
  runs: readonly RunDuration[],
  sign: string,
  yOf: (run: RunDuration) => number,
): Html[] {
  return runs.map((run) => {
    const x = percent(((axis.indexOf(run.day) ?? 0) + 0.5) / axis.days.length);
    return html`<text class="cross${run.isFailed ? '' : ' beyond'}" x="${x}" y="${yOf(run)}">${sign}<title>${describeRun(run)}</title></text>`;
  });
}

function describeRun({ day, durationMs, isFailed }: RunDuration): string {
  return `${day}: ${formatDuration(durationMs)}${isFailed ? ', failed' : ''}`;
}

function listLegend(shown: readonly RunDuration[], isBeyond: (run: RunDuration) => boolean): LegendEntry[] {
  return [
    { name: 'a run', drawing: html`<path class="points" d="M13 11h0"/>` },
    ...(shown.some(({ isFailed }) => isFailed)
      ? [{ name: 'failed', drawing: html`<text class="cross" x="13" y="16">×</text>` }]
      : []),
    ...(shown.some(isBeyond)
      ? [
          {
            name: 'took longer than the axis',
            drawing: html`<text class="cross beyond" x="13" y="16">▲</text>`,
          },
        ]
      : []),
  ];
}

function summarise(shown: readonly RunDuration[]): string {
  const failed = shown.filter(({ isFailed }) => isFailed).length;
  return [
    formatCountOf(shown.length, 'run'),
    `half took at most ${formatDuration(findMedian(shown))}`,
    `the longest ${formatDuration(listSorted(shown).at(-1) ?? 0)}`,
    ...(failed > 0 ? [`${failed} failed`] : []),
  ].join(', ');
}

function tabulate(axis: DayAxis, shown: readonly RunDuration[]): NumberTable {
  const { name, unit, groups } = groupDays(axis, shown);
  return {
    name,
    head: [unit, 'Runs', 'Median', 'Longest', 'Failed'],
    rows: [...groups].map(([group, runs]) => [
      group,
      `${runs.length}`,
      ...(runs.length === 0
        ? ['-', '-']
        : [findMedian(runs), listSorted(runs).at(-1) ?? 0].map(formatDuration)),
      `${runs.filter(({ isFailed }) => isFailed).length}`,
    ]),
  };
}

/** For an even number of runs, the lower one. */
function findMedian(runs: readonly RunDuration[]): number {
  return listSorted(runs)[Math.ceil(runs.length / 2) - 1] ?? 0;
}

function listSorted(runs: readonly RunDuration[]): number[] {
  return runs.map(({ durationMs }) => durationMs).sort((a, b) => a - b);
}
