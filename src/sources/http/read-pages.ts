import { createHash } from 'node:crypto';
import { pause } from '../../base/abort.js';
import { formatDuration } from '../../base/format.js';
import { createRetryDelays, type RetryPolicy } from '../../base/retry.js';
import { SourceError, type SourceFault } from '../../booking/source.js';
import type { ProxyRules } from '../../transports/http/connection-rules.js';
import type { PeerClock } from '../../transports/http/peer-clocks.js';
import {
  type HttpAnswer,
  type HttpResult,
  readRetryAfter,
  type Transport,
} from '../../transports/http/transport.js';
import { listElements, readJsonPath } from '../json/json-text.js';
import type { HttpPagination } from './kind.js';
import { createPaging, PageFault } from './pagination.js';

export interface PageReading extends PageCalls {
  /** For messages. */
  readonly location: string;
  /** Where a response holds its records. */
  readonly path: string;
  readonly pagination: HttpPagination;
  readonly maxPageBytes: number;
  /** More pages than this are an error. */
  readonly maxPages: number;
  /** Alternating names and values. */
  readonly headers: readonly string[];
  readonly signal: AbortSignal;
}

/** How to call the API. */
export interface PageCalls {
  readonly proxy?: ProxyRules | undefined;
  readonly peerClock?: PeerClock | undefined;
  /** For a whole request. */
  readonly timeoutMs: number;
  readonly retry: RetryPolicy;
  readonly clock: () => Date;
  /** Uniform in [0, 1): spreads the waits between tries. */
  readonly random: () => number;
  /** Is told of waits that are worth a message; the API may request a long one. */
  readonly say?: (text: string) => void;
}

/** Part of the time for a whole request. */
const connectTimeoutMs = 10_000;
/** An API that filters after paging may return a few. */
const mostEmptyPages = 100;

/**
 * Reads pages on demand over a connection of its own, and yields each page's records, each as written.
 *
 * @throws SourceError if the pages don't reach an end; the signal's reason when it aborts
 */
export async function* readPages(
  address: URL,
  reading: PageReading,
): AsyncGenerator<readonly string[], void, undefined> {
  const { location, path, pagination, maxPageBytes, maxPages, signal, timeoutMs, proxy, peerClock } = reading;
  const paging = createPaging(pagination, address);
  // Sources that read files don't need it.
  const { createTransport } = await import('../../transports/http/transport.js');
  const transport = createTransport({
    origin: address.origin,
    connections: 1,
    timeoutMs,
    connectTimeoutMs,
    maxAnswerBytes: maxPageBytes,
    proxy,
    peerClock,
  });
  // Even if nobody requests the next page.
  const release = () => void transport.close();
  signal.addEventListener('abort', release, { once: true });
  /** The addresses, and digests of the lists that are not empty. */
  const seen = new Set<string>();
  const isNew = (text: string) => seen.size < seen.add(text).size;
  let index = 0;
  try {
    signal.throwIfAborted();
    let recordsBefore = 0;
    let emptyPages = 0;
    for (let url = paging.first; ; index += 1) {
      if (index === maxPages)
        throw new PageFault(`the API returns more than ${maxPages} pages: do they end at all?`);
      if (!isNew(url.href)) throw new PageFault('it was read before: the pages form a loop');
      const { body, link } = await getPage(transport, url, reading);
      const { json, list } = findList(body, path);
      const elements = listElements(list);
      const records = elements.length;
      if (records > 0 && !isNew(createHash('sha256').update(list).digest('base64')))
        throw new PageFault('it repeats an earlier page: does source.pagination name the right parameters?');
      emptyPages = records > 0 ? 0 : emptyPages + 1;
      if (emptyPages > mostEmptyPages)
        throw new PageFault(`${emptyPages} pages in a row without a record: do the pages end at all?`);
      yield elements;
      signal.throwIfAborted();
      const next = paging.next({ url, records, recordsBefore, index, json, link });
      if (next === undefined) return;
      recordsBefore += records;
      url = next;
    }
  } catch (error) {
    if (!(error instanceof PageFault)) throw error;
    const { fault, message, peer } = error;
    throw new SourceError(fault, `${location}, page ${index + 1}: ${message}`, { peer });
  } finally {
    signal.removeEventListener('abort', release);
    await transport.close();
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Finds the records in a response. A response without them is not an empty page: it could be anything.
 *
 * @param path of the array, such as `data.bookings`; empty for the response itself
 * @throws PageFault
 */
function findList(body: Uint8Array, path: string): { readonly json: string; readonly list: string } {
  const json = attempt(() => utf8.decode(body).trim());
  if (json === undefined) throw new PageFault('the answer is not UTF-8 text', 'binary');
  // The parser's error quotes the text, and so a guest. It is dropped.
  if (attempt(() => JSON.parse(json)) === undefined)
    throw new PageFault('the answer is not JSON, or incomplete');
  const found = readJsonPath(json, path);
  const records = path === '' ? 'the answer' : JSON.stringify(path);
  if (found.kind === 'ambiguous') throw new PageFault(`the answer has ${records} twice`);
  if (found.kind === 'found' && found.json.startsWith('[')) return { json, list: found.json };
  const has = found.kind === 'absent' ? `no ${records}` : `no list at ${records}`;
  throw new PageFault(`the answer has ${has}: does source.records name the list of the bookings?`);
}

function attempt<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/**
 * Requests a page, and retries temporary failures.
 *
 * @throws PageFault; the signal's reason when it aborts
 */
async function getPage(
  transport: Transport,
  { pathname, search }: URL,
  { headers, signal, maxPageBytes, retry, random, clock, say }: PageReading,
): Promise<HttpAnswer> {
  const request = { method: 'GET' as const, path: `${pathname}${search}`, headers: [...headers], signal };
  const nextDelayMs = createRetryDelays(retry, random);
  for (let made = 1; ; made += 1) {
    const result = await transport.call(request);
    signal.throwIfAborted();
    const code = judge(result);
    if (typeof code !== 'string') return expectWhole(code, maxPageBytes);
    const delayMs = nextDelayMs(readRetryAfter(result.answer?.retryAfter, clock()));
    if (delayMs === undefined) {
      const tries = made === 1 ? '1 try' : `${made} tries`;
      const reason = `the API gave no usable response in ${tries} (${code}): try again later.`;
      throw new PageFault(reason, 'unreadable', 'passing');
    }
    // Shorter waits are not worth a message.
    if (delayMs >= 2_000)
      say?.(`source: the API returned no page (${code}); retrying in ${formatDuration(delayMs)}`);
    await pause(delayMs, signal);
    signal.throwIfAborted();
  }
}

/** Returns the code of a failure that may be over when it is tried again. @throws PageFault for any other */
function judge({ answer, failure }: HttpResult): HttpAnswer | string {
  // The status of a failed request is enough; its body may be incomplete.
  const status = answer?.status ?? 0;
  if (failure !== undefined && status < 300) {
    const { code, meaning } = failure;
    if (meaning === 'wrong' || code.endsWith('-compression')) throw explainFailure(code);
    return code;
  }
  if (status >= 500 || [408, 425, 429].includes(status)) return `http-${status}`;
  if (answer === undefined || status !== 200) throw explainStatus(status);
  return answer;
}

function expectWhole(answer: HttpAnswer, maxBytes: number): HttpAnswer {
  if (!answer.bodyTruncated) return answer;
  throw new PageFault(`the API returned more than ${maxBytes} bytes: request fewer records at a time.`);
}

function explainStatus(status: number): PageFault {
  const says = (what: string, advice: string, fault?: SourceFault) =>
    new PageFault(`the API ${what} (http-${status})${advice}`, fault);
  if (status === 404 || status === 410)
    return says('found nothing there', ': is source.url right?', 'missing');
  if (status === 401 || status === 403)
    return says('rejected the credentials', ': check source.headers.', 'login-refused');
  return status >= 300 && status < 400
    ? says('redirects', ', which is not followed: set source.url to the target address.')
    : says('returned no list of bookings', ': check source.url and source.pagination.');
}

function explainFailure(code: string): PageFault {
  if (code === 'unknown-compression')
    return new PageFault('the API uses an unsupported compression: have it send plain responses, or gzip.');
  if (code === 'damaged-compression')
    return new PageFault('the API returned damaged or truncated compressed data: try again later.');
  const reason = `the API can't be reached safely (${code}): is its certificate trusted here?`;
  return new PageFault(reason, 'unreadable', 'refused');
}
