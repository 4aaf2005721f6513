import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Answer } from '../common/answer.js';
import { nameReason } from '../common/errors.js';
import type { FaultPlan } from '../common/faults.js';
import type { Exports } from '../export/exports.js';
import type { FileReview } from '../file-review/file-review.js';
import { createTurns, type MappingPages } from '../mapping-pages/mapping-pages.js';
import type { IncorrectMapping, Outbox } from '../outbox/outbox.js';
import type { Brand } from '../world/hotel-content.js';
import type { HotelDirectory } from '../world/world.js';
import { giveBrands, giveMappings, reviewByBody, reviewByFile } from './operations.js';
import { performCall } from './perform-call.js';
import type { OperationRoute } from './route.js';
import { type ErrorShape, sendAnswer } from './send-answer.js';
import { noOutcome, type Performed, type ServiceEvent } from './service-event.js';

export interface CallCounts {
  /** Requests that reached an operation with a right key. */
  readonly calls: number;
  /** Bookings that were taken by body; those of files are counted where their results are made. */
  readonly reviewed: number;
  /** Of these, how many are incorrectly mapped. */
  readonly incorrect: number;
  /** Mappings that were given, page by page. */
  readonly mappings: number;
  /** Calls that were refused for what they sent. */
  readonly refusedCalls: number;
  /** Calls that met a fault. */
  readonly faults: number;
}

/** The calls of the operations: counted, answered or met by a fault, and told as events. */
export interface Calls {
  readonly counts: CallCounts;
  serve(route: OperationRoute, request: IncomingMessage, response: ServerResponse): Promise<void>;
}

export interface CallsOptions {
  readonly masterIdName: string;
  readonly errorShape: ErrorShape;
  readonly world: HotelDirectory;
  readonly brands: readonly Brand[];
  readonly pages: MappingPages;
  readonly exports: Pick<Exports, 'take'>;
  readonly faults: Pick<FaultPlan, 'nextCall'>;
  readonly fileReview: Pick<FileReview, 'take'>;
  readonly emails: Pick<Emails, 'write'>;
  readonly clock: () => number;
  readonly onEvent: (event: ServiceEvent) => void;
}

export function createCalls(options: CallsOptions): Calls {
  const counts = { calls: 0, reviewed: 0, incorrect: 0, mappings: 0, refusedCalls: 0, faults: 0 };
  const turns = createTurns();

  async function perform(
    { operation, parameters }: OperationRoute,
    request: IncomingMessage,
  ): Promise<Performed | undefined> {
    switch (operation) {
      case 'by-body':
        return reviewByBody(request, options);
      case 'by-file':
        return reviewByFile(parameters, options.fileReview);
      case 'mappings':
        return giveMappings(request.headers, parameters, { pages: options.pages, turns });
      case 'brands':
        return giveBrands(options.brands);
      case 'export': {
        const answer = options.exports.take(parameters);
        return { answer, outcome: { operation, isTaken: answer.kind === 'success' } };
      }
    }
  }

  function count({ answer, outcome }: Performed): void {
    if (answer.kind !== 'success') counts.refusedCalls += 1;
    switch (outcome.operation) {
      case 'by-body':
        counts.reviewed += outcome.bookings;
        counts.incorrect += outcome.incorrect;
        return;
      case 'mappings':
        counts.mappings += outcome.mappings;
        return;
      case 'by-file':
      case 'brands':
      case 'export':
    }
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

      let performed: Performed | undefined;
      const call = {
        request,
        async perform() {
          performed = await perform(route, request);
          if (performed) count(performed);
          return performed?.answer;
        },
        async notify() {
          const incorrect = performed?.incorrect ?? [];
          if (incorrect.length > 0) await options.emails.write(number, about, incorrect);
        },
        send: (answer: Answer) => sendAnswer(response, answer, options.errorShape),
      };
      const sent = await performCall(call, fault).finally(() => performed?.end?.());

      const outcome = performed?.outcome ?? noOutcome(route.operation);
      const told = { number, ...outcome, ...(fault && { fault }) };
      options.onEvent(sent ? { kind: 'answered', ...told, ...sent } : { kind: 'unanswered', ...told });
    },
  };
}

function writeTime(instant: number): string {
  return `${new Date(instant).toISOString().slice(11, 19)} UTC`;
}

/** Writes e-mails beside the calls that they belong to. */
export interface Emails {
  /** Resolves when the e-mail is written, or when that failed, which is told as an event. */
  write(number: number, about: string, incorrect: readonly IncorrectMapping[]): Promise<void>;
  /** Resolves when no e-mail is being written any more. */
  written(): Promise<void>;
}

export function createEmails(outbox: Outbox, onEvent: (event: ServiceEvent) => void): Emails {
  const open = new Set<Promise<void>>();

  async function notify(number: number, about: string, incorrect: readonly IncorrectMapping[]) {
    const told = { number, incorrect: incorrect.length };
    try {
      const email = await outbox.notify({ about, incorrect });
      onEvent({ kind: 'email-written', ...told, email });
    } catch (error) {
      onEvent({ kind: 'email-failed', ...told, reason: nameReason(error) });
    }
  }

  return {
    write(number, about, incorrect) {
      const writing = notify(number, about, incorrect).finally(() => open.delete(writing));
      open.add(writing);
      return writing;
    },
    async written() {
      await Promise.all(open);
    },
  };
}
