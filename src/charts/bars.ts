import { showInLine } from '../text/foreign-text.js';
import { formatCount, formatCountOf } from '../text/format.js';
import { type Html, html } from '../text/html.js';
import { drawLine, percent, round } from './figure.js';

/** A value to compare with others of its chart. */
export interface Bar {
  readonly label: string;
  readonly value: number;
  readonly text: string;
  /** The usual value; absent if nothing is compared, null if too few days are known. */
  readonly usual?: number | null;
  /** Whether it is the bar that the chart is about. */
  readonly isHighlighted?: boolean;
}

/** Horizontal bars on one scale; a line marks the usual value. The texts are a list, which screen readers read as it is. */
export function renderBars(title: string, bars: readonly Bar[]): Html | undefined {
  if (bars.length === 0) return undefined;
  const largest = bars.reduce((most, { value, usual }) => Math.max(most, value, usual ?? 0), 1);
  const isPlain = bars.every(({ isHighlighted }) => isHighlighted === undefined);
  return html`<ul class="bars" aria-label="${title}">
${bars.map(
  (bar) => html`<li><span class="bar-label">${showInLine(bar.label)}</span>${renderBar(bar, largest, isPlain)}
<span class="bar-value">${nameValue(bar)}</span></li>
`,
)}</ul>
`;
}

function renderBar({ value, usual, isHighlighted }: Bar, largest: number, isPlain: boolean): Html {
  const x = usual ? percent(usual / largest) : undefined;
  return html`<svg aria-hidden="true" width="100%" height="20"><rect class="${isPlain || isHighlighted ? 'bar' : 'bar other'}" y="3" width="${percent(value / largest)}" height="14"/>${
    x && html`<line class="usual" x1="${x}" x2="${x}" y1="0" y2="20"/>`
  }</svg>`;
}

function nameValue({ text, usual }: Bar): string {
  return usual == null ? text : `${text}, usually ${formatCount(usual)}`;
}

/** A share between 0 and 1, and its 95 % confidence interval. */
export interface KnownShare {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

export interface ShareBar {
  readonly label: string;
  readonly link?: string | undefined;
  /** Null if it is not known; the text says why. */
  readonly share: KnownShare | null;
  /** What was counted: 14 of 1,200. */
  readonly text: string;
  /** The share of each week, oldest first; null if not known. */
  readonly weeks?: readonly (number | null)[] | undefined;
}

/** With few bookings a whisker may reach to 1 and dwarf the shares: it is cut off at this multiple of the largest share. */
const whiskerTimes = 4;
const minScale = 0.001;
const [sparkWidth, sparkHeight] = [96, 22];

/** Shares as horizontal bars on one scale, each with a whisker for its interval. The texts are a list, as in `renderBars`. */
export function renderShares(title: string, bars: readonly ShareBar[]): Html | undefined {
  if (bars.length === 0) return undefined;
  const known = bars.flatMap(({ share }) => share ?? []);
  const largest = Math.max(0, ...known.map(({ value }) => value));
  const highest = Math.max(0, ...known.map(({ high }) => high));
  const scale = Math.max(minScale, largest > 0 ? Math.min(highest, largest * whiskerTimes) : highest);
  return html`<ul class="bars shares" aria-label="${title}">
${bars.map(
  (bar) => html`<li><span class="bar-label">${nameBar(bar)}</span>${renderShare(bar.share, scale)}
<span class="bar-value">${nameShare(bar)}</span>${bar.weeks && renderSparkline('Share by week', bar.weeks)}</li>
`,
)}</ul>
`;
}

function nameBar({ label, link }: ShareBar): Html {
  const name = showInLine(label);
  return link === undefined ? html`${name}` : html`<a href="${link}">${name}</a>`;
}

function nameShare({ share, text }: ShareBar): Html {
  if (share === null) return html`${showInLine(text)}`;
  const interval = `${formatPercent(share.low)} to ${formatPercent(share.high)}`;
  return html`<strong>${formatPercent(share.value)} %</strong> (${interval}), ${showInLine(text)}`;
}

function renderShare(share: KnownShare | null, scale: number): Html {
  return html`<svg aria-hidden="true" width="100%" height="20"><line class="axis" x2="100%" y1="10" y2="10"/>${share ? drawShare(share, scale) : undefined}</svg>`;
}

/** The whisker has no right end if it reaches beyond the scale. */
function drawShare({ value, low, high }: KnownShare, scale: number): Html {
  const [start, end] = [percent(low / scale), percent(Math.min(1, high / scale))];
  const cap = (x: string) => html`<line class="whisker" x1="${x}" x2="${x}" y1="5" y2="15"/>`;
  return html`<rect class="bar" y="3" width="${percent(value / scale)}" height="14"/><line class="whisker" x1="${start}" x2="${end}" y1="10" y2="10"/>${cap(start)}${high > scale ? undefined : cap(end)}`;
}

/** With two decimals, as `providers` prints it. */
function formatPercent(share: number): string {
  return (share * 100).toFixed(2);
}

/** Shares over weeks, from 0 up, without axes; unknown weeks are gaps. Undefined if no week is known. */
export function renderSparkline(title: string, weeks: readonly (number | null)[]): Html | undefined {
  const known = weeks.flatMap((share) => share ?? []);
  const last = weeks.findLastIndex((share) => share !== null);
  if (known.length === 0) return undefined;
  const largest = Math.max(minScale, ...known);
  const xOf = (index: number) => 3 + (index * (sparkWidth - 6)) / Math.max(1, weeks.length - 1);
  const yOf = (share: number) => sparkHeight - 3 - (share / largest) * (sparkHeight - 6);
  const points = weeks.map((share, index) => (share === null ? undefined : { x: xOf(index), y: yOf(share) }));
  const end = weeks[last] ?? 0;
  const unknown = weeks.length - known.length;
  const words = `${title}: at last ${formatPercent(end)} %, at most ${formatPercent(Math.max(...known))} %${unknown > 0 ? `; ${formatCountOf(unknown, 'week')} unknown` : ''}`;
  return html`<svg class="sparkline" role="img" aria-label="${words}" width="${sparkWidth}" height="${sparkHeight}"><title>${words}</title><line class="base" x2="${sparkWidth}" y1="${sparkHeight - 3}" y2="${sparkHeight - 3}"/><path class="line" d="${drawLine(points)}"/><circle cx="${round(xOf(last))}" cy="${round(yOf(end))}" r="2.5"/></svg>`;
}
