import { scanMembers } from './json-members.js';

/** What stands at a path: the value as it is written, or why there is none. */
export type JsonAtPath =
  | { readonly kind: 'found'; readonly json: string }
  | { readonly kind: 'absent' }
  /** A name on the way stands twice in its object, and JSON leaves open which one counts. */
  | { readonly kind: 'ambiguous' };

/**
 * Finds a value in a JSON text: that of the member of exactly this name or, where there is none and the path has dots, in
 * nested objects: `data.bookings`. The empty path is the whole text.
 *
 * @param json what `JSON.parse` takes, without white space around it
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
