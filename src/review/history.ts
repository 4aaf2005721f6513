import type { KeptValues } from '../booking/kept-values.js';
import type { ReasonCount, Reject, Suspect } from './collected.js';
import type { Run } from './run.js';
import type { BookingForm, Step, StepEnding, StepKind, StepState } from './step.js';
import type { Judged } from './verdict.js';

/** What a run did not send, or what the service refused. */
export interface RejectReader {
  countRejects(runId: string): Promise<ReasonCount[]>;
  countWarnings(runId: string): Promise<ReasonCount[]>;
  /** In the order of the plan, without the first ones if some are to be skipped. */
  listRefused(runId: string, limit: number, skip?: number): Promise<RefusedBooking[]>;
}

/** The records that a run could not send. */
export interface RejectLister {
  /** The first ones, by place. */
  listRejects(
    runId: string,
    limit: number,
    some?: { readonly reason?: string | undefined; readonly skip?: number },
  ): Promise<Reject[]>;
}

/** Looking back at single bookings. */
export interface History {
  /** Every booking and reject with that reference, in all runs, the newest run first. */
  trace(reference: string): Promise<Trace[]>;
  /** The next batch with bookings of the file about which the result says this, with their lines. */
  nextJudged(runId: string, judged: Judged, after?: number): Promise<JudgedLines | undefined>;
}

export interface AttemptReader {
  /** The ended attempts of a step, in their order. */
  listAttempts(runId: string, step: string): Promise<Attempt[]>;
  /** The last attempt of each of these steps in which the service said something. */
  listAnswers(runId: string, steps: readonly string[]): Promise<Attempt[]>;
  /** When each kind of step was performed, in the order in which they began. */
  listStepTimes(runId: string): Promise<StepTime[]>;
}

/** The ended attempts of all steps of a kind, from the first one's start to the last one's end. */
export interface StepTime {
  readonly kind: StepKind;
  readonly steps: number;
  readonly attempts: number;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** What comparing a run's bookings with the local copy of the mappings found. */
export interface SuspectReader {
  /** The next chunk of the run's suspects after the cursor, one stored batch per chunk; undefined at the end. */
  nextSuspects(runId: string, after?: BatchCursor): Promise<SuspectLines | undefined>;
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
