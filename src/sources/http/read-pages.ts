import { createHash } from 'node:crypto';
import { SourceError, type SourceFault } from '../../review/source.js';
import { listElements, readJsonPath } from '../json/json-text.js';
import { openPageCalls, type PageCallLimits } from './page-calls.js';
import { createPaging, type HttpPagination } from './pagination.js';

interface PagesReading {
  /** For messages. */
  readonly place: string;
  /** Where a response holds its records. */
  readonly path: string;
  readonly pagination: HttpPagination;
  /** Alternating names and values. */
  readonly headers: readonly string[];
  readonly limits: PageCallLimits;
  /** More pages than this are an error. */
  readonly maxPages: number;
  readonly signal: AbortSignal;
}

/** An API that filters after paging may return a few. */
const mostEmptyPages = 100;

/**
 * Reads pages on demand over a connection of its own, and yields each page's array of records as written.
 *
 * @throws SourceError if the pages don't reach an end; the signal's reason when it aborts
 */
export async function* readPages(
  address: URL,
  { place, path, pagination, headers, limits, maxPages, signal }: PagesReading,
): AsyncGenerator<string, void, undefined> {
  const refuse = (index: number, reason: string, fault: SourceFault = 'unreadable') =>
    new SourceError(fault, `${place}, page ${index + 1}: ${reason}`);
  const paging = createPaging(pagination, address);
  const isKnownAddress = createRepeatCheck();
  const isKnownContent = createRepeatCheck();
  const calls = await openPageCalls(address.origin, headers, limits);
  // Even if nobody requests the next page.
  const release = () => void calls.close();
  signal.addEventListener('abort', release, { once: true });
  try {
    signal.throwIfAborted();
    let url = paging.first;
    let isDoubtful = false;
    let recordsBefore = 0;
    let emptyPages = 0;
    for (let index = 0; ; index += 1) {
      if (index === maxPages)
        throw refuse(index, `the API returns more than ${maxPages} pages: do they end at all?`);
      if (isKnownAddress(url.href)) throw refuse(index, 'it was read before: the pages form a loop');
      const answer = await calls.get(url, signal);
      if (answer.kind === 'failed') {
        if (answer.isMissing && isDoubtful) return;
        throw refuse(index, `the API ${answer.reason}`, answer.fault);
      }
      const page = readJsonPage(answer.body, path);
      if (page.kind === 'unusable') throw refuse(index, `the answer ${page.reason}`, page.fault);
      const records = countElements(page.records);
      if (records > 0 && isKnownContent(fingerprint(page.records))) {
        const advice = 'does source.pagination name the right parameters?';
        throw refuse(index, `it repeats an earlier page: ${advice}`);
      }
      emptyPages = records > 0 ? 0 : emptyPages + 1;
      if (emptyPages > mostEmptyPages)
        throw refuse(index, `${emptyPages} pages in a row without a record: do the pages end at all?`);
      yield page.records;
      signal.throwIfAborted();
      const next = paging.next({ url, records, recordsBefore, index, json: page.json, link: answer.link });
      switch (next.kind) {
        case 'end':
          return;
        case 'refused':
          throw refuse(index, next.reason);
        case 'page':
          recordsBefore += records;
          ({ url, isDoubtful } = next);
      }
    }
  } finally {
    signal.removeEventListener('abort', release);
    await calls.close();
  }
}

function countElements(array: string): number {
  let count = 0;
  for (const _ of listElements(array)) count += 1;
  return count;
}

function fingerprint(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

type JsonPage =
  | {
      readonly kind: 'page';
      /** The whole response. */
      readonly json: string;
      /** Its array of records. */
      readonly records: string;
    }
  | { readonly kind: 'unusable'; readonly fault: 'binary' | 'unreadable'; readonly reason: string };

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Finds the records in a response. A response without them is not an empty page: it could be anything.
 *
 * @param path of the array, such as `data.bookings`; empty for the response itself
 */
function readJsonPage(body: Uint8Array, path: string): JsonPage {
  const json = decode(body)?.trim();
  if (json === undefined) return { kind: 'unusable', fault: 'binary', reason: 'is not UTF-8 text' };
  if (!isJson(json)) return unusable('is not JSON, or incomplete');
  const found = readJsonPath(json, path);
  const records = path === '' ? 'the answer' : JSON.stringify(path);
  switch (found.kind) {
    case 'absent':
      return unusable(`has no ${records}: does source.records name the list of the bookings?`);
    case 'ambiguous':
      return unusable(`has ${records} twice`);
    case 'found':
      if (found.json.startsWith('[')) return { kind: 'page', json, records: found.json };
      return unusable(`has no list at ${records}: does source.records name the list of the bookings?`);
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

/** The parser's error quotes the text, and so a guest. It is dropped. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Tells whether a value repeats an earlier one of its sequence. It keeps two values only, as a day may have any number of
 * pages: the last one, and one that is kept twice as long each time (Brent's algorithm). A loop of one page is found at
 * once, any other within three rounds.
 */
function createRepeatCheck(): (value: string) => boolean {
  let last: string | undefined;
  let kept: string | undefined;
  let seen = 0;
  let keepAt = 1;
  return (value) => {
    if (value === last || value === kept) return true;
    last = value;
    seen += 1;
    if (seen === keepAt) {
      kept = value;
      keepAt *= 2;
    }
    return false;
  };
}
