import type { KeptValues } from '../booking/kept-values.js';
import type { Reject, Suspect } from './collected.js';
import type { Run } from './run.js';
import type { BookingForm, Step, StepEnding, StepKind, StepState } from './step.js';
import type { Judged } from './verdict.js';

/** The ended attempts of all steps of a kind, from the first one's start to the last one's end. */
export interface StepTime {
  readonly kind: StepKind;
  readonly steps: number;
  readonly attempts: number;
  readonly startedAt: number;
  readonly endedAt: number;
}

export interface RefusedBooking {
  readonly step: string;
  readonly code: string;
  readonly line: string;
  readonly form: BookingForm;
  readonly batch: number;
  /** Within the batch. */
  readonly place: number;
}

export interface Attempt {
  readonly step: string;
  readonly attempt: number;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly outcome: StepEnding['kind'];
  readonly code: string;
  readonly httpStatus?: number;
  readonly statusCode?: number;
  readonly answer?: string;
  readonly sha256?: string;
}

export type Trace =
  | {
      readonly kind: 'booking';
      readonly run: Run;
      readonly form: BookingForm;
      readonly batch: number;
      /** Counted from 0, among the run's bookings of that form, which is their order in the file. */
      readonly position: number;
      readonly line: string;
      readonly step?: Pick<Step, 'name' | 'kind'> & { readonly state: StepState };
      /** What its result says, unless it calls the mapping correct. */
      readonly judged?: Judged;
      /** When the first e-mail that names it was received, in epoch milliseconds. */
      readonly namedByEmailAt?: number;
      /** When the first e-mail was received that names its provider hotel and master hotel, without its reference. */
      readonly mappingNamedByEmailAt?: number;
      /** What the local copy of the mappings said about it. */
      readonly suspect?: Suspect;
      /** Its local columns, which are not sent. */
      readonly kept?: KeptValues;
      readonly attempts: readonly Attempt[];
    }
  | ({ readonly kind: 'reject'; readonly run: Run } & Pick<Reject, 'place' | 'reason' | 'field' | 'value'>);

export interface JudgedLines {
  readonly batch: number;
  /** Of each line. */
  readonly places: readonly number[];
  readonly lines: readonly string[];
}

export interface SuspectLines {
  readonly cursor: BatchCursor;
  readonly form: BookingForm;
  /** In the order of their places. */
  readonly suspects: readonly (Suspect & { readonly line: string })[];
}

export interface BatchCursor {
  readonly form: BookingForm;
  readonly batch: number;
}
