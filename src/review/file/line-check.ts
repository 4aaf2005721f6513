import type { CellCheck, CellFault } from './cell-check.js';

export type LineFaultCode =
  | CellFault
  | 'not-utf8'
  | 'control-character'
  | 'malformed-quotes'
  | 'wrong-cell-count';

export interface LineFault {
  readonly code: LineFaultCode;
  /** Counted from 0; of the whole line where there is none. */
  readonly column?: number;
}

const comma = 0x2c;
const quote = 0x22;

/** What a byte may mean on the way through a cell. */
const plain = 0;
const special = 1;
const control = 2;
const beyondAscii = 3;
const meanings = Uint8Array.from({ length: 0x100 }, (_, byte) => {
  if (byte < 0x20 || byte === 0x7f) return control;
  if (byte >= 0x80) return beyondAscii;
  return byte === comma || byte === quote ? special : plain;
});

/** No place in a line, but the reason why there is none. */
const malformed = -1;
const controlFound = -2;
const notUtf8 = -3;

/**
 * The first fault of a line, whose line end stands at `end`: as many cells as there are checks; a cell in quotes only as a
 * whole, quotes inside doubled (RFC 4180); UTF-8 without control characters or line separators; each content as its
 * check will have it.
 */
export function findLineFault(
  bytes: Buffer,
  start: number,
  end: number,
  checks: readonly CellCheck[],
): LineFault | undefined {
  let at = start;
  for (let column = 0; column < checks.length; column += 1) {
    const isQuoted = bytes[at] === quote;
    const from = isQuoted ? at + 1 : at;
    const to = isQuoted ? findClosingQuote(bytes, from, end) : findBareEnd(bytes, from, end);
    if (to < 0) return { code: nameFault(to), column };
    at = isQuoted ? to + 1 : to;
    const isLast = column === checks.length - 1;
    if (at === end ? !isLast : isLast && bytes[at] === comma) return { code: 'wrong-cell-count' };
    if (at < end && bytes[at] !== comma) return { code: 'malformed-quotes', column };
    const fault = checks[column]?.(bytes, from, to);
    if (fault) return { code: fault, column };
    at += 1;
  }
  return undefined;
}

function findBareEnd(bytes: Buffer, from: number, end: number): number {
  for (let at = from; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    const meaning = meanings[byte];
    if (meaning === plain) continue;
    if (meaning === special) return byte === comma ? at : malformed;
    at = passCharacter(bytes, at);
    if (at < 0) return at;
  }
  return end;
}

function findClosingQuote(bytes: Buffer, from: number, end: number): number {
  for (let at = from; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    const meaning = meanings[byte];
    if (meaning === plain || byte === comma) continue;
    if (meaning !== special) {
      at = passCharacter(bytes, at);
      if (at < 0) return at;
    } else if (bytes[at + 1] === quote) at += 1;
    else return at;
  }
  return malformed;
}

/** The place of the last byte of a character, given its first; negative when it can't stand in the file. */
function passCharacter(bytes: Buffer, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return controlFound;
  const length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (first < 0xc2 || first > 0xf4) return notUtf8;
  let point = first & (0x7f >> length);
  for (let behind = 1; behind < length; behind += 1) {
    const byte = bytes[at + behind] ?? 0;
    if ((byte & 0xc0) !== 0x80) return notUtf8;
    point = (point << 6) | (byte & 0x3f);
  }
  const isOverlong = (length === 3 && point < 0x800) || (length === 4 && point < 0x10000);
  if (isOverlong || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return notUtf8;
  return point < 0xa0 || point === 0x2028 || point === 0x2029 ? controlFound : at + length - 1;
}

function nameFault(reason: number): LineFaultCode {
  switch (reason) {
    case controlFound:
      return 'control-character';
    case notUtf8:
      return 'not-utf8';
    default:
      return 'malformed-quotes';
  }
}
