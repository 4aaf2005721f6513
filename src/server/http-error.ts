import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { LedgerAwayError } from '../review/ledger.js';
import { UsageError } from '../review/refusals.js';
import { describeError } from '../text/safe-error.js';
import { TooLateError } from './deadline.js';
import type { ServerLog } from './ports.js';

/** One class for each status that is no success, for programs that read the error alone. */
const classes = {
  400: 'malformed',
  401: 'unauthenticated',
  404: 'not-found',
  405: 'wrong-method',
  408: 'too-slow',
  409: 'usage',
  413: 'too-large',
  415: 'wrong-content-type',
  422: 'future-day',
  431: 'headers-too-large',
  500: 'internal',
  503: 'unavailable',
} as const;

export type ErrorStatus = keyof typeof classes;

/** A request is answered with a status that is no success. Its message goes to the caller as it is. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  constructor(
    readonly status: ErrorStatus,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}

/** The error as it is written everywhere: `{"error":{"class","message"}}`. (Design 9.) */
export function renderError(status: ErrorStatus, message: string): string {
  return JSON.stringify({ error: { class: classes[status], message } });
}

/** What others call a status, as one of ours. */
export function toErrorStatus(status: number | undefined): ErrorStatus {
  // A path longer than any that there is.
  if (status === 414) return 404;
  if (status !== undefined && status in classes) return status as ErrorStatus;
  return status !== undefined && status >= 400 && status < 500 ? 400 : 500;
}

const retryAfter = { 'retry-after': '10' };

/** What an error of any kind is answered with. Others' words stay here: they might quote the request. */
export function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof LedgerAwayError || error instanceof TooLateError) {
    return new HttpError(503, 'the ledger does not answer: send the request again in a moment', retryAfter);
  }
  // The day is in a state that a person has to look at; the message says what to type.
  if (error instanceof UsageError) return new HttpError(409, error.message);
  const status = toErrorStatus(readStatus(error));
  return new HttpError(
    status,
    status === 500 ? 'internal error: see the log of this process' : 'the request cannot be read',
  );
}

/** The framework's own errors name their status; a number of that name on any other means something else. */
function readStatus(error: unknown): number | undefined {
  if (!(error instanceof Error && 'statusCode' in error && 'code' in error)) return undefined;
  const isFrameworks = typeof error.code === 'string' && error.code.startsWith('FST_');
  return isFrameworks && typeof error.statusCode === 'number' ? error.statusCode : undefined;
}

/** Makes all errors be answered alike, and those that are no fault of the caller's logged. */
export function setErrorAnswers(app: FastifyInstance, log: ServerLog): void {
  app.setErrorHandler((error, request, reply) => {
    const answer = toHttpError(error);
    if (answer.status >= 500 && error !== answer) {
      const path = request.routeOptions.url;
      log.error({ path, status: answer.status, error: describeError(error) }, 'request failed');
    }
    return sendError(reply, answer);
  });
  app.setNotFoundHandler((_request, reply) =>
    sendError(reply, new HttpError(404, 'there is nothing at this path')),
  );
}

export function sendError(reply: FastifyReply, { status, message, headers }: HttpError): FastifyReply {
  return reply
    .code(status)
    .headers({ ...headers, 'cache-control': 'no-store', 'content-type': 'application/json; charset=utf-8' })
    .send(renderError(status, message));
}

/** Answers what is no HTTP, or did not come in time, and ends the connection. */
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

/** Turns away what is sent to a path by any other method. */
export function allowOnly(app: FastifyInstance, method: 'GET' | 'POST', url: string): void {
  const allowed = method === 'GET' ? ['GET', 'HEAD'] : [method];
  const allow = allowed.join(', ');
  app.route({
    url,
    method: app.supportedMethods.filter((other) => !allowed.includes(other)),
    handler: async () => {
      throw new HttpError(405, `this path only accepts ${allow}`, { allow });
    },
  });
}
