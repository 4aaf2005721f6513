import { setMaxListeners } from 'node:events';
import { type Dispatcher, Pool } from 'undici';
import { type AbortWatch, createAbortWatch } from './abort-watch.js';

export interface TransportOptions {
  /** Scheme, host and port, such as `https://service.example.com`. */
  readonly origin: string;
  /** How many connections at most; calls beyond them wait for a free one. */
  readonly connections: number;
  /** For the whole of a call, from asking for a connection to the last byte of the answer. */
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
  /** How much of an answer's body is read; then the connection is cut. */
  readonly maxAnswerBytes: number;
}

export interface TransportRequest {
  readonly method: 'GET' | 'POST';
  /** From the root, with the query if there is one. */
  readonly path: string;
  /** Names and values in turn, sent in just this spelling. */
  readonly headers: string[];
  readonly body?: Uint8Array;
  readonly signal: AbortSignal;
}

/** An answer as it came off the wire. */
export interface HttpAnswer {
  readonly status: number;
  /** The header `Retry-After`, unread. */
  readonly retryAfter: string | undefined;
  /** The header `Date`, unread. */
  readonly date?: string | undefined;
  /** The headers `Link`, unread. */
  readonly link?: string | undefined;
  /** The headers `Content-Encoding`, unread: the body is as it came. */
  readonly encoding?: string | undefined;
  readonly body: Buffer;
  /** Whether the body went on after `body` ends. */
  readonly bodyTruncated: boolean;
}

/** What became of a call, not yet judged. */
export type Exchange =
  | { readonly kind: 'answered'; readonly answer: HttpAnswer }
  | {
      readonly kind: 'failed';
      readonly error: unknown;
      /** False when no connection was ready: not a byte has left. */
      readonly requestWasSent: boolean;
      /** What had come of an answer whose head was read before it broke off. */
      readonly brokenAnswer?: HttpAnswer;
    };

export interface Transport {
  /** Never throws for what the service or the network does; throws the signal's reason when aborted. */
  call(request: TransportRequest): Promise<Exchange>;
  /** Cuts every connection; calls in flight fail. May be called again. */
  close(): Promise<void>;
}

/**
 * HTTP calls over kept connections: bounded in time and in what is read, no redirects, no retries, one request at a
 * time on each connection. It uses undici's `dispatch`, which tells when a request begins to leave: that decides
 * whether a failed call may have been taken.
 */
export function createTransport(options: TransportOptions): Transport {
  const aborts = createAbortWatch();
  const closing = new AbortController();
  // Each connection listens to it.
  setMaxListeners(0, closing.signal);
  const pool = new Pool(options.origin, {
    connections: options.connections,
    pipelining: 1,
    // Destroying the pool leaves connections alone that are only being opened: the signal ends those.
    connect: { timeout: options.connectTimeoutMs, signal: closing.signal },
    // The whole call has one clock, ours.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  let closed: Promise<void> | undefined;

  return {
    call: (request) => call(pool, aborts, options, request),
    close() {
      closed ??= pool.destroy().finally(() => closing.abort());
      return closed;
    },
  };
}

function call(
  pool: Pool,
  aborts: AbortWatch,
  options: TransportOptions,
  request: TransportRequest,
): Promise<Exchange> {
  const { method, path, headers, body, signal } = request;
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    let sending: Dispatcher.DispatchController | undefined;
    let reading: AnswerReading | undefined;
    let isSettled = false;

    const settle = () => {
      isSettled = true;
      clearTimeout(timer);
      unwatch();
    };
    const succeed = (answer: HttpAnswer) => {
      settle();
      resolve({ kind: 'answered', answer });
    };
    const fail = (error: unknown) => {
      settle();
      const brokenAnswer = reading?.finish({ truncated: true });
      const requestWasSent = sending !== undefined;
      resolve({ kind: 'failed', error, requestWasSent, ...(brokenAnswer && { brokenAnswer }) });
    };
    const abort = () => {
      settle();
      reject(signal.reason);
      sending?.abort(new Error('the caller stopped the call'));
    };
    const timer = setTimeout(() => {
      const error = new DOMException('the call took too long', 'TimeoutError');
      fail(error);
      sending?.abort(error);
    }, options.timeoutMs);
    const unwatch = aborts.watch(signal, abort);

    pool.dispatch(
      // undici takes any GET for repeatable; some of ours start reviews.
      { method, path, headers, body: body ?? null, idempotent: false },
      {
        onRequestStart(controller) {
          // A call that ended while it waited for a connection must not be sent any more.
          if (isSettled) controller.abort(new Error('the call had ended'));
          else sending = controller;
        },
        onResponseStart(_controller, status, responseHeaders) {
          // What comes before the answer itself (1xx) says nothing.
          if (status < 200) return;
          const retryAfter = [responseHeaders['retry-after']].flat()[0];
          const date = [responseHeaders.date].flat()[0];
          const link = joinHeader(responseHeaders.link);
          const encoding = joinHeader(responseHeaders['content-encoding']);
          reading = startReading({ status, retryAfter, date, link, encoding }, options.maxAnswerBytes);
        },
        onResponseData(controller, chunk) {
          if (isSettled || reading === undefined || reading.take(chunk)) return;
          succeed(reading.finish({ truncated: true }));
          controller.abort(new Error('the answer is too long'));
        },
        onResponseEnd() {
          if (!isSettled && reading !== undefined) succeed(reading.finish({ truncated: false }));
        },
        onResponseError(_controller, error) {
          if (!isSettled) fail(error);
        },
      },
    );
  });
}

function joinHeader(values: string | readonly string[] | undefined): string | undefined {
  return values === undefined ? undefined : [values].flat().join(', ');
}

interface AnswerReading {
  /** Keeps what still fits, and says whether all of it did. */
  take(chunk: Buffer): boolean;
  finish(end: { readonly truncated: boolean }): HttpAnswer;
}

function startReading(head: Omit<HttpAnswer, 'body' | 'bodyTruncated'>, maxBytes: number): AnswerReading {
  const chunks: Buffer[] = [];
  let room = maxBytes;
  return {
    take(chunk) {
      const fits = chunk.length <= room;
      chunks.push(fits ? chunk : chunk.subarray(0, room));
      room -= Math.min(chunk.length, room);
      return fits;
    },
    finish: ({ truncated }) => ({ ...head, body: Buffer.concat(chunks), bodyTruncated: truncated }),
  };
}
