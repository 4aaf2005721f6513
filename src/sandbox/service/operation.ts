import type { IncorrectMapping } from '../outbox.js';
import type { Answer } from './answer.js';

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
  /** The bookings that a letter is to be written about. */
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
