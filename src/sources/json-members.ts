/** Told of each member of an object: its name, and from where to where (exclusive) its value stands in the text. */
export type TakeMember = (name: string, from: number, to: number) => void;

/**
 * Goes through the members of one JSON object as they are written, not into them, and so tells what `JSON.parse` doesn't:
 * which digits a number has, and that a name stands there twice.
 *
 * @param json an object that `JSON.parse` takes: what is no JSON is not looked for.
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

/** Behind the closing quote: the first one that an even number of backslashes stands before. */
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

function skipSpace(json: string, from: number): number {
  let at = from;
  while (isSpace(json.charCodeAt(at))) at += 1;
  return at;
}

const comma = 0x2c;
const closingBrace = 0x7d;

function endsScalar(code: number): boolean {
  return code === comma || code === closingBrace || isSpace(code);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0d || code === 0x0a;
}
