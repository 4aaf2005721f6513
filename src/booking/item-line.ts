import { masterIdField, textFields } from './booking.js';
import { copyTo } from './render-line.js';
import { comma, findCellEndAt, isDate, lineFeed, quote, readCellAt } from './stored-line.js';

/** Changes with the bytes that are sent for a stored booking; the ledger keeps it for each run. */
export const rendererVersion = 1;

const dash = 0x2d;
const closing = 0x7d;
const backslash = 0x5c;
const space = 0x20;

/** By byte: 1 for what a cell and a JSON string hold as it is; a comma only in a quoted cell. */
const plainBytes = Uint8Array.from({ length: 0x100 }, (_, byte) =>
  byte < space || byte === comma || byte === quote || byte === backslash ? 0 : 1,
);
const quotedBytes = plainBytes.map((isPlain, byte) => (byte === comma ? 1 : isPlain));

/** Written before the text of each field. */
const beforeTexts = textFields.map(({ name }) => Buffer.from(`,"${name}":"`));
/** Of a date, DDMMYYYY. */
const dateLength = 8;
/** What a line's item has more than the line, if no byte is escaped: of a date, two dashes. */
const mostAdded = beforeTexts.reduce((sum, before) => sum + before.length + '--"'.length, '},'.length);
/** The most that escaping makes of a byte: a cell holds no control characters. */
const longestEscape = 2;
const isControl = /\p{Cc}/u;

/**
 * Renders stored lines, each with its line end, as elements of `Hotels` (spec 2.5) with commas between them: what JSON.stringify
 * writes, compact, without missing fields. It reads bytes and writes bytes: building the bookings would take several times as long.
 *
 * @throws RangeError for anything but stored lines; the message contains no cell
 */
export function renderItems(
  lines: Buffer,
  bookings: number,
  masterIdName: string = masterIdField.name,
): Buffer {
  const beginning = Buffer.from(`{${JSON.stringify(masterIdName)}:`);
  const target = Buffer.allocUnsafe(longestEscape * lines.length + bookings * (beginning.length + mostAdded));
  let to = 0;
  for (let at = 0; at < lines.length; at = stopped + 1) {
    const digits = copyTo(target, to, beginning);
    to = copyPlain(lines, at, plainBytes, target, digits);
    if (to === digits) throw new RangeError('a stored line does not begin with the master id');
    to = renderFields(lines, target, to);
    if (lines[stopped] !== lineFeed) throw new RangeError('a stored line has too many cells');
    target[to] = closing;
    target[to + 1] = comma;
    to += 2;
  }
  return target.subarray(0, Math.max(0, to - 1));
}

/** Where the last cell that was read ended. Returning it in an object would cost more than reading the cell. */
let stopped = 0;

/** Renders the cells from the comma at `stopped` on. Returns the end of what was written. */
function renderFields(lines: Buffer, target: Buffer, start: number): number {
  let to = start;
  for (let field = 0; field < beforeTexts.length; field += 1) {
    if (lines[stopped] !== comma) throw new RangeError('a stored line lacks cells');
    stopped += 1;
    if (isCellEnd(lines[stopped])) continue;
    to = copyTo(target, to, beforeTexts[field] ?? lines);
    to = isDate[field] ? renderDate(lines, target, to) : renderText(lines, target, to);
    target[to] = quote;
    to += 1;
  }
  return to;
}

function renderText(lines: Buffer, target: Buffer, start: number): number {
  const at = stopped;
  const isQuoted = lines[at] === quote;
  const end = copyPlain(lines, isQuoted ? at + 1 : at, isQuoted ? quotedBytes : plainBytes, target, start);
  if (isQuoted && lines[stopped] === quote) stopped += 1;
  else if (isQuoted) return renderEscaped(lines, at, target, start);
  return isCellEnd(lines[stopped]) ? end : renderEscaped(lines, at, target, start);
}

function renderEscaped(lines: Buffer, at: number, target: Buffer, start: number): number {
  stopped = findCellEndAt(lines, at);
  const text = readCellAt(lines, at, stopped);
  if (isControl.test(text)) throw new RangeError('a stored line holds a control character');
  return start + target.write(JSON.stringify(text).slice(1, -1), start);
}

/** From DDMMYYYY to YYYY-MM-DD. */
function renderDate(lines: Buffer, target: Buffer, start: number): number {
  const at = stopped;
  stopped += dateLength;
  if (!isCellEnd(lines[stopped])) throw new RangeError('a stored line holds another date');
  for (let index = 0; index < 4; index += 1) target[start + index] = lines[at + 4 + index] ?? 0;
  target[start + 4] = dash;
  target[start + 5] = lines[at + 2] ?? 0;
  target[start + 6] = lines[at + 3] ?? 0;
  target[start + 7] = dash;
  target[start + 8] = lines[at] ?? 0;
  target[start + 9] = lines[at + 1] ?? 0;
  return start + 10;
}

function isCellEnd(byte: number | undefined): boolean {
  return byte === comma || byte === lineFeed;
}

/** Copies bytes up to one that is not plain, where it stops. Returns the end of the copy. */
function copyPlain(source: Buffer, from: number, plain: Uint8Array, target: Buffer, start: number): number {
  let at = from;
  let to = start;
  for (let byte = source[at] ?? 0; plain[byte] === 1; byte = source[at] ?? 0) {
    target[to] = byte;
    to += 1;
    at += 1;
  }
  stopped = at;
  return to;
}
