import type { ServerResponse } from 'node:http';
import { type Answer, type ErrorShape, renderAnswer } from './answer.js';

/** What a client was told. */
export interface SentAnswer {
  readonly httpStatus: number;
  /** Absent on a page. */
  readonly statusCode?: number;
}

/** Hands an answer to the connection; undefined when the client is gone. */
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
