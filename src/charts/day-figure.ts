import { formatCount, formatCountOf, formatDay } from '../text/format.js';
import { type Html, html } from '../text/html.js';
import {
  drawDashes,
  drawLine,
  drawSign,
  drawTicks,
  findStep,
  type LegendEntry,
  labelTicks,
  listStretches,
  percent,
  renderFigure,
  round,
  stretch,
} from './figure.js';

export interface DayRange {
  readonly title: string;
  /** YYYY-MM-DD, both included */
  readonly from: string;
  readonly to: string;
}

interface OfDay {
  /** YYYY-MM-DD */
  readonly day: string;
  /** It was due and has no run. */
  readonly isMissing?: boolean;
}

/** Null is unknown; undefined is not there. */
type Value = number | null | undefined;

interface DayFigure<Item extends OfDay> extends DayRange {
  /** At most one of a day, in any order; a day without an item stays empty. */
  readonly items: readonly Item[];
  /** What it says without an item in its range. */
  readonly empty: string;
  /** Shown as a column. */
  value(item: Item): Value;
  /** What the value is compared with, as a line. */
  usual?(item: Item): Value;
  /** Above the columns of some items: a sign and what it means. */
  readonly signs?: readonly (readonly [
    sign: string,
    meaning: string,
    isOf: (item: Item) => boolean | undefined,
  ])[];
  /** Between the ticks of its axis, ascending; those of counts if absent. */
  readonly steps?: readonly number[];
  /** Writes a tick. */
  format?(value: number): string;
  /** Where the axis ends; the largest value if absent. */
  readonly top?: number;
  /** Counts much smaller than the values have their own strips below, each with its own scale. */
  readonly strips?: Readonly<Record<string, (item: Item) => Value>>;
  summarise(items: readonly Item[]): string;
  /** The columns of its table, each about all items of a day or a month. */
  readonly columns: Readonly<Record<string, (items: readonly Item[]) => string>>;
}

/** A chart over days, up to a year: a column for each, and the same in numbers. */
export function renderDayFigure<Item extends OfDay>(figure: DayFigure<Item>): Html {
  const { title, items, usual, signs = [], strips = {}, steps = countSteps, format = formatTick } = figure;
  const days = listDays(figure);
  const itemOf = new Map(items.map((item) => [item.day, item]));
  const slots = days.map((day) => itemOf.get(day));
  const shown = slots.filter((item) => item !== undefined);
  if (shown.length === 0) return renderFigure({ title, summary: figure.empty });
  const read = (of: (item: Item) => Value) => slots.map((item) => item && of(item));
  const [values, expected] = [read(figure.value), usual ? read(usual) : []];
  const largest = Math.max(0, ...[...values, ...expected].map((value) => value ?? 0));
  const axis = createAxis(figure.top ?? largest, steps);
  const heights = values.map((value) => axis.heightOf(value ?? 0));
  const points = expected.map((value, at) =>
    typeof value === 'number' ? { x: at + 0.5, y: plotHeight - axis.heightOf(value) } : undefined,
  );
  const isGap = slots.map((item) => item?.isMissing === true);
  const gaps = isGap.map((is) => (is ? plotHeight : 0));
  const above = heights.map((height) => Math.max(11, plotHeight - 3 - height));
  const used = signs.filter(([, , isOf]) => shown.some(isOf));
  const marks = used.flatMap(([sign, , isOf]) =>
    slots.flatMap((item, at) =>
      item && isOf(item) ? drawSign(sign, percent((at + 0.5) / days.length), above[at] ?? 0) : [],
    ),
  );
  // One for all days that follow each other, visible even if a day is a pixel wide.
  const crosses = listStretches(isGap).map(({ start, end }) =>
    drawSign('×', percent((start + end) / 2 / days.length), plotHeight - 5),
  );
  const counted = Object.entries(strips).map(([name, of]) => {
    const count = (group: readonly Item[]) => sumKnown(group.map(of));
    return { strip: renderStrip(name, read(of)), column: [name, count] as const };
  });
  return renderFigure({
    title,
    summary: figure.summarise(shown),
    content: html`<div class="chart-plot"><svg role="img" aria-label="${title}" width="100%" height="${plotHeight + 18}">${renderValueTicks(axis, format)}${renderDayTicks(days)}
${stretch(days.length, plotHeight, html`<path class="columns" d="${drawColumns(heights)}"/><path class="missing" d="${drawColumns(gaps)}"/><path class="line" d="${drawLine(points)}"/>`)}${marks}${crosses}</svg>
${counted.map(({ strip }) => strip)}</div>`,
    legend: [
      ...(usual ? compared : []),
      ...used.map(([sign, meaning]): LegendEntry => [meaning, drawSign(sign, 13, 16)]),
    ],
    numbers: renderNumbers(days, shown, [
      ...Object.entries(figure.columns),
      ...counted.map(({ column }) => column),
    ]),
  });
}

const compared: readonly LegendEntry[] = [
  ['accepted', html`<path class="columns" d="M5 20V6h6V20zM14 20V10h6V20z"/>`],
  ['usual', html`<path class="line" d="M2 12l11-4l11 3"/>`],
];
const dayMs = 86_400_000;

function listDays({ from, to }: DayRange): string[] {
  const start = Date.parse(from);
  const length = Math.max(0, Math.round((Date.parse(to) - start) / dayMs) + 1);
  return Array.from({ length }, (_, at) => new Date(start + at * dayMs).toISOString().slice(0, from.length));
}

const plotHeight = 140;
const maxSteps = 4;
/** 1, 2 and 5 times each power of ten. */
const countSteps = Array.from({ length: 16 }, (_, power) => [1, 2, 5].map((one) => one * 10 ** power)).flat();

/** A linear axis of values up to the largest, with 0 at the bottom of the plot. */
function createAxis(largest: number, steps: readonly number[]) {
  const step = findStep(steps, largest, maxSteps);
  const count = Math.max(1, Math.ceil(largest / step));
  return {
    /** In pixels; what exceeds the axis ends at its top. */
    heightOf: (value: number) => Math.round(plotHeight * Math.min(1, value / (count * step))),
    ticks: Array.from({ length: count + 1 }, (_, at) => at * step),
  };
}

/** Short enough for the margin. */
function formatTick(count: number): string {
  return count < 1e6 ? formatCount(count) : `${round(count / 1e6, 100)} M`;
}

/** Lines across the plot, with their labels in the margin. */
function renderValueTicks(
  { ticks, heightOf }: ReturnType<typeof createAxis>,
  format: (value: number) => string,
): Html[] {
  return ticks.map((value) => {
    const y = plotHeight - heightOf(value);
    return html`<line class="grid" x2="100%" y1="${y}" y2="${y}"/><text class="value" x="-6" y="${y + 4}">${format(value)}</text>`;
  });
}

/** More days than this are labelled by month. */
const daysByWeek = 45;
/** Ticks under the plot: the months, or the weeks of few days. */
function renderDayTicks(days: readonly string[]): Html {
  const every = days.length <= 7 ? 1 : 7;
  const isTick = (day: string, at: number) =>
    days.length <= daysByWeek ? at % every === 0 : day.endsWith('-01');
  const ticks = days.flatMap((day, at) =>
    isTick(day, at) ? [{ share: at / days.length, label: labelDay(day, days.length) }] : [],
  );
  return html`${drawTicks(ticks, plotHeight + 14)}${labelTicks(ticks, plotHeight + 13)}`;
}

/** 20 Nov; or Nov, and the first month of a year as its number. */
function labelDay(iso: string, length: number): string {
  const [day, month = '', year = ''] = formatDay(iso).split(' ');
  if (length <= daysByWeek) return `${day} ${month}`;
  return month === 'Jan' ? year : month;
}

/** With more days, columns touch: gaps below a pixel would flicker. */
const daysWithGaps = 62;

/** A path of a column for each day that has a height. Those that touch are one outline, which is half as long to write. */
function drawColumns(heights: readonly number[], bottom = plotHeight): string {
  if (!heights.some((height) => height > 0)) return '';
  if (heights.length > daysWithGaps) {
    // A day without a height has no line either.
    const outline = heights.map((height) => (height === 0 ? `V${bottom}m1 0` : `V${bottom - height}h1`));
    return `M0 ${bottom}${outline.join('')}V${bottom}`;
  }
  const pieces = heights.map((height) => (height === 0 ? 'm1 0' : `v-${height}h0.8v${height}m0.2 0`));
  return `M0.1 ${bottom}${pieces.join('')}`;
}

const stripHeight = 18;
/** The smallest visible height. */
const minMark = 4;

/** Counts on a scale of their own, below their name and sum. */
function renderStrip(name: string, counts: readonly Value[]): Html {
  const largest = Math.max(1, ...counts.map((count) => count ?? 0));
  // By the root, so that few can be told from none.
  const heightOf = (count: number) =>
    Math.round(minMark + (stripHeight - minMark) * Math.sqrt(count / largest));
  const marks = counts.map((count) => (count ? heightOf(count) : 0));
  const unknown = counts.map((count) => count === null);
  return html`<p class="chart-strip"><strong>${name}</strong> ${describeStrip(counts)}</p>
${stretch(counts.length, stripHeight, html`<path class="${name.toLowerCase()}" d="${drawColumns(marks, stripHeight)}"/><path class="unknown" d="${drawDashes(unknown, stripHeight - 2)}"/>`)}
`;
}

function describeStrip(counts: readonly Value[]): string {
  const some = counts.flatMap((count) => count || []);
  const unknown = counts.filter((count) => count === null).length;
  if (!counts.some((count) => typeof count === 'number')) return 'unknown';
  const found = `${sumKnown(some)} on ${formatCountOf(some.length, 'day')}, at most ${formatCount(Math.max(...some))}`;
  return `${some.length === 0 ? 'none' : found}${unknown > 0 ? `; ${formatCountOf(unknown, 'day')} unknown` : ''}`;
}

/** A sum with unknown parts is a lower bound. */
export function sumKnown(counts: readonly Value[]): string {
  const known = formatCount(sum(counts));
  if (!counts.includes(null)) return known;
  return counts.some((count) => typeof count === 'number') ? `at least ${known}` : 'unknown';
}

/** Of those that are known. */
export function sum(counts: readonly Value[]): number {
  return counts.reduce<number>((total, count) => total + (count ?? 0), 0);
}

/** By day if there are few days, otherwise by month; days without an item are there, too. */
function renderNumbers<Item extends OfDay>(
  days: readonly string[],
  items: readonly Item[],
  columns: readonly (readonly [name: string, show: (items: readonly Item[]) => string])[],
): Html {
  const unit = days.length <= daysByWeek ? 'Day' : 'Month';
  const nameOf = (iso: string) => (unit === 'Day' ? formatDay(iso) : formatDay(iso).replace(/^\d+ /, ''));
  const groups = new Map(days.map((day): [string, Item[]] => [nameOf(day), []]));
  for (const item of items) groups.get(nameOf(item.day))?.push(item);
  const rows = [...groups].map(
    ([name, group]) =>
      html`<tr><th scope="row">${name}</th>${columns.map(([, show]) => html`<td>${show(group)}</td>`)}</tr>
`,
  );
  const head = [unit, ...columns.map(([name]) => name)];
  return html`<details class="chart-numbers"><summary>By ${unit.toLowerCase()}</summary><table><thead><tr>${head.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${rows}</tbody></table></details>
`;
}
