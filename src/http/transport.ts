import { setMaxListeners } from 'node:events';
import { buildConnector, type Dispatcher, Pool } from 'undici';
import { type AbortWatch, createAbortWatch } from '../async/abort.js';
import type { ConnectionRules } from './connection-rules.js';
import { type NetworkFailure, readNetworkFailure } from './network-failure.js';
import { chooseProxy, openTunnel, readAuthority } from './tunnel.js';

interface TransportOptions extends ConnectionRules {
  /** Scheme, host and port, such as `https://service.example.com`. */
  readonly origin: string;
  /** The maximum number of connections; further calls wait for a free one. */
  readonly connections: number;
  /** The limit for a whole call, from requesting a connection to the last byte of the answer. */
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
  /** How much of an answer's body is read before the connection is cut. */
  readonly maxAnswerBytes: number;
}

interface TransportRequest {
  readonly method: 'GET' | 'POST';
  /** From the root, including the query. */
  readonly path: string;
  /** Alternating names and values, sent in exactly this spelling. */
  readonly headers: string[];
  readonly body?: Uint8Array;
  readonly signal: AbortSignal;
}

/** An answer as received; headers are not interpreted. */
export interface HttpAnswer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly date?: string | undefined;
  /** All `Link` headers, joined. */
  readonly link?: string | undefined;
  /** `Content-Encoding`; the body is not decoded. */
  readonly encoding?: string | undefined;
  readonly body: Buffer;
  /** Whether the body continued after `body` ends. */
  readonly bodyTruncated: boolean;
}

/** What a call returned: a whole answer, or the reason why there is none. */
export type HttpResult =
  | { readonly answer: HttpAnswer; readonly failure?: undefined }
  | {
      readonly failure: NetworkFailure;
      /** What had arrived when the connection broke, if at least the status had. */
      readonly answer?: HttpAnswer;
    };

export interface Transport {
  /** Never throws for what the server or the network does; throws the signal's reason when aborted. */
  call(request: TransportRequest): Promise<HttpResult>;
  /** Cuts every connection; calls in flight fail. Idempotent. */
  close(): Promise<void>;
}

/**
 * HTTP calls over persistent connections: limits on time and size, no redirects, no retries, one request at a time per
 * connection. Uses undici's `dispatch` because it reports when a request starts to leave: that decides whether the
 * server may have processed a failed call.
 */
export function createTransport(options: TransportOptions): Transport {
  const aborts = createAbortWatch();
  const closing = new AbortController();
  // Every connection adds a listener.
  setMaxListeners(0, closing.signal);
  const pool = new Pool(options.origin, {
    connections: options.connections,
    pipelining: 1,
    // Destroying the pool does not stop connections that are still being opened; the signal does.
    connect: createConnector(options, closing.signal),
    // One timer of our own covers the whole call.
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

/** Verifies certificates even if the environment disables that. */
function createConnector(
  { origin, connectTimeoutMs, ca, proxy = {} }: TransportOptions,
  signal: AbortSignal,
): buildConnector.connector {
  const connect = buildConnector({
    timeout: connectTimeoutMs,
    signal,
    rejectUnauthorized: true,
    ...readAuthority(ca),
  } as buildConnector.BuildOptions);
  const { protocol, hostname, port } = new URL(origin);
  const target = { hostname, port: port || 443, timeoutMs: connectTimeoutMs, signal };
  const through = protocol === 'https:' ? chooseProxy(proxy, target) : undefined;
  if (through === undefined) return connect;
  return (options, done) => {
    openTunnel(through, target).then(
      (httpSocket) => connect({ ...options, httpSocket }, done),
      (error: Error) => done(error, null),
    );
  };
}

function call(
  pool: Pool,
  aborts: AbortWatch,
  options: TransportOptions,
  request: TransportRequest,
): Promise<HttpResult> {
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
      resolve({ answer });
    };
    const fail = (error: unknown) => {
      settle();
      const failure = readNetworkFailure(error, { requestWasSent: sending !== undefined });
      resolve({ failure, ...(reading && { answer: reading.finish({ truncated: true }) }) });
    };
    const abort = () => {
      settle();
      reject(signal.reason);
      sending?.abort(new Error('the caller aborted the call'));
    };
    const timer = setTimeout(() => {
      const error = new DOMException('the call took too long', 'TimeoutError');
      fail(error);
      sending?.abort(error);
    }, options.timeoutMs);
    const unwatch = aborts.watch(signal, abort);

    pool.dispatch(
      // undici treats every GET as idempotent; some of ours start reviews.
      { method, path, headers, body: body ?? null, idempotent: false },
      {
        onRequestStart(controller) {
          // A call that ended while it waited for a connection must not be sent.
          if (isSettled) controller.abort(new Error('the call had ended'));
          else sending = controller;
        },
        onResponseStart(_controller, status, responseHeaders) {
          // An informational response (1xx) is not the answer.
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
  /** Keeps what fits; returns whether all of it did. */
  take(chunk: Buffer): boolean;
  finish(end: { readonly truncated: boolean }): HttpAnswer;
}

function startReading(head: Omit<HttpAnswer, 'body' | 'bodyTruncated'>, maxBytes: number): AnswerReading {
  const chunks: Buffer[] = [];
  let remaining = maxBytes;
  return {
    take(chunk) {
      const fits = chunk.length <= remaining;
      chunks.push(fits ? chunk : chunk.subarray(0, remaining));
      remaining -= Math.min(chunk.length, remaining);
      return fits;
    },
    finish: ({ truncated }) => ({ ...head, body: Buffer.concat(chunks), bodyTruncated: truncated }),
  };
}
