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
