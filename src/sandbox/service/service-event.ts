import type { CallFault } from '../faults.js';
import type { Letter } from '../outbox.js';

/** Which review operation: of spec 4.2 or 4.3. */
export type Operation = 'by-body' | 'by-file';

/** What happened in the service, without guests' names, keys and addresses. */
export type ServiceEvent =
  /** A request that came to no review operation (404, 405) or with the headers of no account (403): it is no call. */
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
      readonly kind: 'letter-written';
      /** Of the call that it belongs to. */
      readonly number: number;
      readonly incorrect: number;
      readonly letter: Letter;
    }
  | {
      readonly kind: 'letter-failed';
      readonly number: number;
      readonly incorrect: number;
      /** The error's code, such as ENOSPC, or its name. */
      readonly reason: string;
    }
  /** The sandbox itself failed, and answered with 500. */
  | { readonly kind: 'failed'; readonly reason: string };

/** One call of a review operation. */
export interface CallEvent {
  /** Counted from 1, in the order in which the calls came: the numbers of the faults. */
  readonly number: number;
  readonly operation: Operation;
  /** Taken for review: bookings of the body, or rows of the file. */
  readonly bookings: number;
  /** Of the bookings taken by body, how many are incorrectly mapped; a file's are known with its result. */
  readonly incorrect: number;
  readonly fault?: CallFault;
}
