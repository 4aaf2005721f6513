import { endOfValue, skipSpace } from './json-values.js';

/**
 * The elements of one JSON array, each as it is written.
 *
 * @param json an array that `JSON.parse` takes
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
