import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { pause } from '../../base/abort.js';
import { formatDuration } from '../../base/format.js';
import { createRetryDelays, type RetryPolicy } from '../../base/retry.js';
import type { BusinessDay } from '../../booking/business-day.js';
import {
  type BookingSource,
  SourceError,
  type SourceFault,
  type SourceRecord,
} from '../../booking/source.js';
import type { PeerClock } from '../../transports/http/peer-clocks.js';
import {
  createTransport,
  type HttpAnswer,
  type HttpResult,
  readRetryAfter,
  type Transport,
} from '../../transports/http/transport.js';
import type { ProxyRules } from '../../transports/http/tunnel.js';
import type { WantedColumns } from '../common/columns.js';
import { recordsInChunk } from '../common/member-picker.js';
import { createJsonPicker, listElements, parseJson, readJsonPath } from '../json/json-text.js';
import type { HttpPagination } from './kind.js';
import { createPaging, PageFault, readAddress } from './pagination.js';
import { writeRequestHeaders } from './request.js';

export interface HttpSourceOptions extends WantedColumns {
  /** With `{day}`, `{day:ddMMyyyy}`, `{dayStart}` and `{dayEnd}` as placeholders for the day. */
  readonly url: string;
  /** By name. All of them are secret. They override the default headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Where a response holds the list of bookings, such as `data.bookings`; empty if the response is that list. */
  readonly records?: string | undefined;
  /** No pages by default. */
  readonly pagination?: HttpPagination | undefined;
  readonly maxPageBytes?: number;
  /** A day with more pages is an error; 10,000 by default. */
  readonly maxPages?: number;
  /** A record with more bytes is skipped and reported; 1 MB by default. */
  readonly recordLimit?: number;
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

/**
 * Reads the day's bookings from a JSON API over HTTP: GET, page by page, one page in memory at a time, without reading
 * ahead. `place` is the record's number, counted from 1 over all pages. Values are read as in NDJSON. Notices about absent
 * extra columns follow the last record; a member for a field that no record has is a SourceError `missing-member`.
 *
 * Temporary failures (408, 425, 429, 5xx, a broken connection) are retried by the retry policy. For all others `read`
 * throws a SourceError: `missing` (404, 410), `binary`, or `unreadable` for anything else: a rejection, a redirect, a
 * response without the list of bookings, a next page on another host, pages that form a loop. It quotes no response.
 *
 * @throws RangeError for an invalid address
 */
export function createHttpSource(options: HttpSourceOptions): BookingSource {
  const { recordLimit = 1_000_000 } = options;
  const urlOf = readAddress(options);

  /** Without the query, which often holds keys. */
  const locate = (day: BusinessDay) => {
    const { origin, pathname } = urlOf(day);
    return `${origin}${pathname} for ${day.iso}`;
  };

  return {
    locate,
    placeUnit: 'record',
    measure: () => Promise.resolve(undefined),
    async *read(day, { signal }) {
      signal.throwIfAborted();
      const picker = createJsonPicker(options);
      let place = 0;
      const readRecord = (json: string): SourceRecord => {
        place += 1;
        if (Buffer.byteLength(json) > recordLimit) return { place, unreadable: 'record-too-long' };
        return picker.pick(place, json);
      };
      for await (const page of readPages(urlOf(day), locate(day), options, signal)) {
        for (let at = 0; at < page.length; at += recordsInChunk) {
          yield { records: page.slice(at, at + recordsInChunk).map(readRecord) };
          signal.throwIfAborted();
        }
      }
      signal.throwIfAborted();
      const notices = picker.findAbsent();
      if (notices.length > 0) yield { records: [], notices };
      signal.throwIfAborted();
      picker.requireFields(locate(day));
    },
  };
}

/** Some 50,000 bookings. JSON may take thirty times its size in memory, and nothing else happens while it is parsed. */
const largestPage = 16_000_000;
/** Without pages, the answer is the whole day. */
const largestDay = 64_000_000;
/** Part of the time for a whole request. */
const connectTimeoutMs = 10_000;
/** An API that filters after paging may return a few. */
const mostEmptyPages = 100;

/**
 * Reads pages on demand over a connection of its own, and yields each page's records, each as written.
 *
 * @throws SourceError if the pages don't reach an end; the signal's reason when it aborts
 */
async function* readPages(
  address: URL,
  location: string,
  options: HttpSourceOptions,
  signal: AbortSignal,
): AsyncGenerator<readonly string[], void, undefined> {
  const { records: path = '', pagination = { kind: 'none' }, maxPages = 10_000 } = options;
  const { maxPageBytes = pagination.kind === 'none' ? largestDay : largestPage } = options;
  const { timeoutMs, proxy, peerClock } = options;
  const paging = createPaging(pagination, address);
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
      const { body, link } = expectWhole(await getPage(transport, url, options, signal), maxPageBytes);
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

/**
 * Finds the records in a response. A response without them is not an empty page: it could be anything.
 *
 * @param path of the array, such as `data.bookings`; empty for the response itself
 * @throws PageFault
 */
function findList(body: Buffer, path: string): { readonly json: string; readonly list: string } {
  if (!isUtf8(body)) throw new PageFault('the answer is not UTF-8 text', 'binary');
  const json = body.toString().trim();
  if (parseJson(json) === undefined) throw new PageFault('the answer is not JSON, or incomplete');
  const found = readJsonPath(json, path);
  const records = path === '' ? 'the answer' : JSON.stringify(path);
  if (found.kind === 'ambiguous') throw new PageFault(`the answer has ${records} twice`);
  if (found.kind === 'found' && found.json.startsWith('[')) return { json, list: found.json };
  const has = found.kind === 'absent' ? `no ${records}` : `no list at ${records}`;
  throw new PageFault(`the answer has ${has}: does source.records name the list of the bookings?`);
}

/**
 * Requests a page, and retries temporary failures.
 *
 * @throws PageFault; the signal's reason when it aborts
 */
async function getPage(
  transport: Transport,
  { pathname, search }: URL,
  { headers, retry, random, clock, say }: HttpSourceOptions,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const path = `${pathname}${search}`;
  const request = { method: 'GET' as const, path, headers: writeRequestHeaders(headers), signal };
  const nextDelayMs = createRetryDelays(retry, random);
  for (let made = 1; ; made += 1) {
    const result = await transport.call(request);
    signal.throwIfAborted();
    const code = judge(result);
    if (typeof code !== 'string') return code;
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
