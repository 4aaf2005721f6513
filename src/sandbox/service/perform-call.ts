import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Answer } from '../common/answer.js';
import type { CallFault } from '../common/faults.js';
import { dropBody } from './review-body.js';
import type { SentAnswer } from './send-answer.js';

/** A call of an operation that came with a right key. */
export interface Call {
  readonly request: IncomingMessage;
  /** Does what it asks for, and says what to answer; undefined when the client left before its body was whole. */
  perform(): Promise<Answer | undefined>;
  /** Writes the e-mail about what was reviewed, if there is anything to write. It never throws. */
  notify(): Promise<void>;
  /** Undefined when the client is gone. */
  send(answer: Answer): SentAnswer | undefined;
}

/** Answers a call, properly or with the fault that it meets. Undefined when it ended without an answer. */
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
      // The body is let through nevertheless: only who reads notices that the client leaves.
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
  if (seconds > 0) await holdUp(call.request, seconds);
  const sent = call.send(answer);
  // The e-mail doesn't hold up the answer, and is written too when nobody waited for that.
  void call.notify();
  return sent;
}

async function answerUnperformed(call: Call, answer: Answer): Promise<SentAnswer | undefined> {
  return (await dropBody(call.request)) ? call.send(answer) : undefined;
}

/** Waits so long, or until the client leaves. */
async function holdUp({ socket }: IncomingMessage, seconds: number): Promise<void> {
  const gone = new AbortController();
  const leave = () => gone.abort();
  socket.once('close', leave);
  if (!socket.destroyed) await delay(seconds * 1000, undefined, { signal: gone.signal }).catch(() => {});
  socket.off('close', leave);
}
