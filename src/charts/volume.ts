import { formatCount, formatCountOf } from '../text/format.js';
import { type Html, html } from '../text/html.js';
import {
  createCountAxis,
  createDayAxis,
  type DayAxis,
  type DayChart,
  drawColumns,
  drawLine,
  groupDays,
  type LegendEntry,
  type NumberTable,
  percent,
  renderDayTicks,
  renderEmptyFigure,
  renderFigure,
  renderValueTicks,
  stretch,
  sum,
  type ValueAxis,
} from './figure.js';

export interface VolumeDay {
  /** YYYY-MM-DD */
  readonly day: string;
  /** Null if the day was not counted. */
  readonly accepted: number | null;
  /** Null if too few days are known. */
  readonly usual: number | null;
  /** Far fewer bookings than usual. */
  readonly isDrop?: boolean;
}

export interface VolumeChart extends DayChart {
  /** In any order; a day that is not here is unknown. */
  readonly days: readonly VolumeDay[];
}

const plotHeight = 130;
const height = plotHeight + 16;
const daysWithPoints = 45;

/** The accepted bookings per day as a line, in front of the usual number; unknown numbers are gaps. */
export function renderVolume({ title, from, to, days }: VolumeChart): Html {
  const axis = createDayAxis(from, to);
  const shown = axis.select(days);
  const accepted = shown.flatMap((one) => one.accepted ?? []);
  if (accepted.length === 0) return renderEmptyFigure(title, 'No day to show yet.');
  const values = createCountAxis(Math.max(...accepted, ...shown.map(({ usual }) => usual ?? 0)), plotHeight);
  return renderFigure({
    title,
    summary: summarise(shown),
    height,
    drawing: html`${renderValueTicks(values)}${renderDayTicks(axis, 0, plotHeight)}
${stretch(axis.days.length, plotHeight, drawLines(axis, shown, values))}${markDrops(axis, shown)}`,
    legend: listLegend(shown),
    numbers: tabulate(axis, shown),
  });
}

/** Columns for the usual number; the line is drawn over them and passes through the middle of each day. */
function drawLines(axis: DayAxis, shown: readonly VolumeDay[], { yOf }: ValueAxis): Html[] {
  const usual = shown.flatMap((one) =>
    one.usual === null ? [] : [{ day: one.day, height: plotHeight - yOf(one.usual) }],
  );
  const known = new Map(shown.map(({ day, accepted }) => [day, accepted]));
  const line = axis.days.map((day, index) => {
    const accepted = known.get(day) ?? undefined;
    return accepted === undefined ? undefined : { x: index + 0.5, y: yOf(accepted) };
  });
  const points = shown.flatMap(({ day, accepted }) =>
    accepted === null ? [] : [`M${(axis.indexOf(day) ?? 0) + 0.5} ${yOf(accepted)}h0`],
  );
  return [
    html`<path class="usual-columns" d="${drawColumns(axis, usual, plotHeight)}"/>`,
    html`<path class="line" d="${drawLine(line)}"/>`,
    ...(axis.days.length > daysWithPoints ? [] : [html`<path class="points" d="${points.join('')}"/>`]),
  ];
}

function markDrops(axis: DayAxis, shown: readonly VolumeDay[]): Html {
  return html`${shown
    .filter(({ isDrop }) => isDrop)
    .map(({ day }) => {
      const x = percent(((axis.indexOf(day) ?? 0) + 0.5) / axis.days.length);
      return html`<text class="cross" x="${x}" y="12">▼</text>`;
    })}`;
}

function listLegend(shown: readonly VolumeDay[]): LegendEntry[] {
  return [
    { name: 'accepted', drawing: html`<path class="line" d="M2 14l8-6l6 5l8-7"/>` },
    { name: 'usual', drawing: html`<path class="usual-columns" d="M4 4h18v14h-18"/>` },
    ...(shown.some(({ isDrop }) => isDrop)
      ? [{ name: 'far fewer than usual', drawing: html`<text class="cross" x="13" y="16">▼</text>` }]
      : []),
  ];
}

function summarise(shown: readonly VolumeDay[]): string {
  const last = shown.findLast(({ accepted }) => accepted !== null);
  const usual = last?.usual == null ? '' : `, usually ${formatCount(last.usual)}`;
  const drops = shown.filter(({ isDrop }) => isDrop).length;
  return `${last?.day}: ${formatCount(last?.accepted ?? 0)}${usual}${drops > 0 ? `; ${formatCountOf(drops, 'day')} with far fewer than usual` : ''}`;
}

function tabulate(axis: DayAxis, shown: readonly VolumeDay[]): NumberTable {
  const { name, unit, groups } = groupDays(axis, shown);
  return {
    name,
    head: [unit, 'Accepted', 'Of what is usual', 'Days with far fewer'],
    rows: [...groups].map(([group, days]) => [
      group,
      describeAccepted(days),
      describeShare(days),
      formatCount(days.filter(({ isDrop }) => isDrop).length),
    ]),
  };
}

function describeAccepted(days: readonly VolumeDay[]): string {
  const known = days.flatMap(({ accepted }) => accepted ?? []);
  return known.length === 0 ? 'unknown' : formatCount(sum(known));
}

/** For the days of which both numbers are known. */
function describeShare(days: readonly VolumeDay[]): string {
  const compared = days.filter(({ accepted, usual }) => accepted !== null && usual !== null);
  const usual = sum(compared.map((one) => one.usual ?? 0));
  if (usual === 0) return 'unknown';
  return `${formatCount(Math.round((100 * sum(compared.map(({ accepted }) => accepted ?? 0))) / usual))} %`;
}
