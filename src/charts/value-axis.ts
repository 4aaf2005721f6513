import { scaleLinear } from 'd3-scale';
import { formatCount, formatDuration } from '../text/format.js';
import { type Html, html } from '../text/html.js';
import { round } from './figure.js';

/** An axis of values, with 0 at the bottom. */
export interface ValueAxis {
  /** In pixels from the top. */
  yOf(value: number): number;
  readonly ticks: readonly { readonly value: number; readonly label: string }[];
}

/** A linear axis of counts up to the largest. */
export function createCountAxis(largest: number, height: number): ValueAxis {
  const scale = scaleLinear()
    .domain([0, Math.max(1, largest)])
    .nice(4)
    .range([height, 0]);
  return {
    yOf: (value) => round(scale(value)),
    ticks: scale
      .ticks(4)
      .filter(Number.isInteger)
      .map((value) => ({ value, label: formatTick(value) })),
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
  const scale = scaleLinear()
    .domain([0, steps * step])
    .range([height, 0]);
  return {
    yOf: (value) => round(scale(value)),
    ticks: Array.from({ length: steps + 1 }, (_, index) => {
      const value = index * step;
      return { value, label: value === 0 ? '0' : formatDuration(value).replace('.0 ', ' ') };
    }),
  };
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
