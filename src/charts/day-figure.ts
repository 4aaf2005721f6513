import { formatCount, formatCountOf, formatDay } from '../text/format.js';
import { type Html, html } from '../text/html.js';
import {
  drawDashes,
  drawLine,
  drawSign,
  type LegendEntry,
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
  /** Above the column. */
  sign?(item: Item): string | false | undefined;
  /** Of counts, if absent. */
  createAxis?(values: readonly number[]): ValueAxis;
  /** Counts much smaller than the values have their own strips below, each with its own scale. */
  readonly strips?: Readonly<Record<string, (item: Item) => Value>>;
  summarise(items: readonly Item[]): string;
  explain?(items: readonly Item[]): LegendEntry[];
  /** The columns of its table, each about all items of a day or a month. */
  readonly columns: Readonly<Record<string, (items: readonly Item[]) => string>>;
}

/** A chart over days, up to a year: a column for each, and the same in numbers. */
export function renderDayFigure<Item extends OfDay>(figure: DayFigure<Item>): Html {
  const { title, items, value, usual, sign, strips = {}, createAxis = createCountAxis } = figure;
  const days = listDays(figure);
  const itemOf = new Map(items.map((item) => [item.day, item]));
  const slots = days.map((day) => itemOf.get(day));
  const shown = slots.filter((item) => item !== undefined);
  if (shown.length === 0) return renderFigure({ title, summary: figure.empty });
  const axis = createAxis(shown.flatMap((item) => [value(item) ?? 0, usual?.(item) ?? 0]));
  const heights = slots.map((item) => axis.heightOf((item && value(item)) ?? 0));
  const gaps = slots.map((item) => item?.isMissing === true);
  const line = slots.map((item, at) => {
    const compared = (item && usual?.(item)) ?? undefined;
    return compared === undefined ? undefined : { x: at + 0.5, y: plotHeight - axis.heightOf(compared) };
  });
  const signs = slots.flatMap((item, at) => {
    const shownSign = item && sign?.(item);
    const y = Math.max(11, plotHeight - 3 - (heights[at] ?? 0));
    return shownSign ? drawSign(shownSign, percent((at + 0.5) / days.length), y) : [];
  });
  // One for all days that follow each other, visible even if a day is a pixel wide.
  const crosses = listStretches(gaps).map(({ start, end }) =>
    drawSign('×', percent((start + end) / 2 / days.length), plotHeight - 5),
  );
  return renderFigure({
    title,
    summary: figure.summarise(shown),
    content: html`<div class="chart-plot"><svg role="img" aria-label="${title}" width="100%" height="${plotHeight + 18}">${renderValueTicks(axis)}${renderDayTicks(days)}
${stretch(days.length, plotHeight, html`<path class="columns" d="${drawColumns(heights)}"/><path class="missing" d="${drawColumns(gaps.map((isGap) => (isGap ? plotHeight : 0)))}"/><path class="line" d="${drawLine(line)}"/>`)}${signs}${crosses}</svg>
${Object.entries(strips).map(([name, count]) =>
  renderStrip(
    name,
    slots.map((item) => item && count(item)),
  ),
)}</div>`,
    legend: figure.explain?.(shown) ?? [],
    numbers: renderNumbers(days, shown, {
      ...figure.columns,
      ...Object.fromEntries(
        Object.entries(strips).map(([name, count]) => [
          name,
          (group: readonly Item[]) => sumKnown(group.map(count)),
        ]),
      ),
    }),
  });
}

const dayMs = 86_400_000;

function listDays({ from, to }: DayRange): string[] {
  const start = Date.parse(from);
  const length = Math.max(0, Math.round((Date.parse(to) - start) / dayMs) + 1);
  return Array.from({ length }, (_, at) => new Date(start + at * dayMs).toISOString().slice(0, from.length));
}

/** An axis of values, with 0 at the bottom of the plot. */
export interface ValueAxis {
  /** In pixels; what exceeds the axis ends at its top. */
  heightOf(value: number): number;
  readonly ticks: readonly { readonly value: number; readonly label: string }[];
}

const plotHeight = 140;
const maxSteps = 4;

/** A linear axis up to the largest value. @param steps that may be between two ticks, ascending */
export function createAxisWith(
  steps: readonly number[],
  largest: number,
  format: (value: number) => string,
): ValueAxis {
  const step = steps.find((one) => largest <= one * maxSteps) ?? largest / maxSteps;
  const count = Math.max(1, Math.ceil(largest / step));
  return {
    heightOf: (value) => Math.round(plotHeight * Math.min(1, value / (count * step))),
    ticks: Array.from({ length: count + 1 }, (_, at) => ({ value: at * step, label: format(at * step) })),
  };
}

/** 1, 2 and 5 times each power of ten. */
const countSteps = Array.from({ length: 16 }, (_, power) => [1, 2, 5].map((times) => times * 10 ** power));

/** Its labels are short enough for the margin. */
function createCountAxis(counts: readonly number[]): ValueAxis {
  return createAxisWith(countSteps.flat(), Math.max(1, ...counts), (count) =>
    count < 1e6 ? formatCount(count) : `${round(count / 1e6, 100)} M`,
  );
}

/** Lines across the plot, with their labels in the margin. */
function renderValueTicks({ ticks, heightOf }: ValueAxis): Html {
  return html`${ticks.map(({ value, label }) => {
    const y = plotHeight - heightOf(value);
    return html`<line class="grid" x2="100%" y1="${y}" y2="${y}"/><text class="value" x="-6" y="${y + 4}">${label}</text>`;
  })}`;
}

/** More days than this are labelled by month. */
const daysByWeek = 45;
/** Labels beyond these shares of the width would leave the chart: on a phone, and on any screen. */
const [lastOnPhone, lastOnAll] = [0.85, 0.95];

/** Ticks under the plot: the months, or the weeks of few days. Every second label is left out if space is short. */
function renderDayTicks(days: readonly string[]): Html {
  const every = days.length <= 7 ? 1 : 7;
  const isTick = (day: string, at: number) =>
    days.length <= daysByWeek ? at % every === 0 : day.endsWith('-01');
  const ticks = days.flatMap((day, at) => (isTick(day, at) ? [{ day, share: at / days.length }] : []));
  return html`${ticks.map(({ day, share }, place) => {
    const x = percent(share);
    const isSpare = place % 2 === 1 || share > lastOnPhone;
    const text = html`<text class="${isSpare ? 'spare' : 'day'}" x="${x}" dx="3" y="${plotHeight + 13}">${labelDay(day, days.length)}</text>`;
    return html`<line class="tick" x1="${x}" x2="${x}" y2="${plotHeight + 14}"/>${share > lastOnAll ? undefined : text}`;
  })}`;
}

/** 20 Nov; or Nov, and the first month of a year as its number. */
function labelDay(iso: string, length: number): string {
  const [day, month = '', year = ''] = formatDay(iso).split(' ');
  if (length <= daysByWeek) return `${day} ${month}`;
  return month === 'Jan' ? year : month;
}

/** With more days, columns touch: gaps below a pixel would flicker. */
const daysWithGaps = 62;

/** A path of a column for each day that has a height. */
function drawColumns(heights: readonly number[], bottom = plotHeight): string {
  if (!heights.some((height) => height > 0)) return '';
  const [width, gap] = heights.length > daysWithGaps ? [1, ''] : [0.8, 'm0.2 0'];
  const pieces = heights.map((height) => (height === 0 ? 'm1 0' : `v-${height}h${width}v${height}${gap}`));
  return `M${(1 - width) / 2} ${bottom}${pieces.join('')}`;
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
${stretch(counts.length, stripHeight, html`<path class="columns ${name.toLowerCase()}" d="${drawColumns(marks, stripHeight)}"/><path class="unknown" d="${drawDashes(unknown, stripHeight - 2)}"/>`)}
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
  columns: DayFigure<Item>['columns'],
): Html {
  const unit = days.length <= daysByWeek ? 'Day' : 'Month';
  const nameOf = (iso: string) => (unit === 'Day' ? formatDay(iso) : formatDay(iso).replace(/^\d+ /, ''));
  const groups = new Map(days.map((day): [string, Item[]] => [nameOf(day), []]));
  for (const item of items) groups.get(nameOf(item.day))?.push(item);
  const rows = [...groups].map(
    ([name, group]) =>
      html`<tr><th scope="row">${name}</th>${Object.values(columns).map((show) => html`<td>${show(group)}</td>`)}</tr>
`,
  );
  return html`<details class="chart-numbers"><summary>By ${unit.toLowerCase()}</summary><table><thead><tr>${[unit, ...Object.keys(columns)].map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${rows}</tbody></table></details>
`;
}
