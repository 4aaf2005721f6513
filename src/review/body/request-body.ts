import { sliceLines } from '../line-buffer.js';
import type { Slice } from '../step.js';

const head = Buffer.from('{"Hotels":[');
const tail = Buffer.from(']}');
const lineFeed = 0x0a;
const comma = 0x2c;

/**
 * Builds the request body (spec 4.2) of a slice by copying the stored lines of its batch. Line feeds end the items
 * and occur nowhere else, so replacing them by commas makes the lines an array.
 */
export function buildRequestBody(lines: Buffer, slice: Pick<Slice, 'first' | 'bookings'>): Buffer {
  const items = sliceLines(lines, slice);
  const body = Buffer.concat([head, items.subarray(0, -1), tail]);
  for (let at = body.indexOf(lineFeed); at !== -1; at = body.indexOf(lineFeed, at + 1)) body[at] = comma;
  return body;
}
