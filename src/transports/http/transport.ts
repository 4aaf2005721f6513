import { setMaxListeners } from 'node:events';
import {
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  Agent as PlainAgent,
  request as requestPlain,
} from 'node:http';
import { request as requestTls } from 'node:https';
import type { Socket } from 'node:net';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib';
import { createGate } from '../../base/concurrent-work.js';
import { codeOf } from '../../base/safe-error.js';
import { type NetworkFailure, readNetworkFailure } from './network-failure.js';
import { type PeerClock, readDifference } from './peer-clocks.js';
import { createTunnelAgent, type ProxyRules } from './tunnel.js';

interface TransportOptions {
  /** Scheme, host and port, such as `https://service.example.com`. */
  readonly origin: string;
  /** The maximum number of connections; further calls wait for a free one. */
  readonly connections: number;
  /** The limit for a whole call, from requesting a connection to the last byte of the answer. */
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
  /** How much of an answer's body is read before the connection is cut, where the request does not say it. */
  readonly maxAnswerBytes: number;
  readonly proxy?: ProxyRules | undefined;
  /** Is told what the answers say about the server's clock. */
  readonly peerClock?: PeerClock | undefined;
}

interface TransportRequest {
  readonly method: 'GET' | 'POST';
  /** From the root, including the query. */
  readonly path: string;
  /** Alternating names and values, sent in exactly this spelling. */
  readonly headers: string[];
  readonly body?: Uint8Array;
  readonly maxAnswerBytes?: number | undefined;
  /** Called once a byte may have left: what is aborted before then did not reach the server. */
  readonly onSent?: () => void;
  readonly signal: AbortSignal;
}

/** An answer as received, decompressed; headers are not interpreted. */
export interface HttpAnswer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly date?: string | undefined;
  /** All `Link` headers, joined. */
  readonly link?: string | undefined;
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

export type Transport = ReturnType<typeof createTransport>;

/**
 * HTTP calls over persistent connections: limits on time and size, no redirects, no retries, one request at a time per
 * connection. Certificates are verified even if the environment disables that.
 */
export function createTransport(options: TransportOptions) {
  const { timeoutMs, connectTimeoutMs, peerClock } = options;
  const origin = new URL(options.origin);
  const isTls = origin.protocol === 'https:';
  const closing = new AbortController();
  const agent = isTls
    ? createTunnelAgent(options, { keepAlive: true, connectTimeoutMs, signal: closing.signal })
    : new PlainAgent({ keepAlive: true });
  /** Limits the connections: an agent of Node's does not count a tunnel that is being opened. */
  const gate = createGate(options.connections);
  /** What ends each call. */
  const underway = new Set<(reason: Error) => void>();
  /** Connections that were established. */
  const ready = new WeakSet<Socket>();

  /** Ends a call that takes too long, and with the transport or the signal. @returns stops that */
  function limitCall(signal: AbortSignal, fail: (reason: Error) => void, abort: () => void): () => void {
    const timer = setTimeout(() => {
      fail(new DOMException('the call took too long', 'TimeoutError'));
    }, timeoutMs);
    // Every call in progress adds a listener: many of them are no leak.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', abort, { once: true });
    underway.add(fail);
    return () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      underway.delete(fail);
    };
  }

  /** @param onReady called once a byte may leave */
  function awaitConnection(request: ClientRequest, socket: Socket, onReady: () => void): void {
    if (ready.has(socket)) return onReady();
    const late = Object.assign(new Error('connecting took too long'), { code: 'ERR_CONNECT_TIMEOUT' });
    const timer = setTimeout(() => request.destroy(late), connectTimeoutMs);
    request.once('close', () => clearTimeout(timer));
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      clearTimeout(timer);
      ready.add(socket);
      onReady();
    });
  }

  function call(wanted: TransportRequest): Promise<HttpResult> {
    const { method, path, signal, maxAnswerBytes = options.maxAnswerBytes } = wanted;
    const headers = toFields(wanted.headers);
    return new Promise((resolve, reject) => {
      let request: ClientRequest | undefined;
      let reading: AnswerReading | undefined;
      /** Whether a byte may have left: then the server may have processed a failed call. */
      let requestWasSent = false;
      let isSettled = false;

      function settle(end: () => void): void {
        if (isSettled) return;
        isSettled = true;
        stopLimits();
        // At once: a call that has ended must not be let in by another one that ends now.
        if (request === undefined) leave();
        end();
      }
      const fail = (error: unknown) =>
        settle(() => {
          const answer = reading?.finish({ truncated: true });
          resolve({ failure: readNetworkFailure(error, { requestWasSent }), ...(answer && { answer }) });
          request?.destroy();
        });
      const abort = () =>
        settle(() => {
          reject(signal.reason);
          request?.destroy();
        });

      function onResponse(response: IncomingMessage, sentAt: number): void {
        peerClock?.note(readDifference(response.headers, { sentAt, receivedAt: peerClock.clock() }));
        const read = startReading(response, maxAnswerBytes);
        const succeed = (end: { readonly truncated: boolean }) =>
          settle(() => resolve(unpack(read.finish(end), response, maxAnswerBytes)));
        reading = read;
        response
          .on('data', (chunk: Buffer) => {
            if (read.take(chunk)) return;
            succeed({ truncated: true });
            request?.destroy();
          })
          .on('end', () => succeed({ truncated: false }))
          .on('error', fail);
      }

      const stopLimits = limitCall(signal, fail, abort);
      const leave = gate.enter(() => {
        const opened = (isTls ? requestTls : requestPlain)(origin, { method, path, headers, agent });
        request = opened;
        const sentAt = peerClock?.clock() ?? 0;
        opened
          .on('socket', (socket) =>
            awaitConnection(opened, socket, () => {
              requestWasSent = true;
              wanted.onSent?.();
            }),
          )
          // Informational responses (1xx) are events of their own, and no answers.
          .on('response', (response) => onResponse(response, sentAt))
          .on('error', fail)
          .on('close', () => {
            fail(Object.assign(new Error('no answer'), { code: 'ECONNRESET' }));
            // By then, the connection is free for the next call, or on its way to be closed.
            setImmediate(() => whenGone(opened.socket, leave));
          })
          .end(wanted.body);
      });
    });
  }

  return {
    /** Never throws for what the server or the network does; throws the signal's reason when aborted. */
    async call(request: TransportRequest): Promise<HttpResult> {
      request.signal.throwIfAborted();
      if (!closing.signal.aborted) return call(request);
      return { failure: readNetworkFailure(closedError(), { requestWasSent: false }) };
    },
    /** Cuts every connection; calls in flight fail. Idempotent. */
    async close(): Promise<void> {
      closing.abort();
      for (const end of [...underway]) end(closedError());
      agent.destroy();
    },
  };
}

function closedError(): Error {
  return Object.assign(new Error('the client was closed'), { code: 'ERR_CLIENT_CLOSED' });
}

/** Calls back at once if the connection is kept, or else when it is closed. */
function whenGone(socket: Socket | null | undefined, leave: () => void): void {
  if (!socket || socket.closed || !(socket.destroyed || socket.writableEnded)) leave();
  else socket.once('close', leave);
}

/** In exactly this spelling. */
function toFields(headers: readonly string[]): Record<string, string> {
  const fields: Record<string, string> = { 'Accept-Encoding': 'identity' };
  for (let index = 0; index + 1 < headers.length; index += 2)
    fields[headers[index] ?? ''] = headers[index + 1] ?? '';
  return fields;
}

type AnswerReading = ReturnType<typeof startReading>;

function startReading({ statusCode = 0, headers }: IncomingMessage, maxBytes: number) {
  const { 'retry-after': retryAfter, date, link } = headers;
  const head = { status: statusCode, retryAfter, date, link: [link ?? []].flat().join(', ') || undefined };
  const isPacked = readCoding(headers) !== undefined;
  const chunks: Buffer[] = [];
  let remaining = maxBytes;
  return {
    /** Keeps what fits; returns whether all of it did. */
    take(chunk: Buffer): boolean {
      const fits = chunk.length <= remaining;
      chunks.push(fits ? chunk : chunk.subarray(0, remaining));
      remaining -= Math.min(chunk.length, remaining);
      return fits;
    },
    /** Without the body if it is a part of a compressed one. */
    finish({ truncated }: { readonly truncated: boolean }): HttpAnswer {
      const body = Buffer.concat(isPacked && truncated ? [] : chunks);
      return { ...head, body, bodyTruncated: truncated };
    },
  };
}

type Decode = (body: Uint8Array, limit: { readonly maxOutputLength: number }) => Promise<Buffer>;

const decoders: ReadonlyMap<string, Decode> = new Map<string, Decode>([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  // Some servers leave out the wrapper that RFC 9110 (8.4.1.2) asks for; its first byte tells.
  ['deflate', (body, limit) => promisify((body[0] ?? 0) % 16 === 8 ? inflate : inflateRaw)(body, limit)],
  ['br', promisify(brotliDecompress)],
]);

/** The compression of a body; undefined for none (RFC 9110, 8.4). */
function readCoding({ 'content-encoding': header = '' }: IncomingHttpHeaders): string | undefined {
  const codings = header.split(',').map((coding) => coding.trim().toLowerCase());
  return codings.filter((coding) => !['', 'identity'].includes(coding)).join(', ') || undefined;
}

/** Requests ask for plain answers, but a proxy may compress them regardless. */
async function unpack(
  answer: HttpAnswer,
  { headers }: IncomingMessage,
  maxOutputLength: number,
): Promise<HttpResult> {
  const coding = readCoding(headers);
  // The answer to HEAD, or 204: named, but not there.
  if (coding === undefined || answer.body.length === 0) return { answer };
  const withoutBody = { ...answer, body: Buffer.alloc(0), bodyTruncated: true };
  const fail = (code: string): HttpResult => ({ failure: { code, meaning: 'broken' }, answer: withoutBody });
  const decode = decoders.get(coding);
  if (decode === undefined) return fail('unknown-compression');
  try {
    // A small body can expand to a very large one.
    return { answer: { ...answer, body: await decode(answer.body, { maxOutputLength }) } };
  } catch (error) {
    return codeOf(error) === 'ERR_BUFFER_TOO_LARGE' ? { answer: withoutBody } : fail('damaged-compression');
  }
}

const httpDate = /^[A-Z][a-z]{2,8}, \d{2}[ -][A-Z][a-z]{2}[ -](\d{2}|\d{4}) \d{2}:\d{2}:\d{2} GMT$/;

/**
 * The wait that a `Retry-After` header asks for, in milliseconds from `now`. Reads both forms of RFC 9110: whole
 * seconds and an HTTP date. Undefined when it asks for no wait (0, a moment in the past) or is unreadable: then the
 * ordinary back-off applies.
 */
export function readRetryAfter(header: string | undefined, now: Date): number | undefined {
  const text = header?.trim() ?? '';
  const milliseconds = /^\d+$/.test(text)
    ? Math.min(Number(text) * 1000, Number.MAX_SAFE_INTEGER)
    : httpDate.test(text)
      ? Date.parse(text) - now.getTime()
      : Number.NaN;
  return milliseconds > 0 ? milliseconds : undefined;
}

/** Percent-encodes a name or value of a query. A slash may stand in a query as it is. (RFC 3986, 3.4.) */
export function encodeQueryPart(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll('%2F', '/');
}

/**
 * Whether an address has an @ after its host. Then an unescaped `/`, `?` or `#` in its password ended the host early,
 * and the rest of the password follows. Such an address must not be shown.
 */
export function mayContainUnescapedPassword(address: string): boolean {
  return /^[a-z0-9+.-]+:\/\/[^/?#]*[/?#].*@/is.test(address);
}

/** Only the host and port of an address: safe to show. */
export function describeHost(address: string): string {
  const { hostname, port, protocol } = new URL(address);
  return `${hostname}:${port || (protocol === 'http:' ? '80' : '443')}`;
}
