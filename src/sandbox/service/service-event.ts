import type { Answer } from '../common/answer.js';
import type { CallFault } from '../common/faults.js';
import type { IncorrectMapping, SentEmail } from '../outbox/outbox.js';

/** The operations: of spec 4.1, 4.2, 4.3, 4.4 and 4.5. */
export type Operation = 'mappings' | 'by-body' | 'by-file' | 'brands' | 'export';

/** What a call came to, without guests' names, keys and addresses. */
export type CallOutcome =
  | {
      readonly operation: 'by-body' | 'by-file';
      /** Taken for review: bookings of the body, or rows of the file. */
      readonly bookings: number;
      /** Of the bookings taken by body, how many are incorrectly mapped; a file's are known with its result. */
      readonly incorrect: number;
    }
  | {
      readonly operation: 'mappings';
      /** On the page. */
      readonly mappings: number;
      readonly isLastPage: boolean;
    }
  | { readonly operation: 'brands'; readonly brands: number }
  | { readonly operation: 'export'; readonly isTaken: boolean };

/** What became of a call that was looked at properly. */
export interface Performed {
  readonly answer: Answer;
  readonly outcome: CallOutcome;
  /** The bookings that an e-mail is to be written about. */
  readonly incorrect?: readonly IncorrectMapping[];
  /** To be called when the call has ended, answered or not. */
  readonly end?: () => void;
}

/** Of a call that did nothing. */
export function noOutcome(operation: Operation): CallOutcome {
  switch (operation) {
    case 'by-body':
    case 'by-file':
      return { operation, bookings: 0, incorrect: 0 };
    case 'mappings':
      return { operation, mappings: 0, isLastPage: false };
    case 'brands':
      return { operation, brands: 0 };
    case 'export':
      return { operation, isTaken: false };
  }
}

/** What happened in the service, without guests' names, keys and addresses. */
export type ServiceEvent =
  /** A request that came to no operation (404, 405) or with the headers of no account (403): it is no call. */
  | { readonly kind: 'turned-away'; readonly httpStatus: number }
  | (CallEvent & {
      readonly kind: 'answered';
      readonly httpStatus: number;
      /** Absent when a page was sent. */
      readonly statusCode?: number;
    })
  /** The connection was closed without an answer: by a fault, by the client or by `close`. */
  | (CallEvent & { readonly kind: 'unanswered' })
  | {
      readonly kind: 'email-written';
      /** Of the call that it belongs to. */
      readonly number: number;
      readonly incorrect: number;
      readonly email: SentEmail;
    }
  | {
      readonly kind: 'email-failed';
      readonly number: number;
      readonly incorrect: number;
      /** The error's code, such as ENOSPC, or its name. */
      readonly reason: string;
    }
  /** The sandbox itself failed, and answered with 500. */
  | { readonly kind: 'failed'; readonly reason: string };

/** One call of an operation. */
export type CallEvent = CallOutcome & {
  /** Counted from 1, in the order in which the calls came: the numbers of the faults. */
  readonly number: number;
  readonly fault?: CallFault;
};
