import { formatCount } from '../text/format.js';
import { type Html, html } from '../text/html.js';
import { showInLine } from '../text/visible.js';
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
  return usual === undefined ? text : `${text}, usually ${usual === null ? 'unknown' : formatCount(usual)}`;
}
