import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { TooLateError } from '../../base/abort.js';
import { codeOf, describeError, UsageError } from '../../base/safe-error.js';
import { CaseRefusedError } from '../../cases/case-requests.js';
import { LedgerAwayError, LedgerFullError, LedgerUnusableError } from '../../ledger/errors.js';
import { DayBusyError } from '../../review/day/join-run.js';
import { KeyError } from '../../storage/day-keys.js';

/** The part of a logger that the server uses; pino's loggers fit. */
export interface ServerLog {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** The class of each error status, for programs that read only the body. */
const classes = {
  400: 'malformed',
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not-found',
  405: 'wrong-method',
  406: 'not-acceptable',
  408: 'too-slow',
  409: 'usage',
  413: 'too-large',
  415: 'wrong-content-type',
  421: 'wrong-host',
  422: 'future-day',
  429: 'too-many-attempts',
  431: 'headers-too-large',
  500: 'internal',
  503: 'unavailable',
} as const;

/** A request that is answered with an error status. The message goes to the caller as it is. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  constructor(
    readonly status: keyof typeof classes,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
    /** Only where a status has several. */
    readonly errorClass: string = classes[status],
  ) {
    super(message);
  }
}

/** The response to a refused request; its body is `{"error":{"class","message"}}`. */
function writeError({ message, headers, errorClass }: HttpError) {
  return {
    headers: { ...headers, 'cache-control': 'no-store', 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify({ error: { class: errorClass, message } }),
  };
}

/** The response to an error of any kind. Messages of other libraries are withheld: they might quote the request. */
export function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof LedgerAwayError || error instanceof TooLateError)
    return tryLater('the ledger does not answer: send the request again in a moment');
  // Bookings whose key was destroyed as agreed, or lost. The message says which, and what to do.
  if (error instanceof KeyError) return new HttpError(409, error.message, {}, 'unreadable');
  // Its path is in the log of this process, and no concern of the caller.
  if (error instanceof LedgerFullError)
    return tryLater('the disk of the ledger is full: send the request again once there is some space');
  if (error instanceof LedgerUnusableError)
    return tryLater('the ledger cannot be used: the log of this process says why');
  // The state of the day or of the case needs a person's decision; the message says which.
  if (error instanceof UsageError || error instanceof DayBusyError || error instanceof CaseRefusedError)
    return new HttpError(409, error.message);
  const status = readStatus(error);
  return status === 500
    ? new HttpError(500, 'internal error: see the log of this process')
    : new HttpError(status, status === 413 ? 'the body is too large' : 'the request cannot be read');
}

export function tryLater(message: string, seconds = 10): HttpError {
  return new HttpError(503, message, { 'retry-after': String(seconds) });
}

/** The framework's own errors carry their status; on any other error `statusCode` means something else. */
function readStatus(error: unknown): HttpError['status'] {
  if (!codeOf(error)?.startsWith('FST_')) return 500;
  const { statusCode = 500 } = error as { readonly statusCode?: number };
  // The path is longer than any that exists.
  if (statusCode === 414) return 404;
  if (statusCode in classes) return statusCode as HttpError['status'];
  return statusCode >= 400 && statusCode < 500 ? 400 : 500;
}

/** Gives all errors the same form of response. */
export function setErrorAnswers(app: FastifyInstance, log: ServerLog): void {
  app.setErrorHandler((error, request, reply) => sendError(reply, answerError(log, request, error)));
  app.setNotFoundHandler((_request, reply) => sendError(reply, nothingHere()));
}

export function stopping(): HttpError {
  return tryLater('this process is stopping', 5);
}

export function nothingHere(): HttpError {
  return new HttpError(404, 'there is nothing at this path');
}

/** The response to an error, which is logged if it is not the caller's fault, such as a body that is cut off. */
export function answerError(log: ServerLog, { routeOptions, raw }: FastifyRequest, error: unknown) {
  const answer = toHttpError(error);
  const { status } = answer;
  // A caller that has left gets no answer: its work was stopped.
  if (status >= 500 && error !== answer && raw.complete && !raw.socket.destroyed)
    log.error({ path: routeOptions.url, status, error: describeError(error) }, 'request failed');
  return answer;
}

export function sendError(reply: FastifyReply, error: HttpError): FastifyReply {
  const { headers, body } = writeError(error);
  return reply.code(error.status).headers(headers).send(body);
}

/** Responds to what is not HTTP or did not arrive in time, and ends the connection. */
export function refuseBrokenRequest(error: { readonly code?: string }, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const answer = breaks[error.code ?? ''] ?? new HttpError(400, 'the request is not HTTP/1.1');
  const { headers, body } = writeError(answer);
  const last = { ...headers, 'content-length': Buffer.byteLength(body), connection: 'close' };
  const head = Object.entries(last).map(([name, value]) => `${name}: ${value}\r\n`);
  const start = `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}\r\n`;
  socket.end(`${start}${head.join('')}\r\n${body}`, () => socket.destroy());
}

const breaks: Readonly<Record<string, HttpError>> = {
  ERR_HTTP_REQUEST_TIMEOUT: new HttpError(408, 'the request did not arrive completely in time'),
  HPE_HEADER_OVERFLOW: new HttpError(431, 'the headers are too large'),
};

/** Refuses any other method on a path. */
export function allowOnly(
  app: FastifyInstance,
  allow: 'GET, HEAD' | 'POST' | 'GET, HEAD, POST',
  url: string,
): void {
  const method = app.supportedMethods.filter((other) => !allow.split(', ').includes(other));
  const handler = async () => {
    throw new HttpError(405, `this path only accepts ${allow}`, { allow });
  };
  app.route({ url, method, handler });
}
