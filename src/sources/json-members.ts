import { endOfText, endOfValue, skipSpace } from './json-values.js';

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
