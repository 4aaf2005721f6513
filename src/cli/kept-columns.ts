import type { KeptValues } from '../booking/kept-values.js';
import { UsageError } from '../review/refusals.js';
import type { ShownKept } from '../review/verdicts/kept-order.js';

/**
 * Reads `--sort Price` or `--sort -Price`.
 *
 * @throws UsageError unless that is a kept column
 */
export function readShownKept(keep: Readonly<Record<string, string>>, sort: string | undefined): ShownKept {
  const labels = Object.keys(keep);
  if (sort === undefined) return { labels };
  const isDescending = sort.startsWith('-');
  const label = isDescending ? sort.slice(1) : sort;
  if (labels.includes(label)) return { labels, order: { label, isDescending } };
  throw new UsageError(
    labels.length === 0
      ? '--sort needs a column of source.keep, and none is configured'
      : `--sort: expected a column of source.keep (${labels.join(', ')}), got: ${sort}`,
  );
}

/** The cells of a table, in the order of the labels. */
export function toKeptRow(labels: readonly string[], kept: KeptValues | undefined): string[] {
  return labels.map((label) => kept?.[label] ?? '-');
}
