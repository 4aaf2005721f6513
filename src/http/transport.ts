import { setMaxListeners } from 'node:events';
import { Agent, type ClientRequest, type RequestOptions, request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { type AbortWatch, createAbortWatch } from '../async/abort.js';
import type { ConnectionRules } from './connection-rules.js';
import { type NetworkFailure, readNetworkFailure } from './network-failure.js';
import { createTunnelAgent } from './tunnel.js';
import type { WatchCall } from './watch-call.js';

interface TransportOptions extends ConnectionRules {
  /** Scheme, host and port, such as `https://service.example.com`. */
  readonly origin: string;
  /** Maximum number of connections; further calls wait for a free one. */
  readonly connections: number;
  /** For a whole call, from requesting a connection to the last byte of the answer. */
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
  /** How much of an answer's body is read before the connection is cut. */
  readonly maxAnswerBytes: number;
  readonly watchCall?: WatchCall | undefined;
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

/** Idle connections are closed before the server closes them: a request must not meet a connection that is going away. */
const idleMs = 4_000;

/**
 * HTTP calls over persistent connections: limits on time and size, no redirects, no retries, one request at a time per
 * connection.
 */
export function createTransport(options: TransportOptions): Transport {
  const { origin, connections, watchCall } = options;
  const { protocol, hostname, port, host } = new URL(origin);
  const closing = new AbortController();
  // Every connection adds a listener.
  setMaxListeners(0, closing.signal);
  const kept = { keepAlive: true, maxSockets: connections, timeout: idleMs };
  const isTls = protocol === 'https:';
  const agent = isTls
    ? createTunnelAgent(options, {
        ...kept,
        connectTimeoutMs: options.connectTimeoutMs,
        signal: closing.signal,
      })
    : new Agent(kept);
  const parts: CallParts = {
    ...options,
    aborts: createAbortWatch(),
    closing: closing.signal,
    host,
    open: (request) =>
      (isTls ? requestTls : requestPlain)({
        ...request,
        agent,
        hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
        port,
      }),
  };
  const perform: Transport['call'] = (request) => call(parts, request);

  return {
    call: watchCall ? (request) => callWatched(perform, request, watchCall, origin) : perform,
    async close() {
      closing.abort();
      agent.destroy();
    },
  };
}

async function callWatched(
  perform: Transport['call'],
  request: TransportRequest,
  watchCall: WatchCall,
  origin: string,
): Promise<HttpResult> {
  const url = new URL(request.path, origin);
  url.search = '';
  const end = watchCall({ method: request.method, url: url.href });
  try {
    const result = await perform(request);
    end({ status: result.answer?.status, failure: result.failure?.code });
    return result;
  } catch (error) {
    end({ failure: 'aborted' });
    throw error;
  }
}

interface CallParts extends Pick<TransportOptions, 'timeoutMs' | 'connectTimeoutMs' | 'maxAnswerBytes'> {
  readonly aborts: AbortWatch;
  /** Aborts when the transport is closed. */
  readonly closing: AbortSignal;
  /** The value of the header. */
  readonly host: string;
  open(request: RequestOptions): ClientRequest;
}

function call(
  parts: CallParts,
  { method, path, headers, body, signal }: TransportRequest,
): Promise<HttpResult> {
  const { aborts, closing, host, timeoutMs, connectTimeoutMs, maxAnswerBytes } = parts;
  if (signal.aborted) return Promise.reject(signal.reason);
  if (closing.aborted)
    return Promise.resolve({
      failure: readNetworkFailure(codedError('ERR_CLIENT_CLOSED'), { requestWasSent: false }),
    });
  return new Promise((resolve, reject) => {
    let requestWasSent = false;
    let reading: AnswerReading | undefined;
    let connecting: NodeJS.Timeout | undefined;

    /** Does nothing if the call has ended already. */
    const end = (settle: () => void) => {
      clearTimeout(timer);
      clearTimeout(connecting);
      for (const stop of watches.splice(0)) stop();
      settle();
    };
    const succeed = (answer: HttpAnswer) => end(() => resolve({ answer }));
    const fail = (error: unknown) =>
      end(() => {
        const failure = readNetworkFailure(error, { requestWasSent });
        resolve({ failure, ...(reading && { answer: reading.finish({ truncated: true }) }) });
        request.destroy();
      });
    const timer = setTimeout(
      () => fail(new DOMException('the call took too long', 'TimeoutError')),
      timeoutMs,
    );
    const watches = [
      aborts.watch(signal, () =>
        end(() => {
          reject(signal.reason);
          request.destroy();
        }),
      ),
      aborts.watch(closing, () => fail(codedError('ERR_CLIENT_CLOSED'))),
    ];

    const request = parts.open({
      method,
      path,
      headers: [
        ...['host', host],
        ...headers,
        ...(body === undefined ? [] : ['content-length', `${body.byteLength}`]),
      ],
    });
    request.on('error', fail);
    request.once('socket', (socket) => {
      if (isReady(socket)) {
        requestWasSent = true;
        return;
      }
      connecting = setTimeout(() => fail(codedError('ERR_CONNECT_TIMEOUT')), connectTimeoutMs);
      socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', () => {
        clearTimeout(connecting);
        requestWasSent = true;
      });
    });
    request.once('response', (response) => {
      const { statusCode: status = 0, headers: received } = response;
      if (closesSoon(received['keep-alive'])) request.shouldKeepAlive = false;
      reading = startReading(
        {
          status,
          retryAfter: received['retry-after'],
          date: received.date,
          link: joinHeader(received.link),
          encoding: received['content-encoding'],
        },
        maxAnswerBytes,
      );
      const { take, finish } = reading;
      response.on('data', (chunk: Buffer) => {
        if (take(chunk)) return;
        succeed(finish({ truncated: true }));
        request.destroy();
      });
      response.once('end', () => succeed(finish({ truncated: false })));
      response.on('error', fail);
    });
    request.end(body);
  });
}

/** Certificates are always verified, so a connection with TLS is ready once its server's is accepted. */
function isReady(socket: Socket): boolean {
  return socket instanceof TLSSocket ? socket.authorized : !socket.connecting;
}

/** Whether the server closes idle connections before we do. It says so in whole seconds: `timeout=5`. */
function closesSoon(keepAlive: string | string[] | undefined): boolean {
  const [, seconds] = /timeout=(\d+)/.exec(`${keepAlive}`) ?? [];
  return seconds !== undefined && 1_000 * Number(seconds) <= idleMs;
}

function codedError(code: string): Error {
  return Object.assign(new Error(code), { code });
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
