import type { Slice } from '../step.js';

const head = Buffer.from('{"Hotels":[');
const tail = Buffer.from(']}');
const lineFeed = 0x0a;
const comma = 0x2c;

/**
 * Builds the request body (spec 4.2) of a slice from the stored lines of its batch, by copying: a line feed ends
 * every item and stands nowhere else, so that commas in their places make the lines an array.
 */
export function buildRequestBody(
  lines: Buffer,
  { first, bookings }: Pick<Slice, 'first' | 'bookings'>,
): Buffer {
  const start = skipLines(lines, 0, first);
  const end = skipLines(lines, start, bookings);
  const body = Buffer.concat([head, lines.subarray(start, end - 1), tail]);
  for (let at = body.indexOf(lineFeed); at !== -1; at = body.indexOf(lineFeed, at + 1)) body[at] = comma;
  return body;
}

function skipLines(lines: Buffer, from: number, count: number): number {
  let at = from;
  for (let skipped = 0; skipped < count; skipped += 1) {
    at = lines.indexOf(lineFeed, at) + 1;
    if (at === 0) throw new RangeError('a stored batch has fewer bookings than its step');
  }
  return at;
}
