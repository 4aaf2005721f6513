import { showInLine } from '../text/foreign-text.js';
import { formatCountOf } from '../text/format.js';
import { type Html, html } from '../text/html.js';
import { drawLine, percent, round } from './figure.js';

/** The texts are a list, which screen readers read as it is. */
function renderList(name: string, title: string, items: readonly Html[]): Html | undefined {
  if (items.length === 0) return undefined;
  return html`<ul class="${name}" aria-label="${title}">
${items}</ul>
`;
}

function renderItem(label: Html, drawing: Html, value: Html, course?: Html): Html {
  return html`<li><span class="bar-label">${label}</span><svg aria-hidden="true" width="100%" height="20">${drawing}</svg>
<span class="bar-value">${value}</span>${course}</li>
`;
}

function drawLineAt(name: string, x: string, top: number, bottom: number): Html {
  return html`<line class="${name}" x1="${x}" x2="${x}" y1="${top}" y2="${bottom}"/>`;
}

export interface ShareBar {
  readonly label: string;
  readonly link?: string | undefined;
  /** Between 0 and 1, with its 95 % confidence interval. Null if it is not known; the text says why. */
  readonly share: { readonly value: number; readonly low: number; readonly high: number } | null;
  /** What was counted: 14 of 1,200. */
  readonly text: string;
  /** The share of each week, oldest first; null if not known. */
  readonly weeks?: readonly (number | null)[] | undefined;
}

/** With few bookings a whisker may reach to 1 and dwarf the shares: it is cut off at this multiple of the largest share. */
const whiskerTimes = 4;
const minScale = 0.001;

/** Shares as horizontal bars on one scale, each with a whisker for its interval. */
export function renderShares(title: string, bars: readonly ShareBar[]): Html | undefined {
  const known = bars.flatMap(({ share }) => share ?? []);
  const largest = Math.max(0, ...known.map(({ value }) => value));
  const highest = Math.max(0, ...known.map(({ high }) => high));
  const scale = Math.max(minScale, largest > 0 ? Math.min(highest, largest * whiskerTimes) : highest);
  const items = bars.map(({ label, link, share, text, weeks = [] }) => {
    const name = showInLine(label);
    const bar = share ? drawShare(share, scale) : undefined;
    return renderItem(
      link === undefined ? html`${name}` : html`<a href="${link}">${name}</a>`,
      html`<line class="axis" x2="100%" y1="10" y2="10"/>${bar}`,
      html`${share ? nameShare(share) : undefined}${showInLine(text)}`,
      renderWeeks(weeks),
    );
  });
  return renderList('bars shares', title, items);
}

function nameShare({ value, low, high }: NonNullable<ShareBar['share']>): Html {
  return html`<strong>${formatPercent(value)} %</strong> (${formatPercent(low)} to ${formatPercent(high)}), `;
}

/** The whisker has no right end if it reaches beyond the scale. */
function drawShare({ value, low, high }: NonNullable<ShareBar['share']>, scale: number): Html {
  const [start, end] = [percent(low / scale), percent(Math.min(1, high / scale))];
  return html`<rect class="bar" y="3" width="${percent(value / scale)}" height="14"/><line class="whisker" x1="${start}" x2="${end}" y1="10" y2="10"/>${drawLineAt('whisker', start, 5, 15)}${high > scale ? undefined : drawLineAt('whisker', end, 5, 15)}`;
}

/** With two decimals, as `providers` prints it. */
function formatPercent(share: number): string {
  return (share * 100).toFixed(2);
}

const [sparkWidth, sparkHeight] = [96, 22];

/** Shares over weeks as a small line from 0 up; unknown weeks are gaps. */
function renderWeeks(weeks: readonly (number | null)[]): Html | undefined {
  const known = weeks.flatMap((share) => share ?? []);
  const end = known.at(-1);
  if (end === undefined) return undefined;
  const largest = Math.max(...known);
  const points = weeks.map((share, at) => ({
    x: 3 + (at * (sparkWidth - 6)) / Math.max(1, weeks.length - 1),
    y: sparkHeight - 3 - ((share ?? 0) / Math.max(minScale, largest)) * (sparkHeight - 6),
  }));
  const line = drawLine(points.map((point, at) => (weeks[at] === null ? undefined : point)));
  const { x, y } = points[weeks.findLastIndex((share) => share !== null)] ?? { x: 0, y: 0 };
  const unknown = weeks.length - known.length;
  const words = `Share by week: at last ${formatPercent(end)} %, at most ${formatPercent(largest)} %${unknown > 0 ? `; ${formatCountOf(unknown, 'week')} unknown` : ''}`;
  return html`<svg class="sparkline" role="img" aria-label="${words}" width="${sparkWidth}" height="${sparkHeight}"><title>${words}</title><line class="base" x2="${sparkWidth}" y1="${sparkHeight - 3}" y2="${sparkHeight - 3}"/><path class="line" d="${line}"/><circle cx="${round(x)}" cy="${round(y)}" r="2.5"/></svg>`;
}
