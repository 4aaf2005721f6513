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
