import { buildRecord } from '../../booking/booking.js';
import { isRounded } from '../../booking/field-text.js';
import type { SourceColumns, SourceNotice, SourceRecord } from '../../booking/source.js';
import { describeNames, listFieldColumns, requireColumns } from '../common/columns.js';

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
 * Yields the elements of a JSON array, each as written.
 *
 * @param json a valid JSON array
 */
export function* listElements(json: string): Generator<string, void, undefined> {
  let at = skipSpace(json, json.indexOf('[') + 1);
  while (json[at] !== ']') {
    const end = endOfValue(json, at);
    yield json.slice(at, end);
    at = skipSpace(json, end);
    if (json[at] === ',') at = skipSpace(json, at + 1);
  }
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
  if (own.kind !== 'absent' || !path.includes('.')) return own;
  let value: JsonAtPath = { kind: 'found', json };
  for (const name of path.split('.')) {
    if (value.kind !== 'found') return value;
    value = findMember(value.json, name);
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

/** Picks a booking's fields out of JSON objects. */
export interface MemberPicker {
  /** @param json should be one JSON object */
  pick(place: number, json: string): SourceRecord;
  /** The extra columns that no object has had so far; none before the first object. */
  findAbsent(): readonly SourceNotice[];
  /** @param location of all objects, for messages @throws SourceError `missing-member` for a field that no object had */
  requireFields(location: string): void;
}

/** Instead of an offset: the current object has no such member. */
const absent = -1;
const malformed = Symbol('malformed');

/**
 * A field is the member with exactly that name. If there is none and the name has dots, it is a path into nested objects:
 * `guest.name`. A needed name that occurs twice in one object is a fault, as JSON doesn't define which one counts. A number
 * that JavaScript can't represent is NaN, and a field's whole number that was rounded, such as 1.23457E+11, is text.
 */
export function createMemberPicker(
  columns: SourceColumns,
  {
    filterColumns = [],
    extraColumns = [],
  }: {
    readonly filterColumns?: readonly string[] | undefined;
    readonly extraColumns?: readonly string[] | undefined;
  } = {},
): MemberPicker {
  const fieldColumns = listFieldColumns(columns);
  const names = [...fieldColumns.map((one) => one?.column), ...filterColumns, ...extraColumns];
  const firstExtra = fieldColumns.length + filterColumns.length;
  const paths = names.map((name = '') => name.split('.'));
  const needed = [
    ...new Set([...names.filter((name) => name !== undefined), ...paths.flatMap(([first]) => first ?? [])]),
  ];
  const slots = new Map(needed.map((name, slot) => [name, slot]));
  /** The positions of the needed members' values in the text of the current object. */
  const starts = needed.map(() => absent);
  const ends = needed.map(() => absent);
  const wasFound = names.map(() => false);
  /** The members of the first object. */
  let firstNames: readonly string[] | undefined;
  let isAmbiguous = false;

  function note(name: string, from: number, to: number): void {
    const slot = slots.get(name);
    if (slot === undefined) return;
    if (starts[slot] !== absent) isAmbiguous = true;
    starts[slot] = from;
    ends[slot] = to;
  }

  /** The value as written. */
  function findWritten(json: string, name: string): string | undefined {
    const slot = slots.get(name) ?? absent;
    const start = starts[slot] ?? absent;
    return start === absent ? undefined : json.slice(start, ends[slot]);
  }

  function findNested(json: string, [first = '', ...steps]: readonly string[]): string | undefined {
    let value = steps.length === 0 ? undefined : findWritten(json, first);
    for (const step of steps) {
      const object = value;
      value = undefined;
      if (!object?.startsWith('{')) return undefined;
      scanMembers(object, (name, from, to) => {
        if (name !== step) return;
        if (value !== undefined) isAmbiguous = true;
        value = object.slice(from, to);
      });
    }
    return value;
  }

  function read(index: number, json: string, members: Readonly<Record<string, unknown>>): unknown {
    const name = names[index];
    if (name === undefined) return undefined;
    let value = members[name];
    let written: string | undefined;
    if (!Object.hasOwn(members, name)) {
      written = findNested(json, paths[index] ?? []);
      if (written === undefined) return undefined;
      value = JSON.parse(written);
    }
    wasFound[index] = true;
    if (typeof value !== 'number') return value;
    written ??= findWritten(json, name) ?? '';
    const wasInteger = index < fieldColumns.length && Number.isSafeInteger(value);
    return wasInteger && isRounded(written) ? written : readExactNumber(written);
  }

  return {
    pick(place, json) {
      const members = parse(json);
      if (members === malformed) return { place, unreadable: 'malformed-json' };
      if (!isObject(members)) return { place, unreadable: 'not-an-object' };
      firstNames ??= Object.keys(members);
      isAmbiguous = false;
      starts.fill(absent);
      scanMembers(json, note);
      const fields = buildRecord((field) => read(field, json, members));
      const filterValues =
        filterColumns.length > 0
          ? filterColumns.map((_, index) => read(fieldColumns.length + index, json, members))
          : undefined;
      const extraValues =
        extraColumns.length > 0
          ? extraColumns.map((_, index) => read(firstExtra + index, json, members))
          : undefined;
      if (isAmbiguous) return { place, unreadable: 'duplicate-member' };
      if (!filterValues && !extraValues) return { place, fields, whole: members };
      return {
        place,
        fields,
        whole: members,
        ...(filterValues && { filterValues }),
        ...(extraValues && { extraValues }),
      };
    },
    findAbsent() {
      return extraColumns.flatMap((column, index) =>
        firstNames !== undefined && !wasFound[firstExtra + index]
          ? [{ kind: 'absent-column', column } as const]
          : [],
      );
    },
    requireFields(location) {
      if (firstNames === undefined) return;
      const first = describeNames(firstNames);
      requireColumns(fieldColumns, {
        fault: 'missing-member',
        isThere: (index) => wasFound[index] ?? false,
        describe: (shown) => `no record of ${location} has the member ${shown}; the first one has ${first}`,
      });
    },
  };
}

/** The parser's error quotes the text, and so a guest. It is dropped. */
function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return malformed;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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
