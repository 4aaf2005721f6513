import { formatCount, formatCountOf } from '../text/format.js';
import { html } from '../text/html.js';
import { drawColumns } from './columns.js';
import { createDayAxis, type DayChart, listStretches, renderDayTicks } from './day-axis.js';
import { renderEmptyFigure, renderFigure, scaleByRoot, stretch, sum } from './figure.js';
import { createCountAxis, renderValueTicks } from './value-axis.js';

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

const plotHeight = 130;
const axisHeight = 18;
const stripTop = plotHeight + axisHeight + 20;
const stripHeight = 18;
const minMark = 4;

/** The sent bookings per day as columns, and below them the affected ones, on a scale of their own. */
export function renderSentColumns({ title, from, to, days }: SentColumns): ReturnType<typeof renderFigure> {
  const axis = createDayAxis(from, to);
  const shown = axis.select(days).filter(({ sent }) => sent > 0);
  if (shown.length === 0) return renderEmptyFigure(title, 'Nothing was sent.');
  const values = createCountAxis(Math.max(...shown.map(({ sent }) => sent)), plotHeight);
  const columns = shown.map(({ day, sent }) => ({ day, height: plotHeight - values.yOf(sent) }));
  const largest = Math.max(1, ...shown.map(({ affected }) => affected ?? 0));
  const heightOf = scaleByRoot(largest, minMark, stripHeight);
  const marks = shown.flatMap(({ day, affected }) => (affected ? [{ day, height: heightOf(affected) }] : []));
  const unknown = shown.filter(({ affected }) => affected === null).map(({ day }) => day);
  return renderFigure({
    title,
    summary: `${formatCountOf(sum(shown.map(({ sent }) => sent)), 'booking')} sent on ${formatCountOf(shown.length, 'day')}`,
    height: stripTop + stripHeight,
    drawing: html`${renderValueTicks(values)}${renderDayTicks(axis, 0, plotHeight)}
${stretch(axis.days.length, plotHeight, html`<path class="columns accepted" d="${drawColumns(axis, columns, plotHeight)}"/>`)}
<text x="0" y="${stripTop - 6}"><tspan class="strong">Affected</tspan> ${describeAffected(shown)}</text>
<svg y="${stripTop}" width="100%" height="${stripHeight}">${stretch(axis.days.length, stripHeight, [
      html`<path class="columns affected" d="${drawColumns(axis, marks, stripHeight)}"/>`,
      html`<path class="unknown" d="${listStretches(axis, unknown)
        .map(({ start, length }) => `M${start} ${stripHeight - 2}h${length}`)
        .join('')}"/>`,
    ])}</svg><line class="base" x2="100%" y1="${stripTop + stripHeight}" y2="${stripTop + stripHeight}"/>`,
  });
}

function describeAffected(shown: readonly SentCounts[]): string {
  const known = shown.flatMap(({ affected }) => affected ?? []);
  const unknown = shown.length - known.length;
  if (known.length === 0) return 'unknown';
  const words = `${formatCount(sum(known))} on ${formatCountOf(known.length, 'day')}`;
  return unknown > 0 ? `${words}; ${formatCountOf(unknown, 'day')} unknown` : words;
}
