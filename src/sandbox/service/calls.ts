import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FaultPlan } from '../faults.js';
import type { FileReview } from '../file-review/file-review.js';
import type { World } from '../world.js';
import type { Answer, ErrorShape } from './answer.js';
import type { Letters } from './letters.js';
import { performCall } from './perform-call.js';
import { type Reviewed, reviewByBody, reviewByFile } from './review.js';
import type { Route } from './route.js';
import { sendAnswer } from './send-answer.js';
import type { ServiceEvent } from './service-event.js';

export interface CallCounts {
  /** Requests that reached a review operation with a right key. */
  readonly calls: number;
  /** Bookings that were taken by body; those of files are counted where their results are made. */
  readonly reviewed: number;
  /** Of these, how many are incorrectly mapped. */
  readonly incorrect: number;
  /** Calls that were refused for what they sent. */
  readonly refusedCalls: number;
  /** Calls that met a fault. */
  readonly faults: number;
}

export type ReviewRoute = Extract<Route, { kind: 'by-body' | 'by-file' }>;

/** The calls of the review operations: counted, answered or met by a fault, and told as events. */
export interface Calls {
  readonly counts: CallCounts;
  serve(route: ReviewRoute, request: IncomingMessage, response: ServerResponse): Promise<void>;
}

export interface CallsOptions {
  readonly masterIdName: string;
  readonly errorShape: ErrorShape;
  readonly world: World;
  readonly faults: Pick<FaultPlan, 'nextCall'>;
  readonly fileReview: Pick<FileReview, 'take'>;
  readonly letters: Pick<Letters, 'write'>;
  readonly clock: () => number;
  readonly onEvent: (event: ServiceEvent) => void;
}

export function createCalls(options: CallsOptions): Calls {
  const counts = { calls: 0, reviewed: 0, incorrect: 0, refusedCalls: 0, faults: 0 };

  function count(route: ReviewRoute, { answer, bookings, incorrect }: Reviewed): void {
    if (answer.kind !== 'success') counts.refusedCalls += 1;
    if (route.kind === 'by-body') counts.reviewed += bookings;
    counts.incorrect += incorrect.length;
  }

  return {
    counts,
    async serve(route, request, response) {
      // Counted when its head came, so that calls that overtake each other keep their numbers.
      counts.calls += 1;
      const number = counts.calls;
      const fault = options.faults.nextCall();
      if (fault) counts.faults += 1;
      const about = `the request body of ${writeTime(options.clock())}`;

      let reviewed: Reviewed | undefined;
      const call = {
        request,
        async review() {
          reviewed = await review(route, request, options);
          if (reviewed) count(route, reviewed);
          return reviewed?.answer;
        },
        async notify() {
          const incorrect = reviewed?.incorrect ?? [];
          if (incorrect.length > 0) await options.letters.write(number, about, incorrect);
        },
        send: (answer: Answer) => sendAnswer(response, answer, options.errorShape),
      };
      const sent = await performCall(call, fault);

      const { bookings = 0, incorrect = [] } = reviewed ?? {};
      const taken = { bookings, incorrect: incorrect.length };
      const told = { number, operation: route.kind, ...taken, ...(fault && { fault }) };
      options.onEvent(sent ? { kind: 'answered', ...told, ...sent } : { kind: 'unanswered', ...told });
    },
  };
}

async function review(
  route: ReviewRoute,
  request: IncomingMessage,
  options: CallsOptions,
): Promise<Reviewed | undefined> {
  switch (route.kind) {
    case 'by-body':
      return reviewByBody(request, options);
    case 'by-file':
      return reviewByFile(route.ftpFilePath, options.fileReview);
  }
}

function writeTime(instant: number): string {
  return `${new Date(instant).toISOString().slice(11, 19)} UTC`;
}
