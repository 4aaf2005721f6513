import type { Comparison, Reach } from '../comparison.js';
import type { SideSummary } from './judge.js';
import type { Row } from './results.js';

export const head = ['work', 'against', 'ours', 'the other', 'ratio', 'target', 'met', 'peak, MB', 'CPU, s'];

const none = '–';

/** A comparison as a row of the table: medians with ranges; peak memory and CPU seconds, ours before the other's. */
export function listCells(row: Row): readonly string[] {
  const { ours, other, ratio, unit } = row;
  return [
    row.work,
    row.against,
    showSide(ours, unit),
    other ? showMedian(other) : none,
    ratio === undefined ? none : ratio.toFixed(3),
    showReach(row.reach),
    row.isReached === undefined ? none : row.isReached ? 'yes' : '**no**',
    showPair(ours.peakMb, other?.peakMb, (megabytes) => megabytes.toFixed(0)),
    showPair(ours.cpuSeconds, other?.cpuSeconds, showNumber),
  ];
}

export function showFigure(value: number, unit: Comparison['unit']): string {
  return `${showNumber(value)} ${unit}`;
}

/** `3.61 s (3.52–3.80)` */
function showSide({ median, min, max }: SideSummary, unit: Comparison['unit']): string {
  return `${showFigure(median, unit)} (${showNumber(min)}–${showNumber(max)})`;
}

/** `3.61 (3.52–3.80)`, in the unit of the previous cell. */
function showMedian({ median, min, max }: SideSummary): string {
  return `${showNumber(median)} (${showNumber(min)}–${showNumber(max)})`;
}

export function showReach({ ratio, ours }: Reach): string {
  const asked: string[] = [];
  if (ratio) asked.push('atMost' in ratio ? `≤ ${ratio.atMost}` : `≥ ${ratio.atLeast}`);
  if (ours) asked.push(`ours ≤ ${ours.atMost} ${ours.unit}`);
  return asked.join(', ') || none;
}

function showPair(
  ours: number | undefined,
  other: number | undefined,
  show: (value: number) => string,
): string {
  if (ours === undefined && other === undefined) return none;
  return [ours, other].map((value) => (value === undefined ? none : show(value))).join('/');
}

/** About three digits: more would be noise. */
function showNumber(value: number): string {
  if (value >= 1_000) return Math.round(value).toLocaleString('en-GB');
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2);
}
