import { formatCount, formatDuration } from '../text/format.js';
import { type Html, html } from '../text/html.js';

/**
 * How all charts are built: positions along the width are percentages, heights are pixels, and shapes that need numbers are
 * in a stretched part. So a chart fills any width, and its texts keep their size on a phone.
 */

/** A chart with its caption; what it shows is also there in words, and as an expandable table. */
export interface Figure {
  readonly title: string;
  /** What someone who can't see the chart should know. */
  readonly summary: string;
  /** In pixels */
  readonly height: number;
  readonly drawing: Html;
  /** Links over the drawing, for the mouse; the page has them elsewhere, too. */
  readonly links?: Html | undefined;
  readonly legend?: readonly LegendEntry[] | undefined;
  readonly numbers?: NumberTable | undefined;
}

export interface LegendEntry {
  readonly name: string;
  /** 26 pixels wide and 22 high. */
  readonly drawing: Html;
}

export interface NumberTable {
  readonly name: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export function renderFigure({ title, summary, height, drawing, links, legend = [], numbers }: Figure): Html {
  return html`<figure class="chart"><figcaption><strong>${title}</strong> <span>${summary}</span></figcaption>
<div class="chart-plot"><svg role="img" aria-label="${title}" width="100%" height="${height}">${drawing}</svg>
${
  links &&
  html`<svg class="chart-links" aria-hidden="true" width="100%" height="${height}">${links}</svg>
`
}</div>
${legend.length > 0 ? renderLegend(legend) : undefined}${numbers && renderNumbers(numbers)}</figure>
`;
}

/** A figure that has nothing to show yet. */
export function renderEmptyFigure(title: string, words: string): Html {
  return html`<figure class="chart"><figcaption><strong>${title}</strong> <span>${words}</span></figcaption></figure>
`;
}

export function renderLegend(entries: readonly LegendEntry[]): Html {
  return html`<p class="chart-legend">${entries.map(
    ({ name, drawing }) =>
      html`<span><svg aria-hidden="true" width="26" height="22">${drawing}</svg> ${name}</span>
`,
  )}</p>
`;
}

function renderNumbers({ name, head, rows }: NumberTable): Html {
  return html`<details class="chart-numbers"><summary>${name}</summary><table><thead><tr>${head.map((one) => html`<th scope="col">${one}</th>`)}</tr></thead>
<tbody>${rows.map(
    ([first, ...others]) =>
      html`<tr><th scope="row">${first}</th>${others.map((one) => html`<td>${one}</td>`)}</tr>
`,
  )}</tbody></table></details>
`;
}

/** A part of the drawing whose x is counted in units, stretched over the whole width. */
export function stretch(units: number, height: number, content: Html | readonly Html[]): Html {
  return html`<svg viewBox="0 0 ${units} ${height}" width="100%" height="${height}" preserveAspectRatio="none">${content}</svg>`;
}

/** A share of the width. */
export function percent(share: number): string {
  return `${round(share * 100, 100)}%`;
}

export function round(value: number, parts = 10): number {
  return Math.round(value * parts) / parts;
}

/** A height for a count, from `least` on, so that few can be told from none. */
export function scaleByRoot(largest: number, least: number, most: number): (count: number) => number {
  return (count) => least + (most - least) * Math.sqrt(count / largest);
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A line through points; unknown ones are gaps. A single point is a line without length. */
export function drawLine(points: readonly (Point | undefined)[]): string {
  return points
    .flatMap((point, place) => {
      if (!point) return [];
      const isFirst = points[place - 1] === undefined;
      const isSingle = isFirst && points[place + 1] === undefined;
      return `${isFirst ? 'M' : 'L'}${round(point.x)},${round(point.y)}${isSingle ? 'Z' : ''}`;
    })
    .join('');
}

export function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

/** What all charts over days have in common. */
export interface DayChart {
  readonly title: string;
  /** YYYY-MM-DD, included */
  readonly from: string;
  /** YYYY-MM-DD, included */
  readonly to: string;
}

/** The days of a chart, each one unit wide. */
export interface DayAxis {
  /** YYYY-MM-DD */
  readonly days: readonly string[];
  /** The index of a day; undefined if it is not on the axis. */
  indexOf(day: string): number | undefined;
  /** The items whose day is on the axis, in the order of their days. */
  select<Item extends { readonly day: string }>(items: readonly Item[]): Item[];
}

const dayMs = 86_400_000;
const monthNames = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
/** More days than this are labelled by month. */
const daysByWeek = 45;
/** Labels beyond these shares of the width would leave the chart: on a phone, and on any screen. */
const [lastOnPhone, lastOnAll] = [0.85, 0.95];

/** Both days are included; there are none if `to` is earlier. */
export function createDayAxis(from: string, to: string): DayAxis {
  const start = Date.parse(from);
  const toIndex = (day: string) => Math.round((Date.parse(day) - start) / dayMs);
  const count = Math.max(0, toIndex(to) + 1);
  const indexOf = (day: string) => {
    const index = toIndex(day);
    return index >= 0 && index < count ? index : undefined;
  };
  return {
    days: Array.from({ length: count }, (_, index) => toDay(start + index * dayMs)),
    indexOf,
    select: (items) =>
      items
        .filter(({ day }) => indexOf(day) !== undefined)
        .sort((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : 0)),
  };
}

/** Consecutive days on the axis. */
export interface Stretch {
  readonly start: number;
  readonly length: number;
}

/** @param days ascending */
export function listStretches({ indexOf }: DayAxis, days: readonly string[]): Stretch[] {
  const stretches: Stretch[] = [];
  for (const day of days) {
    const index = indexOf(day) ?? 0;
    const last = stretches.at(-1);
    if (last && last.start + last.length === index)
      stretches[stretches.length - 1] = { start: last.start, length: last.length + 1 };
    else stretches.push({ start: index, length: 1 });
  }
  return stretches;
}

function toDay(instant: number): string {
  return new Date(instant).toISOString().slice(0, '2026-11-20'.length);
}

/** 2026-11-20 as 20 Nov */
export function nameDay(day: string): string {
  return `${Number(day.slice(8))} ${nameMonth(day)}`;
}

/** 2026-11-20 as Nov, and the first month of a year as its number */
function labelMonth(day: string): string {
  return day.slice(5, 7) === '01' ? day.slice(0, 4) : nameMonth(day);
}

function nameMonth(day: string): string {
  return monthNames[Number(day.slice(5, 7)) - 1] ?? '';
}

/** Ticks under a drawing: the months, or the weeks of few days. Every second label is left out if space is short. */
export function renderDayTicks({ days }: DayAxis, top: number, bottom: number): Html {
  const isByWeek = days.length <= daysByWeek;
  const every = days.length <= 7 ? 1 : 7;
  const ticks = days.flatMap((day, index) => {
    if (isByWeek) return index % every === 0 ? [{ index, label: nameDay(day) }] : [];
    return day.endsWith('-01') ? [{ index, label: labelMonth(day) }] : [];
  });
  return html`${ticks.map(({ index, label }, place) => {
    const share = index / days.length;
    const x = percent(share);
    const isSpare = place % 2 === 1 || share > lastOnPhone;
    const text = html`<text${isSpare ? html` class="spare"` : undefined} x="${x}" dx="3" y="${bottom + 13}">${label}</text>`;
    return html`<line class="tick" x1="${x}" x2="${x}" y1="${top}" y2="${bottom + 14}"/>${share > lastOnAll ? undefined : text}`;
  })}`;
}

interface DayGroups<Item> {
  readonly name: string;
  readonly unit: string;
  /** Every day or month of the axis, including those without an item. */
  readonly groups: ReadonlyMap<string, readonly Item[]>;
}

/** Groups items by day if there are few days, otherwise by month. */
export function groupDays<Item extends { readonly day: string }>(
  { days }: DayAxis,
  items: readonly Item[],
): DayGroups<Item> {
  const isByDay = days.length <= daysByWeek;
  const groups = new Map<string, Item[]>();
  const nameOf = (day: string) => (isByDay ? day : day.slice(0, '2026-11'.length));
  for (const day of days) groups.set(nameOf(day), []);
  for (const item of items) groups.get(nameOf(item.day))?.push(item);
  return { ...(isByDay ? { name: 'By day', unit: 'Day' } : { name: 'By month', unit: 'Month' }), groups };
}

export interface Column {
  readonly day: string;
  /** In pixels */
  readonly height: number;
}

/** With more days, columns touch: gaps below a pixel would flicker. */
const daysWithGaps = 62;
/** With fewer days, columns get no wider. */
const minDays = 15;

/** A path of one column per day, in ascending order of the days; those that touch are one shape, which saves bytes. */
export function drawColumns({ days, indexOf }: DayAxis, columns: readonly Column[], bottom: number): string {
  const width = days.length > daysWithGaps ? 1 : round(Math.min(0.8, days.length / minDays), 100);
  let end: number | undefined;
  const strokes = columns.map((column) => {
    const x = round((indexOf(column.day) ?? 0) + (1 - width) / 2, 100);
    const start = x === end ? '' : `${end === undefined ? '' : `V${bottom}`}M${x} ${bottom}`;
    end = x + width;
    return `${start}V${round(bottom - column.height)}h${width}`;
  });
  return end === undefined ? '' : `${strokes.join('')}V${bottom}`;
}

/** An axis of values, with 0 at the bottom. */
export interface ValueAxis {
  /** In pixels from the top. */
  yOf(value: number): number;
  readonly ticks: readonly { readonly value: number; readonly label: string }[];
}

/** A linear axis of counts up to the largest. */
export function createCountAxis(largest: number, height: number): ValueAxis {
  const step = findStep(Math.max(1, largest));
  const steps = Math.max(1, Math.ceil(largest / step));
  return createAxis(step, steps, height, formatTick);
}

/** 1, 2 or 5 times a power of ten, so that there are about four steps. */
function findStep(largest: number): number {
  const rough = largest / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const isAbove = (product: number) => rough / power >= Math.sqrt(product);
  const factor = isAbove(50) ? 10 : isAbove(10) ? 5 : isAbove(2) ? 2 : 1;
  return Math.max(1, factor * power);
}

function createAxis(
  step: number,
  steps: number,
  height: number,
  label: (value: number) => string,
): ValueAxis {
  return {
    yOf: (value) => round(height * (1 - value / (steps * step))),
    ticks: Array.from({ length: steps + 1 }, (_, index) => ({
      value: index * step,
      label: label(index * step),
    })),
  };
}

const [second, minute, hour] = [1_000, 60_000, 3_600_000];
/** Steps between ticks, without those that would need long labels such as 1 h 30 min. */
const durationSteps = [
  ...[0.1, 0.2, 0.5, 1, 2, 5, 10, 15].map((seconds) => seconds * second),
  ...[1, 2, 5, 10, 15].map((minutes) => minutes * minute),
  ...[1, 2, 3, 6, 12, 24, 48, 120, 240].map((hours) => hours * hour),
];
const maxSteps = 4;

/** A linear axis of durations in milliseconds up to the longest. */
export function createDurationAxis(longest: number, height: number): ValueAxis {
  const step = durationSteps.find((one) => longest <= one * maxSteps) ?? longest / maxSteps;
  const steps = Math.max(1, Math.ceil(longest / step));
  return createAxis(step, steps, height, (value) =>
    value === 0 ? '0' : formatDuration(value).replace('.0 ', ' '),
  );
}

/** Short enough for the margin. */
function formatTick(count: number): string {
  return count < 1e6 ? formatCount(count) : `${round(count / 1e6, 100)} M`;
}

/** Lines across the drawing, with their labels in the margin. */
export function renderValueTicks({ ticks, yOf }: ValueAxis): Html {
  return html`${ticks.map(
    ({ value, label }) =>
      html`<line class="grid" x2="100%" y1="${yOf(value)}" y2="${yOf(value)}"/><text class="value" x="-6" y="${yOf(value) + 4}">${label}</text>`,
  )}`;
}
