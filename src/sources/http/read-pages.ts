import { createHash } from 'node:crypto';
import { pause } from '../../base/abort.js';
import { formatDuration } from '../../base/format.js';
import type { PeerFault } from '../../base/peer-patience.js';
import { createRetryDelays, type RetryPolicy } from '../../base/retry.js';
import { SourceError, type SourceFault } from '../../booking/source.js';
import type { ProxyRules } from '../../transports/http/connection-rules.js';
import type { PeerClock } from '../../transports/http/peer-clocks.js';
import { type HttpAnswer, type HttpResult, readRetryAfter } from '../../transports/http/transport.js';
import { listElements, readJsonPath } from '../json/json-text.js';
import { createPaging, type HttpPagination } from './pagination.js';

interface PagesReading {
  /** For messages. */
  readonly location: string;
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
  { location, path, pagination, headers, limits, maxPages, signal }: PagesReading,
): AsyncGenerator<string, void, undefined> {
  const refuse = (index: number, reason: string, fault: SourceFault = 'unreadable', peer?: PeerFault) =>
    new SourceError(fault, `${location}, page ${index + 1}: ${reason}`, { peer });
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
    let recordsBefore = 0;
    let emptyPages = 0;
    for (let index = 0; ; index += 1) {
      if (index === maxPages)
        throw refuse(index, `the API returns more than ${maxPages} pages: do they end at all?`);
      if (isKnownAddress(url.href)) throw refuse(index, 'it was read before: the pages form a loop');
      const answer = await calls.get(url, signal);
      if (answer.kind === 'failed')
        throw refuse(index, `the API ${answer.reason}`, answer.fault, answer.peer);
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
          ({ url } = next);
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

export interface PageCallLimits {
  readonly proxy?: ProxyRules | undefined;
  readonly peerClock?: PeerClock | undefined;
  /** For a whole request. */
  readonly timeoutMs: number;
  /** For opening a connection; part of the time for the whole request. */
  readonly connectTimeoutMs: number;
  readonly maxPageBytes: number;
  readonly retry: RetryPolicy;
  readonly clock: () => Date;
  /** Uniform in [0, 1): spreads the waits between tries. */
  readonly random: () => number;
  /** Called before each wait; the API may request a long one. */
  readonly onWait?: (wait: PageWait) => void;
}

export interface PageWait {
  /** The outcome of the last try, such as `http-429`. */
  readonly code: string;
  readonly delayMs: number;
}

type PageAnswer =
  | { readonly kind: 'page'; readonly body: Buffer; readonly link: string | undefined }
  | {
      readonly kind: 'failed';
      readonly fault: SourceFault;
      /** What happened, and what to do. Quotes nothing of the response. */
      readonly reason: string;
      /** What is wrong with the server, where it is not its answer. */
      readonly peer?: PeerFault;
    };

/** The requests of one read, one at a time over one connection. */
interface PageCalls {
  /** Retries temporary failures. @throws the signal's reason when it aborts */
  get(url: URL, signal: AbortSignal): Promise<PageAnswer>;
  /** Cuts the connection. */
  close(): Promise<void>;
}

type Judgement =
  | PageAnswer
  | { readonly kind: 'retry'; readonly code: string; readonly retryAfterMs?: number };

const retryableStatuses = new Set([408, 425, 429]);

/** @param headers alternating names and values */
async function openPageCalls(
  origin: string,
  headers: readonly string[],
  {
    timeoutMs,
    connectTimeoutMs,
    maxPageBytes,
    retry,
    clock,
    random,
    onWait,
    proxy,
    peerClock,
  }: PageCallLimits,
): Promise<PageCalls> {
  // Sources that read files don't need it.
  const { createTransport } = await import('../../transports/http/transport.js');
  const transport = createTransport({
    origin,
    connections: 1,
    timeoutMs,
    connectTimeoutMs,
    maxAnswerBytes: maxPageBytes,
    proxy,
    peerClock,
  });
  const judge = ({ answer, failure }: HttpResult): Judgement => {
    // The status of a failed request is enough; its body may be incomplete.
    if (failure === undefined) return judgeAnswer(answer, clock(), maxPageBytes);
    if (answer !== undefined && answer.status >= 300) return judgeAnswer(answer, clock(), maxPageBytes);
    const { code, meaning } = failure;
    if (code === 'unknown-compression')
      return fail('uses an unsupported compression: have it send plain responses, or gzip.');
    if (code === 'damaged-compression')
      return fail('returned damaged or truncated compressed data: try again later.');
    return meaning === 'wrong'
      ? fail(`can't be reached safely (${code}): is its certificate trusted here?`, 'refused')
      : { kind: 'retry', code };
  };

  return {
    async get(url, signal) {
      const request = {
        method: 'GET' as const,
        path: `${url.pathname}${url.search}`,
        headers: [...headers],
        signal,
      };
      const nextDelayMs = createRetryDelays(retry, random);
      for (let made = 1; ; made += 1) {
        const judged = judge(await transport.call(request));
        signal.throwIfAborted();
        if (judged.kind !== 'retry') return judged;
        const delayMs = nextDelayMs(judged.retryAfterMs);
        if (delayMs === undefined) {
          return fail(
            `gave no usable response in ${made === 1 ? '1 try' : `${made} tries`} (${judged.code}): try again later.`,
            'passing',
          );
        }
        onWait?.({ code: judged.code, delayMs });
        await pause(delayMs, signal);
        signal.throwIfAborted();
      }
    },
    close: () => transport.close(),
  };
}

function judgeAnswer(
  { status, retryAfter, body, bodyTruncated, link }: HttpAnswer,
  now: Date,
  maxBytes: number,
): Judgement {
  if (status === 200) return bodyTruncated ? failForSize(maxBytes) : { kind: 'page', body, link };
  const code = `http-${status}`;
  if (status >= 500 || retryableStatuses.has(status)) {
    const retryAfterMs = readRetryAfter(retryAfter, now);
    return { kind: 'retry', code, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  }
  if (status === 404 || status === 410) {
    return {
      kind: 'failed',
      fault: 'missing',
      reason: `found nothing there (${code}): is source.url right?`,
    };
  }
  if (status === 401 || status === 403) {
    return {
      kind: 'failed',
      fault: 'login-refused',
      reason: `rejected the credentials (${code}): check source.headers.`,
    };
  }
  if (status >= 300 && status < 400) {
    return fail(`redirects (${code}), which is not followed: set source.url to the target address.`);
  }
  return fail(`returned no list of bookings (${code}): check source.url and source.pagination.`);
}

function failForSize(bytes: number) {
  return fail(`returned more than ${bytes} bytes: request fewer records at a time.`);
}

function fail(reason: string, peer?: PeerFault): Extract<PageAnswer, { readonly kind: 'failed' }> {
  return { kind: 'failed', fault: 'unreadable', reason, ...(peer && { peer }) };
}

/** Shorter waits are not worth a message. */
const reportedFromMs = 2_000;

/** The message for a wait; undefined if it is too short to report. */
export function describePageWait({ code, delayMs }: PageWait): string | undefined {
  if (delayMs < reportedFromMs) return undefined;
  return `source: the API returned no page (${code}); retrying in ${formatDuration(delayMs)}`;
}
