import { sliceLines } from '../lines/line-buffer.js';
import type { Slice } from '../step.js';

const head = Buffer.from('{"Hotels":[');
const tail = Buffer.from(']}');
const lineFeed = 0x0a;
const comma = 0x2c;

/**
 * Builds the request body (spec 4.2) of a slice from the stored lines of its batch, by copying: a line feed ends
 * every item and stands nowhere else, so that commas in their places make the lines an array.
 */
export function buildRequestBody(lines: Buffer, slice: Pick<Slice, 'first' | 'bookings'>): Buffer {
  const items = sliceLines(lines, slice);
  const body = Buffer.concat([head, items.subarray(0, -1), tail]);
  for (let at = body.indexOf(lineFeed); at !== -1; at = body.indexOf(lineFeed, at + 1)) body[at] = comma;
  return body;
}
