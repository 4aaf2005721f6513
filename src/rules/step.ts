import type { BatchStream } from '../booking/sending.js';
import type { JudgedRows, ReviewFile } from './review-file.js';
import type { Run } from './run.js';

/** The steps that deliveries are made of. */
export type StepKind = 'batch' | 'write' | 'upload' | 'trigger' | 'await-result' | 'archive' | 'canary';

/**
 * `ready` to be claimed, `running` under a claim; ended: `done`, `refused` by the service, `failed` out of tries, `halved`
 * into two steps that replace it.
 */
export type StepState = 'ready' | 'running' | 'done' | 'refused' | 'failed' | 'halved';

/** Consecutive bookings of one stored batch. */
export interface Slice {
  readonly stream: BatchStream;
  /** The number of the stored batch. */
  readonly batch: number;
  /** The row of the first booking in that batch, counted from 0. */
  readonly first: number;
  readonly bookings: number;
}

export interface PlannedStep {
  readonly name: string;
  readonly kind: StepKind;
  readonly slice?: Slice;
  /** What it sends, or prepares to be sent: see `bookingsSent`. */
  readonly bookings: number;
  /** Only of a half whose bookings count as repeated already. */
  readonly repeated?: number;
}

export interface Step extends PlannedStep {
  readonly runId: string;
  readonly state: StepState;
  /** How often it was claimed in total. */
  readonly attempts: number;
  /** How many tries it has used up since the run was last started. */
  readonly tries: number;
  /** How often it waited because the service asked for it; such waits don't use up a try. */
  readonly waits: number;
  readonly notBefore?: number;
}

/** The right to perform one attempt of a step; a write under an outdated claim is refused. */
export interface Claim {
  readonly step: Step;
  /** This attempt's number, counted from 1. */
  readonly attempt: number;
  readonly token: number;
  readonly claimedAt: number;
  /** An earlier attempt ended without a clear answer: what it requested may have happened. */
  readonly mayRepeat: boolean;
}

/** A new claim with all that performing the step needs, read at the same moment. */
export interface Claimed extends Claim {
  readonly run: Run;
  /** Of a step with a slice: the lines of its stored batch, each ended by a line feed. */
  readonly lines?: Buffer;
}

/** The evidence of an attempt: what was sent, when, and what came back. */
export interface Evidence {
  readonly code: string;
  readonly httpStatus?: number | undefined;
  readonly statusCode?: number | undefined;
  /** The service's own words. They may name a guest, and leave the ledger only on request. */
  readonly answer?: string | undefined;
  /** SHA-256 of the bytes that were sent, in hexadecimal. */
  readonly sha256?: string | undefined;
}

/** What an attempt found out, however it ended. */
export interface StepFindings {
  readonly evidence: Evidence;
  /** What is known about the run's file now. */
  readonly file?: Partial<ReviewFile>;
  /** What the result says about the bookings of the file, in place of what was recorded before. */
  readonly verdicts?: readonly JudgedRows[];
  /** The attempt sent nothing: an earlier request turned out to be done, or it failed before sending. */
  readonly nothingSent?: boolean;
}

/**
 * What an attempt found: the closed set. What follows from it for the step and its run is a `Change`, which tries, size and
 * clock decide, too. It differs from a `CallResult`, which is about one call: steps also wait, and use SFTP and the disk.
 */
export type Outcome =
  | (StepFindings & { readonly kind: 'done' })
  | (StepFindings & {
      readonly kind: 'retryable';
      readonly outcomeUnknown: boolean;
      readonly retryAfterMs?: number | undefined;
      readonly refusedWhenSpent: boolean;
      /** It is a bug of our own. */
      readonly class?: 'internal';
    })
  /** What the step waits for has not arrived: check again at that instant, without using up a try. */
  | (StepFindings & { readonly kind: 'waiting'; readonly until: number })
  /** What the step waits for did not arrive in time. While the run has other steps to perform, it checks again at that instant. */
  | (StepFindings & { readonly kind: 'overdue'; readonly until: number })
  | (StepFindings & {
      readonly kind: 'refused';
      /** Nobody refused what was asked for: what came back does not suffice, or is too much. */
      readonly class?: 'data';
    })
  | (StepFindings & {
      readonly kind: 'fatal';
      /** What the operator should do. */
      readonly advice: string;
    })
  /** We aborted the call. */
  | (StepFindings & { readonly kind: 'interrupted' });

/** The names of the ways in which an attempt ends, once it is decided what follows from its outcome. */
export type Ending = 'done' | 'retry' | 'failed' | 'refused' | 'halved' | 'overdue' | 'fatal' | 'interrupted';

/** The right to write to a run: its id and a token. */
export interface Right {
  readonly runId: string;
  readonly token: number;
}

/** The same, or without a token the right of whoever works on a run that several processes share. */
export interface SharedRight {
  readonly runId: string;
  readonly token?: number | undefined;
}

export interface OpenStep {
  /** Its place in the plan. */
  readonly position: number;
  readonly name: string;
  /** The attempt that a claim would be for. */
  readonly attempt: number;
  readonly notBefore?: number;
}

/** What decides about a step, as stored in the ledger. */
export interface StoredStep extends Omit<Step, 'runId' | 'slice' | 'notBefore' | 'repeated'> {
  /** Its place in the plan; halves share the place of the step they replace, and a successor that of its predecessor. */
  readonly position: number;
  /** The token of its last claim. */
  readonly token?: number;
  /** The process that claimed it last: see `nameProcess`. */
  readonly worker?: string;
  /** How often it was performed again after an attempt of unknown outcome. */
  readonly repeated: number;
  /** Its last attempt ended without a clear answer: if it is claimed again, its bookings count as repeated. */
  readonly outcomeUnknown: boolean;
}

/** What recording an attempt led to. */
export interface Recorded {
  readonly run: Run;
  readonly ending: Ending;
  /** Steps that may be queued now: halves, a successor, or the step itself, for example after an interruption. */
  readonly opened: readonly OpenStep[];
  /** True if this attempt ended the run, or left it with an overdue result; of all processes that work on it, exactly one gets true. */
  readonly settled: boolean;
}
