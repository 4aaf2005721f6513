import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Answer } from '../common/answer.js';
import type { CallFault } from '../common/faults.js';
import type { SentAnswer } from './send-answer.js';

/** An authenticated call to an operation. */
export interface Call {
  readonly request: IncomingMessage;
  /** Does what the call asks for. Resolves to undefined when the client left before its body was complete. */
  perform(): Promise<Answer | undefined>;
  /** Writes the e-mail about the review, if one is due. Never rejects. */
  notify(): Promise<void>;
  /** Returns undefined when the client is gone. */
  send(answer: Answer): SentAnswer | undefined;
}

/**
 * Answers a call, properly or with a fault.
 *
 * @returns undefined when the call ended without an answer
 */
export async function performCall(call: Call, fault: CallFault | undefined): Promise<SentAnswer | undefined> {
  const { socket } = call.request;
  switch (fault?.kind) {
    case undefined:
      return answerAfter(0, call);
    case 'latency':
      return answerAfter(fault.seconds, call);
    case 'status': {
      const { status: httpStatus, retryAfterSeconds: seconds } = fault;
      const message = `A fault of the sandbox: HTTP status ${httpStatus}.`;
      const headers = seconds === undefined ? {} : { 'Retry-After': String(seconds) };
      return answerUnperformed(call, { kind: 'error', httpStatus, message, headers });
    }
    case 'refuse': {
      const { statusCode } = fault;
      const message = `A fault of the sandbox: refused with ${statusCode}.`;
      return answerUnperformed(call, { kind: 'refusal', statusCode, message });
    }
    case 'page':
      return answerUnperformed(call, { kind: 'page' });
    case 'hang':
      // The body is read nevertheless: otherwise the socket would never notice that the client leaves.
      await dropBody(call.request);
      if (!socket.destroyed) await once(socket, 'close');
      return undefined;
    case 'drop':
      await dropBody(call.request);
      socket.destroy();
      return undefined;
    case 'lost-answer':
      await call.perform();
      await call.notify();
      socket.destroy();
      return undefined;
  }
}

async function answerAfter(seconds: number, call: Call): Promise<SentAnswer | undefined> {
  const answer = await call.perform();
  if (answer === undefined) return undefined;
  if (seconds > 0) await waitWhileConnected(call.request, seconds);
  const sent = call.send(answer);
  // The e-mail doesn't delay the answer, and is written even if nobody waited for that.
  void call.notify();
  return sent;
}

async function answerUnperformed(call: Call, answer: Answer): Promise<SentAnswer | undefined> {
  return (await dropBody(call.request)) ? call.send(answer) : undefined;
}

/** Reads and discards a request's body; false when the client left before it was complete. */
function dropBody(request: IncomingMessage): Promise<boolean> {
  return new Promise((resolve) => {
    request.resume();
    request.once('end', () => resolve(true));
    request.once('close', () => resolve(false));
  });
}

async function waitWhileConnected({ socket }: IncomingMessage, seconds: number): Promise<void> {
  const gone = new AbortController();
  const onClose = () => gone.abort();
  socket.once('close', onClose);
  if (!socket.destroyed) await delay(seconds * 1000, undefined, { signal: gone.signal }).catch(() => {});
  socket.off('close', onClose);
}
