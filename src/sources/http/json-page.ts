import { readJsonPath } from '../json-path.js';

export type JsonPage =
  | {
      readonly kind: 'page';
      /** The whole answer. */
      readonly json: string;
      /** Its array of records. */
      readonly records: string;
    }
  | { readonly kind: 'unusable'; readonly fault: 'binary' | 'unreadable'; readonly reason: string };

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Finds the records of an answer. An answer without them is no empty page: it might be anybody's.
 *
 * @param path of the array, `data.bookings`; empty for the answer itself
 */
export function readJsonPage(body: Uint8Array, path: string): JsonPage {
  const json = decode(body)?.trim();
  if (json === undefined) return { kind: 'unusable', fault: 'binary', reason: 'is no UTF-8 text' };
  if (!isJson(json)) return unusable('is no JSON, or not whole');
  const found = readJsonPath(json, path);
  const records = path === '' ? 'the answer' : JSON.stringify(path);
  switch (found.kind) {
    case 'absent':
      return unusable(`has no ${records}: does source.records name the list of the bookings?`);
    case 'ambiguous':
      return unusable(`has ${records} twice`);
    case 'found':
      if (found.json.startsWith('[')) return { kind: 'page', json, records: found.json };
      return unusable(`has no list at ${records}: does source.records name that of the bookings?`);
  }
}

function unusable(reason: string): JsonPage {
  return { kind: 'unusable', fault: 'unreadable', reason };
}

function decode(body: Uint8Array): string | undefined {
  try {
    return utf8.decode(body);
  } catch {
    return undefined;
  }
}

/** The parser's own error quotes the text, and so a guest: it is not kept. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
