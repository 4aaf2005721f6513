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
