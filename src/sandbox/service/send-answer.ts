import type { ServerResponse } from 'node:http';
import type { Answer } from '../common/answer.js';

/** How refusals and errors are written: as the envelope of spec 2.1 or as `{code, message}`. Success is always the envelope. */
export type ErrorShape = 'envelope' | 'code-message';

/** An answer as sent over the wire. */
interface RenderedAnswer {
  readonly httpStatus: number;
  /** Absent for an HTML page. */
  readonly statusCode?: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const page =
  '<!doctype html>\n<html><head><title>Maintenance</title></head><body><h1>We will be back soon</h1></body></html>\n';

export function renderAnswer(answer: Answer, errorShape: ErrorShape): RenderedAnswer {
  switch (answer.kind) {
    case 'success':
      return renderJson(200, 2000, {
        ...answer.content,
        ...{ Status: true, Message: answer.message, StatusCode: 2000 },
      });
    case 'refusal':
      return renderJson(200, answer.statusCode, toErrorBody(answer.statusCode, answer.message, errorShape));
    case 'error': {
      const statusCode = statusCodeOf(answer.httpStatus);
      const error = toErrorBody(statusCode, answer.message, errorShape);
      return renderJson(answer.httpStatus, statusCode, error, answer.headers);
    }
    case 'page':
      return { httpStatus: 200, ...renderBody('text/html; charset=utf-8', page) };
  }
}

function toErrorBody(statusCode: number, message: string, errorShape: ErrorShape): object {
  switch (errorShape) {
    case 'envelope':
      return { Status: false, Message: message, StatusCode: statusCode };
    case 'code-message':
      return { code: statusCode, message };
  }
}

/** The StatusCode for an HTTP status. (Assumed: the specification gives none.) */
function statusCodeOf(httpStatus: number): number {
  if (httpStatus === 401 || httpStatus === 403) return 2003;
  if (httpStatus === 429) return 2030;
  return httpStatus >= 500 ? 2001 : 2002;
}

function renderJson(
  httpStatus: number,
  statusCode: number,
  content: object,
  headers?: Readonly<Record<string, string>>,
): RenderedAnswer {
  const rendered = renderBody('application/json', JSON.stringify(content));
  return { httpStatus, statusCode, ...rendered, headers: { ...rendered.headers, ...headers } };
}

function renderBody(contentType: string, text: string): Pick<RenderedAnswer, 'headers' | 'body'> {
  const body = Buffer.from(text);
  return { headers: { 'Content-Type': contentType, 'Content-Length': String(body.length) }, body };
}

export interface SentAnswer {
  readonly httpStatus: number;
  /** Absent for an HTML page. */
  readonly statusCode?: number;
}

/** Sends an answer; returns undefined when the client is gone. */
export function sendAnswer(
  response: ServerResponse,
  answer: Answer,
  errorShape: ErrorShape,
): SentAnswer | undefined {
  if (response.req.socket.destroyed) return undefined;
  const { httpStatus, statusCode, headers, body } = renderAnswer(answer, errorShape);
  response.writeHead(httpStatus, headers).end(body);
  return { httpStatus, ...(statusCode !== undefined && { statusCode }) };
}
