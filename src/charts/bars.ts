import { showInLine } from '../text/foreign-text.js';
import { formatCount } from '../text/format.js';
import { type Html, html } from '../text/html.js';
import { percent } from './figure.js';

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
  const largest = Math.max(1, ...bars.map(({ value, usual }) => Math.max(value, usual ?? 0)));
  const items = bars.map(({ label, value, text, usual, isHighlighted = true }) => {
    const bar = html`<rect class="${isHighlighted ? 'bar' : 'bar other'}" y="3" width="${percent(value / largest)}" height="14"/>`;
    const x = usual && percent(usual / largest);
    const line = x ? html`<line class="usual" x1="${x}" x2="${x}" y1="0" y2="20"/>` : undefined;
    const compared = usual === null ? ', not compared yet' : `, usually ${formatCount(usual ?? 0)}`;
    return html`<li><span class="bar-label">${showInLine(label)}</span><svg aria-hidden="true" width="100%" height="20">${bar}${line}</svg>
<span class="bar-value">${text}${usual === undefined ? undefined : compared}</span></li>
`;
  });
  return html`<ul class="bars" aria-label="${title}">
${items}</ul>
`;
}
