import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CaseRefusedError } from '../cases/case-requests.js';
import { KeyError } from '../keys/day-keys.js';
import { LedgerAwayError, LedgerFullError } from '../ledger/errors.js';
import { DayBusyError } from '../review/day/join-run.js';
import { describeError } from '../text/safe-error.js';
import { UsageError } from '../text/usage-error.js';
import { TooLateError } from './deadline.js';
import type { ServerLog } from './ports.js';

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

type ErrorStatus = keyof typeof classes;

/** A request that is answered with an error status. The message goes to the caller as it is. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  constructor(
    readonly status: ErrorStatus,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
    /** Only where a status has several. */
    readonly errorClass: string = classes[status],
  ) {
    super(message);
  }
}

/** The body of an error response: `{"error":{"class","message"}}`. */
export function renderError(
  status: ErrorStatus,
  message: string,
  errorClass: string = classes[status],
): string {
  return JSON.stringify({ error: { class: errorClass, message } });
}

/** Maps any status to one of ours. */
function toErrorStatus(status: number | undefined): ErrorStatus {
  // The path is longer than any that exists.
  if (status === 414) return 404;
  if (status !== undefined && status in classes) return status as ErrorStatus;
  return status !== undefined && status >= 400 && status < 500 ? 400 : 500;
}

const retryAfter = { 'retry-after': '10' };

/** The response to an error of any kind. Messages of other libraries are withheld: they might quote the request. */
export function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof LedgerAwayError || error instanceof TooLateError) {
    return new HttpError(503, 'the ledger does not answer: send the request again in a moment', retryAfter);
  }
  // Bookings whose key was destroyed as agreed, or lost. The message says which, and what to do.
  if (error instanceof KeyError) return new HttpError(409, error.message, {}, 'unreadable');
  if (error instanceof LedgerFullError) {
    // Its path is in the log of this process, and no concern of the caller.
    return new HttpError(
      503,
      'the disk of the ledger is full: send the request again once there is some space',
      retryAfter,
    );
  }
  // The state of the day or of the case needs a person's decision; the message says which.
  const refusals = [UsageError, DayBusyError, CaseRefusedError];
  if (refusals.some((refusal) => error instanceof refusal))
    return new HttpError(409, (error as Error).message);
  const status = toErrorStatus(readStatus(error));
  return new HttpError(
    status,
    status === 500 ? 'internal error: see the log of this process' : 'the request cannot be read',
  );
}

/** The framework's own errors carry their status; on any other error `statusCode` means something else. */
function readStatus(error: unknown): number | undefined {
  if (!(error instanceof Error && 'statusCode' in error && 'code' in error)) return undefined;
  const isFrameworks = typeof error.code === 'string' && error.code.startsWith('FST_');
  return isFrameworks && typeof error.statusCode === 'number' ? error.statusCode : undefined;
}

/** Gives all errors the same form of response, and logs those that are not the caller's fault. */
export function setErrorAnswers(app: FastifyInstance, log: ServerLog): void {
  app.setErrorHandler((error, request, reply) => {
    const answer = toHttpError(error);
    logFailure(log, request, error, answer);
    return sendError(reply, answer);
  });
  app.setNotFoundHandler((_request, reply) => sendError(reply, nothingHere()));
}

export function nothingHere(): HttpError {
  return new HttpError(404, 'there is nothing at this path');
}

export function logFailure(
  log: ServerLog,
  { routeOptions }: FastifyRequest,
  error: unknown,
  answer: HttpError,
): void {
  if (answer.status < 500 || error === answer) return;
  const { status } = answer;
  log.error({ path: routeOptions.url, status, error: describeError(error) }, 'request failed');
}

export function sendError(
  reply: FastifyReply,
  { status, message, headers, errorClass }: HttpError,
): FastifyReply {
  return reply
    .code(status)
    .headers({ ...headers, 'cache-control': 'no-store', 'content-type': 'application/json; charset=utf-8' })
    .send(renderError(status, message, errorClass));
}

/** Responds to what is not HTTP or did not arrive in time, and ends the connection. */
export function refuseBrokenRequest(error: { readonly code?: string }, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const [status, phrase, message] = nameBreak(error.code);
  const body = renderError(status, message);
  const head = [
    `HTTP/1.1 ${status} ${phrase}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'cache-control: no-store',
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

function nameBreak(code: string | undefined): [ErrorStatus, string, string] {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return [408, 'Request Timeout', 'the request did not arrive completely in time'];
    case 'HPE_HEADER_OVERFLOW':
      return [431, 'Request Header Fields Too Large', 'the headers are too large'];
    default:
      return [400, 'Bad Request', 'the request is not HTTP/1.1'];
  }
}

/** Refuses any other method on a path. */
export function allowOnly(
  app: FastifyInstance,
  allowed: readonly ('GET' | 'HEAD' | 'POST')[],
  url: string,
): void {
  const allow = allowed.join(', ');
  app.route({
    url,
    method: app.supportedMethods.filter((other) => !(allowed as readonly string[]).includes(other)),
    handler: async () => {
      throw new HttpError(405, `this path only accepts ${allow}`, { allow });
    },
  });
}
