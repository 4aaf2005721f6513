/**
 * Where (exclusive) the value ends that begins at `from`.
 *
 * @param json what `JSON.parse` takes: in what is no JSON no end may be found
 */
export function endOfValue(json: string, from: number): number {
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

/** Of a text that begins at `from`: behind the closing quote: the first one that an even number of backslashes stands before. */
export function endOfText(json: string, from: number): number {
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

/** The first place from `from` on that holds no white space. */
export function skipSpace(json: string, from: number): number {
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
