import { createHash } from 'node:crypto';
import { SourceError, type SourceFault } from '../../review/source.js';
import { listElements } from '../json-elements.js';
import { readJsonPage } from './json-page.js';
import { createLoopWatch } from './loop-watch.js';
import { openPageCalls, type PageCallLimits } from './page-calls.js';
import { createPaging, type HttpPagination } from './pagination.js';

export interface PagesReading {
  /** For messages. */
  readonly place: string;
  /** Where an answer has its records. */
  readonly path: string;
  readonly pagination: HttpPagination;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly limits: PageCallLimits;
  readonly signal: AbortSignal;
}

/**
 * Reads page after page over a connection of its own, each when it is asked for, and hands over each page's array of
 * records as it is written.
 *
 * @throws SourceError where the pages don't lead to their end; the signal's reason when it aborts
 */
export async function* readPages(
  address: URL,
  { place, path, pagination, headers, limits, signal }: PagesReading,
): AsyncGenerator<string, void, undefined> {
  const refuse = (index: number, reason: string, fault: SourceFault = 'unreadable') =>
    new SourceError(fault, `${place}, page ${index + 1}: ${reason}`);
  const paging = createPaging(pagination, address);
  const addresses = createLoopWatch();
  const contents = createLoopWatch();
  const calls = await openPageCalls(address.origin, headers, limits);
  // Also where nobody asks again.
  const letGo = () => void calls.close();
  signal.addEventListener('abort', letGo, { once: true });
  try {
    signal.throwIfAborted();
    let url = paging.first;
    let isDoubtful = false;
    let recordsBefore = 0;
    for (let index = 0; ; index += 1) {
      if (addresses.isRepeat(url.href)) throw refuse(index, 'it was read before: the pages go in a circle');
      const answer = await calls.get(url, signal);
      if (answer.kind === 'failed') {
        if (answer.isMissing && isDoubtful) return;
        throw refuse(index, `the API ${answer.reason}`, answer.fault);
      }
      const page = readJsonPage(answer.body, path);
      if (page.kind === 'unusable') throw refuse(index, `the answer ${page.reason}`, page.fault);
      const records = countElements(page.records);
      if (records > 0 && contents.isRepeat(fingerprint(page.records))) {
        const advice = 'does source.pagination name the right parameters?';
        throw refuse(index, `it holds what a page before it held: ${advice}`);
      }
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
    signal.removeEventListener('abort', letGo);
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
