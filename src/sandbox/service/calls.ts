import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Answer } from '../common/answer.js';
import { nameReason } from '../common/errors.js';
import type { FaultPlan } from '../common/faults.js';
import type { Exports } from '../export/exports.js';
import type { FileReview } from '../file-review/file-review.js';
import { createSyncLocks, type MappingPages } from '../mapping-pages/mapping-pages.js';
import type { IncorrectMapping, Outbox } from '../outbox/outbox.js';
import type { Brand } from '../world/hotel-content.js';
import type { HotelDirectory } from '../world/world.js';
import { giveBrands, giveMappings, reviewByBody, reviewByFile } from './operations.js';
import { performCall } from './perform-call.js';
import type { OperationRoute } from './route.js';
import { type ErrorShape, sendAnswer } from './send-answer.js';
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
  readonly world: HotelDirectory;
  readonly brands: readonly Brand[];
  readonly pages: MappingPages;
  readonly exports: Pick<Exports, 'accept'>;
  readonly faults: Pick<FaultPlan, 'nextCall'>;
  readonly fileReview: Pick<FileReview, 'accept'>;
  readonly outbox: Outbox;
  readonly clock: () => number;
  readonly onEvent: (event: ServiceEvent) => void;
}

export function createCalls(options: CallsOptions): Calls {
  const { pages, exports, fileReview, outbox, onEvent } = options;
  const counts = { calls: 0, reviewed: 0, incorrect: 0, mappings: 0, refusedCalls: 0, faults: 0 };
  const locks = createSyncLocks();
  const emails = new Set<Promise<void>>();

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
        return giveMappings(request.headers, parameters, { pages, locks });
      case 'brands':
        return giveBrands(options.brands);
      case 'export': {
        const answer = exports.accept(parameters);
        return { answer, outcome: { operation, isAccepted: answer.kind === 'success' } };
      }
    }
  }

  function count({ answer, outcome }: PerformedCall): void {
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
      const fault = options.faults.nextCall();
      if (fault) counts.faults += 1;
      const about = `the request body of ${formatTime(options.clock())}`;

      let performed: PerformedCall | undefined;
      const call = {
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
        send: (answer: Answer) => sendAnswer(response, answer, options.errorShape),
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

function formatTime(instant: number): string {
  return `${new Date(instant).toISOString().slice(11, 19)} UTC`;
}
