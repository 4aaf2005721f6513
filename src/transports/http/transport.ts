import {
  type ClientRequest,
  type IncomingMessage,
  Agent as PlainAgent,
  request as requestPlain,
} from 'node:http';
import { request as requestTls } from 'node:https';
import type { Socket } from 'node:net';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib';
import { type AbortWatch, createAbortWatch } from '../../base/abort.js';
import { createGate, type Gate } from '../../base/gate.js';
import { codeOf } from '../../base/safe-error.js';
import type { ConnectionRules } from './connection-rules.js';
import { type NetworkFailure, readNetworkFailure } from './network-failure.js';
import { type PeerClock, readDifference } from './peer-clocks.js';
import { createTunnelAgent } from './tunnel.js';

interface TransportOptions extends ConnectionRules {
  /** Scheme, host and port, such as `https://service.example.com`. */
  readonly origin: string;
  /** The maximum number of connections; further calls wait for a free one. */
  readonly connections: number;
  /** The limit for a whole call, from requesting a connection to the last byte of the answer. */
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
  /** How much of an answer's body is read before the connection is cut, where the request does not say it. */
  readonly maxAnswerBytes: number;
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

export interface Transport {
  /** Never throws for what the server or the network does; throws the signal's reason when aborted. */
  call(request: TransportRequest): Promise<HttpResult>;
  /** Cuts every connection; calls in flight fail. Idempotent. */
  close(): Promise<void>;
}

/**
 * HTTP calls over persistent connections: limits on time and size, no redirects, no retries, one request at a time per
 * connection. Certificates are verified even if the environment disables that.
 */
export function createTransport(options: TransportOptions): Transport {
  const { origin, connections, connectTimeoutMs } = options;
  const closing = new AbortController();
  const isTls = new URL(origin).protocol === 'https:';
  const agent = isTls
    ? createTunnelAgent(options, { keepAlive: true, connectTimeoutMs, signal: closing.signal })
    : new PlainAgent({ keepAlive: true });
  const line: Line = {
    gate: createGate(connections),
    ready: new WeakSet(),
    open: ({ path, ...request }) =>
      (isTls ? requestTls : requestPlain)(new URL(origin), { ...request, path, agent }),
    isTls,
    aborts: createAbortWatch(),
    underway: new Set<(reason: Error) => void>(),
    isClosed: () => closing.signal.aborted,
  };

  return {
    call: (request) => call(line, options, request),
    async close() {
      closing.abort();
      for (const end of [...line.underway]) end(closedError());
      agent.destroy();
    },
  };
}

/** What the calls of a transport share. */
interface Line {
  readonly open: (request: {
    readonly method: string;
    readonly path: string;
    readonly headers: Record<string, string>;
  }) => ClientRequest;
  readonly isTls: boolean;
  readonly aborts: AbortWatch;
  /** Limits the connections: an agent of Node's does not count a tunnel that is being opened. */
  readonly gate: Gate;
  /** Connections that were established. */
  readonly ready: WeakSet<Socket>;
  /** What ends each of them. */
  readonly underway: Set<(reason: Error) => void>;
  readonly isClosed: () => boolean;
}

function closedError(): Error {
  return Object.assign(new Error('the client was closed'), { code: 'ERR_CLIENT_CLOSED' });
}

function call(
  line: Line,
  { timeoutMs, connectTimeoutMs, peerClock, ...options }: TransportOptions,
  { method, path, headers, body, signal, onSent, maxAnswerBytes = options.maxAnswerBytes }: TransportRequest,
): Promise<HttpResult> {
  if (signal.aborted) return Promise.reject(signal.reason);
  if (line.isClosed())
    return Promise.resolve({ failure: readNetworkFailure(closedError(), { requestWasSent: false }) });
  return new Promise((resolve, reject) => {
    let request: ClientRequest | undefined;
    let reading: AnswerReading | undefined;
    /** Whether a byte may have left: then the server may have processed a failed call. */
    let requestWasSent = false;
    let isSettled = false;

    const settle = () => {
      isSettled = true;
      clearTimeout(timer);
      unwatch();
      line.underway.delete(fail);
      // At once: a call that has ended must not be let in by another one that ends now.
      if (request === undefined) leave();
    };
    const succeed = (read: AnswerReading, end: { readonly truncated: boolean }) => {
      if (isSettled) return;
      settle();
      resolve(unpack(read.finish(end), read.coding, maxAnswerBytes));
    };
    const fail = (error: unknown) => {
      if (isSettled) return;
      settle();
      const failure = readNetworkFailure(error, { requestWasSent });
      const answer = reading?.finish({ truncated: true });
      const known = answer && (reading?.coding === undefined ? answer : withoutBody(answer));
      resolve({ failure, ...(known && { answer: known }) });
      request?.destroy();
    };
    const watchConnection = (opened: ClientRequest, socket: Socket) => {
      const noteSent = () => {
        clearTimeout(connecting);
        line.ready.add(socket);
        requestWasSent = true;
        onSent?.();
      };
      const connecting = setTimeout(fail, connectTimeoutMs, connectTimeout());
      opened.once('close', () => clearTimeout(connecting));
      if (line.ready.has(socket)) noteSent();
      else socket.once(line.isTls ? 'secureConnect' : 'connect', noteSent);
    };
    const readAnswer = (response: IncomingMessage, sentAt: number | undefined) => {
      if (sentAt !== undefined)
        peerClock?.note(readDifference(response.headers, { sentAt, receivedAt: peerClock.clock() }));
      const read = startReading(response, maxAnswerBytes);
      reading = read;
      response
        .on('data', (chunk: Buffer) => {
          if (read.take(chunk)) return;
          succeed(read, { truncated: true });
          request?.destroy();
        })
        .on('end', () => succeed(read, { truncated: false }))
        .on('error', fail);
    };
    line.underway.add(fail);
    const unwatch = line.aborts.watch(signal, () => {
      settle();
      reject(signal.reason);
      request?.destroy();
    });
    const timer = setTimeout(() => {
      fail(new DOMException('the call took too long', 'TimeoutError'));
    }, timeoutMs);
    const leave = line.gate.enter(() => {
      const opened = line.open({ method, path, headers: toFields(headers) });
      request = opened;
      const sentAt = peerClock?.clock();
      opened
        .on('socket', (socket) => watchConnection(opened, socket))
        // Informational responses (1xx) are events of their own, and no answers.
        .on('response', (response) => readAnswer(response, sentAt))
        .on('error', fail)
        .on('close', () => {
          fail(Object.assign(new Error('no answer'), { code: 'ECONNRESET' }));
          // By then, the connection is free for the next call, or on its way to be closed.
          setImmediate(() => whenGone(opened.socket, leave));
        })
        .end(body);
    });
  });
}

/** Calls back at once if the connection is kept, or else when it is closed. */
function whenGone(socket: Socket | null | undefined, leave: () => void): void {
  if (!socket || socket.closed || !(socket.destroyed || socket.writableEnded)) leave();
  else socket.once('close', leave);
}

function connectTimeout(): Error {
  return Object.assign(new Error('connecting took too long'), { code: 'ERR_CONNECT_TIMEOUT' });
}

/** In exactly this spelling. */
function toFields(headers: readonly string[]): Record<string, string> {
  const fields: Record<string, string> = { 'Accept-Encoding': 'identity' };
  for (let index = 0; index + 1 < headers.length; index += 2)
    fields[headers[index] ?? ''] = headers[index + 1] ?? '';
  return fields;
}

const withoutBody = (answer: HttpAnswer): HttpAnswer => ({
  ...answer,
  body: Buffer.alloc(0),
  bodyTruncated: true,
});

type Decode = (body: Uint8Array, limit: { readonly maxOutputLength: number }) => Promise<Buffer>;

const decoders: ReadonlyMap<string, Decode> = new Map<string, Decode>([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  // Some servers leave out the wrapper that RFC 9110 (8.4.1.2) asks for; its first byte tells.
  ['deflate', (body, limit) => promisify((body[0] ?? 0) % 16 === 8 ? inflate : inflateRaw)(body, limit)],
  ['br', promisify(brotliDecompress)],
]);

/** The compression that a header `Content-Encoding` names; undefined for none (RFC 9110, 8.4). */
function readCoding(header: string | undefined): string | undefined {
  const codings = header?.toLowerCase().split(',') ?? [];
  const applied = codings
    .map((coding) => coding.trim())
    .filter((coding) => !['', 'identity'].includes(coding));
  return applied.length === 0 ? undefined : applied.join(', ');
}

/** Requests ask for plain answers, but a proxy may compress them regardless. */
async function unpack(answer: HttpAnswer, coding: string | undefined, maxBytes: number): Promise<HttpResult> {
  if (coding === undefined) return { answer };
  if (answer.bodyTruncated) return { answer: withoutBody(answer) };
  const decode = decoders.get(coding);
  const fail = (code: string): HttpResult => ({
    failure: { code, meaning: 'broken' },
    answer: withoutBody(answer),
  });
  if (decode === undefined) return fail('unknown-compression');
  // The answer to HEAD, or 204: named, but not there.
  if (answer.body.length === 0) return { answer };
  try {
    // A small body can expand to a very large one.
    return { answer: { ...answer, body: await decode(answer.body, { maxOutputLength: maxBytes }) } };
  } catch (error) {
    return codeOf(error) === 'ERR_BUFFER_TOO_LARGE'
      ? { answer: withoutBody(answer) }
      : fail('damaged-compression');
  }
}

interface AnswerReading {
  /** The body's compression; undefined if it has none. */
  readonly coding: string | undefined;
  /** Keeps what fits; returns whether all of it did. */
  take(chunk: Buffer): boolean;
  finish(end: { readonly truncated: boolean }): HttpAnswer;
}

function startReading({ statusCode = 0, headers }: IncomingMessage, maxBytes: number): AnswerReading {
  const { 'retry-after': retryAfter, date, link } = headers;
  const head = { status: statusCode, retryAfter, date, link: [link ?? []].flat().join(', ') || undefined };
  const chunks: Buffer[] = [];
  let remaining = maxBytes;
  return {
    coding: readCoding(headers['content-encoding']),
    take(chunk) {
      const fits = chunk.length <= remaining;
      chunks.push(fits ? chunk : chunk.subarray(0, remaining));
      remaining -= Math.min(chunk.length, remaining);
      return fits;
    },
    finish: ({ truncated }) => ({ ...head, body: Buffer.concat(chunks), bodyTruncated: truncated }),
  };
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
