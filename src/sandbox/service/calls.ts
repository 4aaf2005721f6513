import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Answer } from '../common/answer.js';
import { nameReason } from '../common/errors.js';
import type { CallFault, FaultPlan } from '../common/faults.js';
import type { Exports } from '../export/exports.js';
import type { FileReview } from '../file-review/file-review.js';
import type { LastPageKey } from '../mapping-pages/mapping-pages.js';
import type { IncorrectMapping } from '../outbox/notice.js';
import type { Outbox } from '../outbox/outbox.js';
import type { Brand } from '../world/hotel-content.js';
import type { World } from '../world/world.js';
import {
  createMappingsResponder,
  respondWithBrands,
  reviewByBody,
  reviewByFile,
} from './perform-operation.js';
import type { OperationRoute } from './route.js';
import { type ErrorShape, type SentAnswer, sendAnswer } from './send-answer.js';
import { emptyOutcome, type PerformedCall, type ServiceEvent } from './service-event.js';

export interface CallCounts {
  /** Authenticated requests to an operation. */
  readonly calls: number;
  /** Bookings accepted by body; those in files are reported with their results. */
  readonly reviewed: number;
  /** Bookings accepted by body whose mapping is incorrect. */
  readonly incorrect: number;
  /** Mappings sent on pages. */
  readonly mappings: number;
  /** Calls refused because of their content. */
  readonly refusedCalls: number;
  /** Calls hit by a fault. */
  readonly faults: number;
}

/** Serves the calls to the operations: counts them, answers them or applies a fault, and reports them as events. */
export interface Calls {
  readonly counts: CallCounts;
  serve(route: OperationRoute, request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Resolves once no e-mail is being written any more. */
  emailsWritten(): Promise<void>;
}

export interface CallsOptions {
  readonly masterIdName: string;
  readonly errorShape: ErrorShape;
  readonly world: World;
  readonly brands: readonly Brand[];
  /** How long a resume key is valid. */
  readonly resumeKeyMs: number;
  /** `null` by default. */
  readonly lastPageKey?: LastPageKey | undefined;
  /** The most mappings that a page may have; 1,000 by default. */
  readonly maxLimit?: number | undefined;
  readonly exports: Pick<Exports, 'accept'>;
  readonly faults: Pick<FaultPlan, 'nextCall'>;
  readonly fileReview: Pick<FileReview, 'accept'>;
  readonly outbox: Outbox;
  readonly clock: () => number;
  readonly onEvent: (event: ServiceEvent) => void;
}

export function createCalls(options: CallsOptions): Calls {
  const { exports, fileReview, outbox, errorShape, clock, onEvent } = options;
  const counts = { calls: 0, reviewed: 0, incorrect: 0, mappings: 0, refusedCalls: 0, faults: 0 };
  const respondWithMappings = createMappingsResponder(options);
  const emails = new Set<Promise<void>>();

  /** Undefined when the client left before its body was complete. */
  async function perform(
    { operation, parameters }: OperationRoute,
    request: IncomingMessage,
  ): Promise<PerformedCall | undefined> {
    switch (operation) {
      case 'by-body':
        return reviewByBody(request, options);
      case 'by-file':
        return reviewByFile(parameters, fileReview);
      case 'mappings':
        return respondWithMappings(request.headers, parameters);
      case 'brands':
        return respondWithBrands(options.brands);
      case 'export': {
        const answer = exports.accept(parameters);
        return { answer, outcome: { operation, isAccepted: answer.kind === 'success' } };
      }
    }
  }

  function count({ answer, outcome }: PerformedCall): void {
    if (answer.kind !== 'success') counts.refusedCalls += 1;
    if (outcome.operation === 'by-body') {
      counts.reviewed += outcome.bookings;
      counts.incorrect += outcome.incorrect;
    } else if (outcome.operation === 'mappings') counts.mappings += outcome.mappings;
  }

  async function writeEmail(number: number, about: string, incorrect: readonly IncorrectMapping[]) {
    const details = { number, incorrect: incorrect.length };
    try {
      const email = await outbox.notify({ about, incorrect });
      onEvent({ kind: 'email-written', ...details, email });
    } catch (error) {
      onEvent({ kind: 'email-failed', ...details, reason: nameReason(error) });
    }
  }

  return {
    counts,
    async serve(route, request, response) {
      // Numbered when the head arrives, so that overtaking calls keep their numbers.
      counts.calls += 1;
      const number = counts.calls;
      const fault = options.faults.nextCall(route.operation);
      if (fault) counts.faults += 1;
      const about = `the request body of ${new Date(clock()).toISOString().slice(11, 19)} UTC`;

      let performed: PerformedCall | undefined;
      const call: Call = {
        request,
        async perform() {
          performed = await perform(route, request);
          if (performed) count(performed);
          return performed?.answer;
        },
        async notify() {
          const incorrect = performed?.incorrect ?? [];
          if (incorrect.length === 0) return;
          const writing = writeEmail(number, about, incorrect).finally(() => emails.delete(writing));
          emails.add(writing);
          await writing;
        },
        send: (answer) => sendAnswer(response, answer, errorShape),
      };
      const sent = await performCall(call, fault).finally(() => performed?.end?.());

      const outcome = performed?.outcome ?? emptyOutcome(route.operation);
      const details = { number, ...outcome, ...(fault && { fault }) };
      onEvent(sent ? { kind: 'answered', ...details, ...sent } : { kind: 'unanswered', ...details });
    },
    async emailsWritten() {
      await Promise.all(emails);
    },
  };
}

/** An authenticated call to an operation. */
interface Call {
  readonly request: IncomingMessage;
  /** Does what the call asks for. Resolves to undefined when the client left before its body was complete. */
  perform(): Promise<Answer | undefined>;
  /** Writes the e-mail about the review, if one is due. Never rejects. */
  notify(): Promise<void>;
  /** Returns undefined when the client is gone. */
  send(answer: Answer): SentAnswer | undefined;
}

/** Answers a call, properly or with a fault. Resolves to undefined when it ended without an answer. */
async function performCall(call: Call, fault: CallFault | undefined): Promise<SentAnswer | undefined> {
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
    case 'done-status': {
      if ((await call.perform()) === undefined) return undefined;
      await call.notify();
      const message = `A fault of the sandbox: HTTP status ${fault.status}, although the call was performed.`;
      return call.send({ kind: 'error', httpStatus: fault.status, message });
    }
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
