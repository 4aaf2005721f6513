import type { KeptValues } from '../booking/kept-values.js';

/** The cells of a table, in the order of the labels. */
export function toKeptRow(labels: readonly string[], kept: KeptValues | undefined): string[] {
  return labels.map((label) => kept?.[label] ?? '-');
}
