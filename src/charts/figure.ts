import { type Html, html } from '../text/html.js';

/**
 * How all charts are built: positions along the width are percentages, heights are pixels, and shapes that need numbers are
 * in a stretched part. So a chart fills any width, and its texts keep their size on a phone.
 */

/** A chart with its caption. What it shows is also there in words. */
interface Figure {
  readonly title: string;
  /** What someone who can't see the chart should know. */
  readonly summary?: string;
  /** Absent if there is nothing to show yet. */
  readonly content?: Html;
  readonly legend?: readonly LegendEntry[];
}

/** The drawing is 26 pixels wide and 22 high. */
export type LegendEntry = readonly [name: string, drawing: Html];

export function renderFigure({ title, summary, content, legend = [] }: Figure): Html {
  const entries = legend.map(
    ([
      name,
      drawing,
    ]) => html`<span><svg aria-hidden="true" width="26" height="22">${drawing}</svg> ${name}</span>
`,
  );
  return html`<figure class="chart"><figcaption><strong>${title}</strong>${summary && html` <span>${summary}</span>`}</figcaption>
${content}${entries.length > 0 ? html`<p class="chart-legend">${entries}</p>` : undefined}</figure>
`;
}

/** A part of the drawing whose x is counted in units, stretched over the whole width. */
export function stretch(units: number, height: number, content: Html | readonly Html[]): Html {
  return html`<svg aria-hidden="true" viewBox="0 0 ${units} ${height}" width="100%" height="${height}" preserveAspectRatio="none">${content}</svg>`;
}

/** A share of the width. */
export function percent(share: number): string {
  return `${round(share * 100, 100)}%`;
}

export function round(value: number, parts = 10): number {
  return Math.round(value * parts) / parts;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A line through points; unknown ones are gaps. A single point is a line without length. */
export function drawLine(points: readonly (Point | undefined)[]): string {
  const pieces = points.map((point, place) => {
    if (!point) return '';
    const isFirst = points[place - 1] === undefined;
    const isSingle = isFirst && points[place + 1] === undefined;
    return `${isFirst ? 'M' : 'L'}${round(point.x)},${round(point.y)}${isSingle ? 'Z' : ''}`;
  });
  return pieces.join('');
}

/** Horizontal lines over the units that are marked; neighbours are one line. */
export function drawDashes(isMarked: readonly boolean[], y: number): string {
  return listStretches(isMarked)
    .map(({ start, end }) => `M${start} ${y}h${end - start}`)
    .join('');
}

/** Where marked places follow each other; the end is not included. */
export function listStretches(isMarked: readonly boolean[]) {
  const starts = isMarked.flatMap((is, at) => (is && !isMarked[at - 1] ? [at] : []));
  return starts.map((start) => {
    const end = isMarked.indexOf(false, start);
    return { start, end: end === -1 ? isMarked.length : end };
  });
}

/** A sign that is not stretched, such as ×. */
export function drawSign(sign: string, x: number | string, y: number): Html {
  return html`<text class="sign" x="${x}" y="${y}">${sign}</text>`;
}

const [second, minute, hour] = [1_000, 60_000, 3_600_000];
/** Round times in milliseconds, without those whose multiples need long labels, such as 1 h 30 min. */
export const timeSteps = [
  ...[0.1, 0.2, 0.5, 1, 2, 5, 10, 15].map((seconds) => seconds * second),
  ...[1, 2, 5, 10, 15].map((minutes) => minutes * minute),
  ...[1, 2, 3, 6, 12, 24, 48, 120, 240].map((hours) => hours * hour),
];

/** The smallest step of an axis that needs at most so many of them. @param steps ascending */
export function findStep(steps: readonly number[], length: number, most: number): number {
  return steps.find((one) => length <= one * most) ?? length / most;
}

export interface Tick {
  /** Of the width. */
  readonly share: number;
  readonly label: string;
}

/** Vertical lines. */
export function drawTicks(ticks: readonly Tick[], length: number | string, name = 'tick'): Html[] {
  return ticks.map(({ share }) => {
    const x = percent(share);
    return html`<line class="${name}" x1="${x}" x2="${x}" y2="${length}"/>`;
  });
}

/** Labels beyond these shares of the width would leave the chart: on a phone, and on any screen. */
const [lastOnPhone, lastOnAll] = [0.85, 0.95];

/** The labels of ticks; every second one is left out if space is short. */
export function labelTicks(ticks: readonly Tick[], y: number): Html[] {
  return ticks.map(({ share, label }, place) => {
    if (share > lastOnAll) return html``;
    const isSpare = place % 2 === 1 || share > lastOnPhone;
    return html`<text${isSpare ? html` class="spare"` : undefined} x="${percent(share)}" dx="3" y="${y}">${label}</text>`;
  });
}
