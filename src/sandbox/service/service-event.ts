import type { Answer } from '../common/answer.js';
import type { CallFault } from '../common/faults.js';
import type { IncorrectMapping } from '../outbox/notice.js';

/** The operations of spec 4.1, 4.2, 4.3, 4.4 and 4.5. */
export type Operation = 'mappings' | 'by-body' | 'by-file' | 'brands' | 'export';

/** The outcome of a call, without guests' names, keys and addresses. */
type CallOutcome =
  | {
      readonly operation: 'by-body' | 'by-file';
      /** Accepted for review: bookings of the body, or rows of the file. */
      readonly bookings: number;
      /** Bookings of a body with an incorrect mapping; those of a file are known with its result. */
      readonly incorrect: number;
    }
  | {
      readonly operation: 'mappings';
      /** On the page. */
      readonly mappings: number;
      readonly isLastPage: boolean;
    }
  | { readonly operation: 'brands'; readonly brands: number }
  | { readonly operation: 'export'; readonly isAccepted: boolean };

/** The outcome of a call that had no effect. */
export function emptyOutcome(operation: Operation): CallOutcome {
  switch (operation) {
    case 'by-body':
    case 'by-file':
      return { operation, bookings: 0, incorrect: 0 };
    case 'mappings':
      return { operation, mappings: 0, isLastPage: false };
    case 'brands':
      return { operation, brands: 0 };
    case 'export':
      return { operation, isAccepted: false };
  }
}

/** A call that was performed rather than met by a fault. */
export interface PerformedCall {
  readonly answer: Answer;
  readonly outcome: CallOutcome;
  /** Bookings to send an e-mail about. */
  readonly incorrect?: readonly IncorrectMapping[];
  /** To be called when the call has ended, answered or not. */
  readonly end?: () => void;
}

/** A call to an operation, for the log. */
export type CallEvent = CallOutcome & {
  /** Counted from 1 in order of arrival; fault rules refer to it. */
  readonly number: number;
  readonly fault?: CallFault;
};

/** What happened in the service, without guests' names, keys and addresses. */
export type ServiceEvent =
  /** A request for no operation (404, 405) or without valid credentials (403). It doesn't count as a call. */
  | { readonly kind: 'turned-away'; readonly httpStatus: number }
  | (CallEvent & {
      readonly kind: 'answered';
      readonly httpStatus: number;
      /** Absent for an HTML page. */
      readonly statusCode?: number;
    })
  /** The connection was closed without an answer: by a fault, by the client or by `close`. */
  | (CallEvent & { readonly kind: 'unanswered' })
  | {
      readonly kind: 'email-written';
      /** Of the call that it is about. */
      readonly number: number;
      readonly incorrect: number;
      /** Its path on this disk. */
      readonly email: string;
    }
  | {
      readonly kind: 'email-failed';
      readonly number: number;
      readonly incorrect: number;
      /** The error's code, such as ENOSPC, or its name. */
      readonly reason: string;
    }
  /** The sandbox itself failed and answered with 500. */
  | { readonly kind: 'failed'; readonly reason: string };
