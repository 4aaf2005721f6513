import { formatCount, formatCountOf } from '../text/format.js';
import { type Html, html } from '../text/html.js';
import { drawColumns } from './columns.js';
import {
  createDayAxis,
  type DayAxis,
  type DayChart,
  groupDays,
  listStretches,
  nameDay,
  renderDayTicks,
} from './day-axis.js';
import {
  type NumberTable,
  percent,
  renderEmptyFigure,
  renderFigure,
  scaleByRoot,
  stretch,
  sum,
} from './figure.js';
import { createCountAxis, renderValueTicks } from './value-axis.js';

/** The bookings of a reviewed day. Unknown numbers are null. */
export interface DayCounts {
  /** YYYY-MM-DD */
  readonly day: string;
  readonly accepted: number;
  readonly rejected: number;
  readonly unanswered: number | null;
  readonly affected: number | null;
}

export interface DayColumns extends DayChart {
  /** In any order; a day that is neither here nor missing stays empty. */
  readonly days: readonly DayCounts[];
  /** Days that were due and have no run. */
  readonly missing: readonly string[];
  /** The address of a day; without it, days have neither link nor hover text, and the chart takes a fifth of the bytes. */
  readonly linkTo?: ((day: string) => string) | undefined;
}

/** Counts much smaller than the accepted bookings have their own strips below, each with its own scale. */
const strips = [
  { kind: 'rejected', name: 'Rejected' },
  { kind: 'unanswered', name: 'Unanswered' },
  { kind: 'affected', name: 'Affected' },
] as const;
type Strip = (typeof strips)[number];

const plotHeight = 150;
const axisHeight = 18;
const stripHeight = 18;
const stripLabelHeight = 20;
const height = plotHeight + axisHeight + strips.length * (stripHeight + stripLabelHeight);
/** The smallest visible height. */
const minMark = 4;

/** The bookings per day, up to a year, as columns. */
export function renderDayColumns({ title, from, to, days, missing, linkTo }: DayColumns): Html {
  const axis = createDayAxis(from, to);
  const shown = axis.select(days);
  const gaps = axis.select(missing.map((day) => ({ day }))).map(({ day }) => day);
  if (shown.length + gaps.length === 0) return renderEmptyFigure(title, 'No day to show yet.');
  const values = createCountAxis(Math.max(...shown.map(({ accepted }) => accepted)), plotHeight);
  const columns = shown.map(({ day, accepted }) => ({ day, height: plotHeight - values.yOf(accepted) }));
  return renderFigure({
    title,
    summary: summarise(shown, gaps),
    height,
    drawing: html`${renderValueTicks(values)}${renderDayTicks(axis, 0, plotHeight)}
${stretch(axis.days.length, plotHeight, [
  html`<path class="columns accepted" d="${drawColumns(axis, columns, plotHeight)}"/>`,
  html`<path class="missing" d="${drawColumns(
    axis,
    gaps.map((day) => ({ day, height: plotHeight })),
    plotHeight,
  )}"/>`,
])}${markMissing(axis, gaps)}
${strips.map((strip, place) => renderStrip(axis, shown, strip, place))}`,
    links: linkTo && renderLinks(axis, shown, gaps, linkTo),
    numbers: tabulate(axis, shown, gaps),
  });
}

/** A cross for each stretch of missing days, visible even if a day is a pixel wide. */
function markMissing(axis: DayAxis, gaps: readonly string[]): Html {
  return html`${listStretches(axis, gaps).map(
    ({ start, length }) =>
      html`<text class="cross" x="${percent((start + length / 2) / axis.days.length)}" y="${plotHeight - 5}">×</text>`,
  )}`;
}

function renderStrip(axis: DayAxis, shown: readonly DayCounts[], { kind, name }: Strip, place: number): Html {
  const labelY = plotHeight + axisHeight + place * (stripHeight + stripLabelHeight) + stripLabelHeight - 6;
  const top = labelY + 4;
  const largest = Math.max(1, ...shown.map((one) => one[kind] ?? 0));
  const heightOf = scaleByRoot(largest, minMark, stripHeight);
  const marks = shown.flatMap(({ day, [kind]: count }) => (count ? [{ day, height: heightOf(count) }] : []));
  const unknown = shown.filter(({ [kind]: count }) => count === null).map(({ day }) => day);
  return html`<text x="0" y="${labelY}"><tspan class="strong">${name}</tspan> ${describeStrip(shown, kind)}</text>
<svg y="${top}" width="100%" height="${stripHeight}">${stretch(axis.days.length, stripHeight, [
    html`<path class="columns ${kind}" d="${drawColumns(axis, marks, stripHeight)}"/>`,
    html`<path class="unknown" d="${listStretches(axis, unknown)
      .map(({ start, length }) => `M${start} ${stripHeight - 2}h${length}`)
      .join('')}"/>`,
  ])}</svg><line class="base" x2="100%" y1="${top + stripHeight}" y2="${top + stripHeight}"/>
`;
}

function describeStrip(shown: readonly DayCounts[], kind: Strip['kind']): Html {
  const counts = shown.flatMap(({ [kind]: count }) => count ?? []);
  const some = counts.filter((count) => count > 0);
  const unknown = shown.length - counts.length;
  if (unknown === shown.length) return html`unknown`;
  const found =
    some.length === 0
      ? html`none`
      : html`${formatCount(sum(some))} on ${formatCountOf(some.length, 'day')}<tspan class="spare">, at most ${formatCount(Math.max(...some))}</tspan>`;
  return html`${found}${unknown > 0 ? `; ${formatCountOf(unknown, 'day')} unknown` : undefined}`;
}

function renderLinks(
  axis: DayAxis,
  shown: readonly DayCounts[],
  gaps: readonly string[],
  linkTo: (day: string) => string,
): Html {
  const targets = [
    ...shown.map((one) => ({ day: one.day, words: describeDay(one) })),
    ...gaps.map((day) => ({ day, words: 'no run' })),
  ].sort((a, b) => (a.day < b.day ? -1 : 1));
  return stretch(
    axis.days.length,
    height,
    targets.map(
      ({ day, words }) =>
        html`<a href="${linkTo(day)}" tabindex="-1"><rect x="${axis.indexOf(day)}"><title>${nameDay(day)}: ${words}</title></rect></a>`,
    ),
  );
}

function describeDay({ accepted, rejected, unanswered, affected }: DayCounts): string {
  return [
    formatCount(accepted),
    rejected > 0 ? `${formatCount(rejected)} rejected` : '',
    unanswered ? `${formatCount(unanswered)} unanswered` : '',
    affected ? `${formatCount(affected)} affected` : '',
    unanswered === null || affected === null ? 'verdicts unknown' : '',
  ]
    .filter((words) => words !== '')
    .join(', ');
}

function summarise(shown: readonly DayCounts[], gaps: readonly string[]): string {
  const accepted = sum(shown.map((one) => one.accepted));
  const missing = gaps.length > 0 ? `; ${formatCountOf(gaps.length, 'day')} missing (×)` : '';
  return `${formatCountOf(accepted, 'booking')} accepted on ${formatCountOf(shown.length, 'day')}${missing}`;
}

function tabulate(axis: DayAxis, shown: readonly DayCounts[], gaps: readonly string[]): NumberTable {
  const { name, unit, groups } = groupDays(axis, shown);
  const { groups: missing } = groupDays(
    axis,
    gaps.map((day) => ({ day })),
  );
  return {
    name,
    head: [unit, 'Accepted', ...strips.map((strip) => strip.name), 'Missing days'],
    rows: [...groups].map(([group, days]) => [
      group,
      formatCount(sum(days.map(({ accepted }) => accepted))),
      ...strips.map(({ kind }) => sumKnown(days.map((day) => day[kind]))),
      formatCount(missing.get(group)?.length ?? 0),
    ]),
  };
}

/** A sum with unknown parts is a lower bound. */
function sumKnown(counts: readonly (number | null)[]): string {
  const known = counts.flatMap((count) => count ?? []);
  if (known.length === counts.length) return formatCount(sum(known));
  return known.length === 0 ? 'unknown' : `at least ${formatCount(sum(known))}`;
}
