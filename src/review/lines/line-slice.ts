import type { Slice } from '../step.js';

const lineFeed = 0x0a;

/**
 * The lines of a slice out of those of its stored batch, each with its line end; a view, no copy.
 *
 * @throws RangeError when the batch has fewer lines
 */
export function sliceLines(lines: Buffer, { first, bookings }: Pick<Slice, 'first' | 'bookings'>): Buffer {
  const start = skipLines(lines, 0, first);
  return lines.subarray(start, skipLines(lines, start, bookings));
}

function skipLines(lines: Buffer, from: number, count: number): number {
  let at = from;
  for (let skipped = 0; skipped < count; skipped += 1) {
    at = lines.indexOf(lineFeed, at) + 1;
    if (at === 0) throw new RangeError('a stored batch has fewer bookings than its step');
  }
  return at;
}
