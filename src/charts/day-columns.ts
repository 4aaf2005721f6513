import { formatCount, formatCountOf } from '../text/format.js';
import { type Html, html } from '../text/html.js';
import {
  createCountAxis,
  createDayAxis,
  type DayAxis,
  type DayChart,
  drawColumns,
  groupDays,
  listStretches,
  type NumberTable,
  nameDay,
  percent,
  renderDayTicks,
  renderEmptyFigure,
  renderFigure,
  renderValueTicks,
  scaleByRoot,
  stretch,
  sum,
} from './figure.js';

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
interface Strip {
  readonly kind: string;
  readonly name: string;
}

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
${strips.map(({ kind, name }, place) =>
  renderStrip(
    axis,
    shown.map((one) => ({ day: one.day, count: one[kind] })),
    { kind, name, top: plotHeight + axisHeight + place * (stripHeight + stripLabelHeight) },
  ),
)}`,
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

/** Null is unknown. */
interface StripCount {
  readonly day: string;
  readonly count: number | null;
}

interface StripPlace extends Strip {
  /** In pixels, of its label. */
  readonly top: number;
}

/** Counts on a scale of their own, below their name and sum. */
function renderStrip(axis: DayAxis, counts: readonly StripCount[], { kind, name, top }: StripPlace): Html {
  const labelY = top + stripLabelHeight - 6;
  const largest = Math.max(1, ...counts.map(({ count }) => count ?? 0));
  const heightOf = scaleByRoot(largest, minMark, stripHeight);
  const marks = counts.flatMap(({ day, count }) => (count ? [{ day, height: heightOf(count) }] : []));
  const unknown = counts.filter(({ count }) => count === null).map(({ day }) => day);
  return html`<text x="0" y="${labelY}"><tspan class="strong">${name}</tspan> ${describeStrip(counts)}</text>
<svg y="${labelY + 4}" width="100%" height="${stripHeight}">${stretch(axis.days.length, stripHeight, [
    html`<path class="columns ${kind}" d="${drawColumns(axis, marks, stripHeight)}"/>`,
    html`<path class="unknown" d="${listStretches(axis, unknown)
      .map(({ start, length }) => `M${start} ${stripHeight - 2}h${length}`)
      .join('')}"/>`,
  ])}</svg><line class="base" x2="100%" y1="${labelY + 4 + stripHeight}" y2="${labelY + 4 + stripHeight}"/>
`;
}

function describeStrip(counts: readonly StripCount[]): Html {
  const known = counts.flatMap(({ count }) => count ?? []);
  const some = known.filter((count) => count > 0);
  const unknown = counts.length - known.length;
  if (known.length === 0) return html`unknown`;
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

/** The sent bookings of a day. */
export interface SentCounts {
  /** YYYY-MM-DD */
  readonly day: string;
  readonly sent: number;
  /** Null if no verdict is known. */
  readonly affected: number | null;
}

export interface SentColumns extends DayChart {
  readonly days: readonly SentCounts[];
}

/** The sent bookings per day as columns, and below them the affected ones. */
export function renderSentColumns({ title, from, to, days }: SentColumns): Html {
  const axis = createDayAxis(from, to);
  const shown = axis.select(days).filter(({ sent }) => sent > 0);
  if (shown.length === 0) return renderEmptyFigure(title, 'Nothing was sent.');
  const values = createCountAxis(Math.max(...shown.map(({ sent }) => sent)), plotHeight);
  const columns = shown.map(({ day, sent }) => ({ day, height: plotHeight - values.yOf(sent) }));
  const affected = shown.map(({ day, affected: count }) => ({ day, count }));
  return renderFigure({
    title,
    summary: `${formatCountOf(sum(shown.map(({ sent }) => sent)), 'booking')} sent on ${formatCountOf(shown.length, 'day')}`,
    height: plotHeight + axisHeight + stripHeight + stripLabelHeight,
    drawing: html`${renderValueTicks(values)}${renderDayTicks(axis, 0, plotHeight)}
${stretch(axis.days.length, plotHeight, html`<path class="columns accepted" d="${drawColumns(axis, columns, plotHeight)}"/>`)}
${renderStrip(axis, affected, { kind: 'affected', name: 'Affected', top: plotHeight + axisHeight })}`,
  });
}
