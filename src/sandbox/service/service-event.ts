import type { CallFault } from '../faults.js';
import type { Letter } from '../outbox.js';
import type { CallOutcome } from './operation.js';

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

/** One call of an operation. */
export type CallEvent = CallOutcome & {
  /** Counted from 1, in the order in which the calls came: the numbers of the faults. */
  readonly number: number;
  readonly fault?: CallFault;
};
