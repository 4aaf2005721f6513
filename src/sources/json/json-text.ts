import { isRounded } from '../../booking/field-text.js';
import type { SourceRecord } from '../../booking/source.js';
import type { WantedColumns } from '../common/columns.js';
import { absent, createMemberPicker, isObject } from '../common/member-picker.js';

/**
 * Returns the end (exclusive) of the value that begins at `from`.
 *
 * @param json valid JSON: in anything else the search may not terminate
 */
function endOfValue(json: string, from: number): number {
  switch (json[from]) {
    case '"':
      return endOfText(json, from);
    case '{':
    case '[':
      return endOfNest(json, from);
    default: {
      let at = from;
      while (!endsScalar(json.charCodeAt(at))) at += 1;
      return at;
    }
  }
}

/** Returns the end (exclusive) of the string that begins at `from`. Its closing quote follows an even number of backslashes. */
function endOfText(json: string, from: number): number {
  for (let quote = json.indexOf('"', from + 1); ; quote = json.indexOf('"', quote + 1)) {
    let before = quote - 1;
    while (json[before] === '\\') before -= 1;
    if ((quote - before) % 2 === 1) return quote + 1;
  }
}

function endOfNest(json: string, from: number): number {
  let depth = 0;
  for (let at = from; ; ) {
    switch (json[at]) {
      case '"':
        at = endOfText(json, at);
        continue;
      case '{':
      case '[':
        depth += 1;
        break;
      case '}':
      case ']':
        depth -= 1;
        break;
    }
    at += 1;
    if (depth === 0) return at;
  }
}

/** Returns the first position at or after `from` that is not white space. */
function skipSpace(json: string, from: number): number {
  let at = from;
  while (isSpace(json.charCodeAt(at))) at += 1;
  return at;
}

const comma = 0x2c;
const closingBrace = 0x7d;
const closingBracket = 0x5d;

function endsScalar(code: number): boolean {
  return code === comma || code === closingBrace || code === closingBracket || isSpace(code);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0d || code === 0x0a;
}

/**
 * Returns the elements of a JSON array, each as written.
 *
 * @param json a valid JSON array
 */
export function listElements(json: string): string[] {
  const elements: string[] = [];
  let at = skipSpace(json, json.indexOf('[') + 1);
  while (json[at] !== ']') {
    const end = endOfValue(json, at);
    elements.push(json.slice(at, end));
    at = skipSpace(json, end);
    if (json[at] === ',') at = skipSpace(json, at + 1);
  }
  return elements;
}

/** Called for each member of an object with its name, and the start and end (exclusive) of its value in the text. */
type TakeMember = (name: string, from: number, to: number) => void;

/**
 * Scans the members of one JSON object as written, without descending into them. This shows what `JSON.parse` hides: all
 * digits of a number, and duplicate names.
 *
 * @param json a valid JSON object; it is not validated here
 */
export function scanMembers(json: string, take: TakeMember): void {
  let at = json.indexOf('"');
  while (at !== -1) {
    const nameEnd = endOfText(json, at);
    const name = readName(json, at, nameEnd);
    const from = skipSpace(json, json.indexOf(':', nameEnd) + 1);
    const to = endOfValue(json, from);
    take(name, from, to);
    at = json.indexOf('"', to);
  }
}

function readName(json: string, from: number, to: number): string {
  const name = json.slice(from + 1, to - 1);
  return name.includes('\\') ? String(JSON.parse(`"${name}"`)) : name;
}

/** The value at a path as written, or why there is none. */
type JsonAtPath =
  | { readonly kind: 'found'; readonly json: string }
  | { readonly kind: 'absent' }
  /** A name on the path occurs twice in its object, and JSON doesn't define which one counts. */
  | { readonly kind: 'ambiguous' };

/**
 * Finds a value in JSON text: the member with exactly this name or, if there is none and the path has dots, a member of a
 * nested object (`data.bookings`). The empty path is the whole text.
 *
 * @param json valid JSON without surrounding white space
 */
export function readJsonPath(json: string, path: string): JsonAtPath {
  if (path === '') return { kind: 'found', json };
  const own = findMember(json, path);
  return own.kind === 'absent' ? followPath(json, path.split('.')) : own;
}

function followPath(json: string, names: readonly string[]): JsonAtPath {
  let value: JsonAtPath = { kind: 'found', json };
  for (const name of names) {
    value = findMember(value.json, name);
    if (value.kind !== 'found') return value;
  }
  return value;
}

function findMember(json: string, wanted: string): JsonAtPath {
  if (!json.startsWith('{')) return { kind: 'absent' };
  const found: string[] = [];
  scanMembers(json, (name, from, to) => {
    if (name === wanted) found.push(json.slice(from, to));
  });
  const [value] = found;
  if (value === undefined) return { kind: 'absent' };
  return found.length > 1 ? { kind: 'ambiguous' } : { kind: 'found', json: value };
}

export type JsonPicker = ReturnType<typeof createJsonPicker>;

/** Instead of an offset: the current object has no such member. */
const nowhere = -1;

/**
 * Picks what is asked for out of JSON objects. A field is the member with exactly that name. If there is none and the name has
 * dots, it is a path into nested objects: `guest.name`. A needed name that occurs twice in one object is a fault, as JSON doesn't
 * define which one counts. A number that JavaScript can't represent is NaN, and a field's whole number that was rounded, such as
 * 1.23457E+11, is text.
 */
export function createJsonPicker(wanted: WantedColumns) {
  const { names, fieldCount, pick, findAbsent, requireFields } = createMemberPicker(wanted, read);
  const paths = names.map((name = '') => name.split('.'));
  const needed = names.flatMap((name, index) => (name === undefined ? [] : [name, paths[index]?.[0] ?? '']));
  const slots = new Map([...new Set(needed)].map((name, slot) => [name, slot]));
  /** The current object, as written and as parsed. */
  let text = '';
  let members: Readonly<Record<string, unknown>> = {};
  /** The positions of the needed members' values in the text. */
  const starts = Array.from(slots, () => nowhere);
  const ends = Array.from(slots, () => nowhere);
  let isAmbiguous = false;

  function note(name: string, from: number, to: number): void {
    const slot = slots.get(name);
    if (slot === undefined) return;
    if (starts[slot] !== nowhere) isAmbiguous = true;
    starts[slot] = from;
    ends[slot] = to;
  }

  /** The value as written. */
  function findWritten(name: string): string | undefined {
    const slot = slots.get(name) ?? nowhere;
    const start = starts[slot] ?? nowhere;
    return start === nowhere ? undefined : text.slice(start, ends[slot]);
  }

  function findNested([first = '', ...steps]: readonly string[]): string | undefined {
    const outer = steps.length === 0 ? undefined : findWritten(first);
    if (outer === undefined) return undefined;
    const found = followPath(outer, steps);
    if (found.kind === 'ambiguous') isAmbiguous = true;
    return found.kind === 'found' ? found.json : undefined;
  }

  function read(name: string, index: number): unknown {
    let value = members[name];
    let written: string | undefined;
    if (!Object.hasOwn(members, name)) {
      written = findNested(paths[index] ?? []);
      if (written === undefined) return absent;
      value = JSON.parse(written);
    }
    if (typeof value !== 'number') return value;
    written ??= findWritten(name) ?? '';
    const wasInteger = index < fieldCount && Number.isSafeInteger(value);
    return wasInteger && isRounded(written) ? written : readExactNumber(written);
  }

  return {
    /** @param json should be one JSON object */
    pick(place: number, json: string): SourceRecord {
      const value = parseJson(json);
      if (value === undefined) return { place, unreadable: 'malformed-json' };
      if (!isObject(value)) return { place, unreadable: 'not-an-object' };
      text = json;
      members = value;
      isAmbiguous = false;
      starts.fill(nowhere);
      scanMembers(json, note);
      const record = pick(place, value);
      return isAmbiguous ? { place, unreadable: 'duplicate-member' } : record;
    },
    findAbsent,
    requireFields,
  };
}

/** Undefined if it is not JSON: the parser's error quotes the text, and so a guest, and is dropped. */
export function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

const integer = /^-?\d+$/;
const decimal = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * Parses a JSON number; NaN if JavaScript would round it: 1.00000000000000001 must not become hotel 1. A whole number that
 * is too large is returned rounded: it is not a safe integer, which callers have to check anyway.
 *
 * @param written a valid JSON number
 */
export function readExactNumber(written: string): number {
  const value = Number(written);
  if (integer.test(written)) return value;
  return reduce(written) === reduce(String(value)) ? value : Number.NaN;
}

/** Normalises the notation: 1.50, 15e-1 and 1.5 all become 15e-1. */
function reduce(written: string): string | undefined {
  const [, sign, whole, fraction = '', exponent = '0'] = decimal.exec(written) ?? [];
  if (whole === undefined) return undefined;
  const digits = `${whole}${fraction}`;
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  const figures = digits.slice(0, end).replace(/^0+/, '');
  return figures === ''
    ? '0'
    : `${sign}${figures}e${Number(exponent) - fraction.length + digits.length - end}`;
}
