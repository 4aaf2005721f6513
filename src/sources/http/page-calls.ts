import { pause } from '../../async/abort.js';
import { createRetryDelays, type RetryPolicy } from '../../async/retry.js';
import type { ProxyRules } from '../../http/connection-rules.js';
import { readRetryAfter } from '../../http/syntax.js';
import type { HttpAnswer, HttpResult } from '../../http/transport.js';
import type { SourceFault } from '../../review/source.js';
import { formatDuration } from '../../text/format.js';

export interface PageCallLimits {
  readonly proxy?: ProxyRules | undefined;
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
      /** Whether the API returned 404 or 410. */
      readonly isMissing: boolean;
      /** What happened, and what to do. Quotes nothing of the response. */
      readonly reason: string;
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
export async function openPageCalls(
  origin: string,
  headers: readonly string[],
  { timeoutMs, connectTimeoutMs, maxPageBytes, retry, clock, random, onWait, proxy }: PageCallLimits,
): Promise<PageCalls> {
  // Sources that read files don't need it.
  const { createTransport } = await import('../../http/transport.js');
  const transport = createTransport({
    origin,
    connections: 1,
    timeoutMs,
    connectTimeoutMs,
    maxAnswerBytes: maxPageBytes,
    proxy,
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
      ? fail(`can't be reached safely (${code}): is its certificate trusted here?`)
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
      isMissing: true,
      reason: `found nothing there (${code}): is source.url right?`,
    };
  }
  if (status === 401 || status === 403) {
    return fail(`rejected the credentials (${code}): check source.headers.`);
  }
  if (status >= 300 && status < 400) {
    return fail(`redirects (${code}), which is not followed: set source.url to the target address.`);
  }
  return fail(`returned no list of bookings (${code}): check source.url and source.pagination.`);
}

function failForSize(bytes: number) {
  return fail(`returned more than ${bytes} bytes: request fewer records at a time.`);
}

function fail(reason: string): Extract<PageAnswer, { readonly kind: 'failed' }> {
  return { kind: 'failed', fault: 'unreadable', isMissing: false, reason };
}

/** Shorter waits are not worth a message. */
const reportedFromMs = 2_000;

/** The message for a wait; undefined if it is too short to report. */
export function describePageWait({ code, delayMs }: PageWait): string | undefined {
  if (delayMs < reportedFromMs) return undefined;
  return `source: the API returned no page (${code}); retrying in ${formatDuration(delayMs)}`;
}
