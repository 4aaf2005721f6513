/** The steps that deliveries are made of. (Design 2 and 5.) */
export type StepKind = 'batch' | 'write' | 'upload' | 'trigger' | 'await-result' | 'archive';

/**
 * `waiting` for its predecessor, `ready` to be claimed, `running` under a claim; ended: `done`, `refused` by the
 * service, `failed` out of tries, `halved` into two steps that stand in its place.
 */
export type StepState = 'waiting' | 'ready' | 'running' | 'done' | 'refused' | 'failed' | 'halved';

/** The form in which a booking is kept, which is the form in which it is sent. */
export type BookingForm = 'body' | 'file';

/** Consecutive bookings of one stored batch. */
export interface Slice {
  readonly form: BookingForm;
  /** The number of the stored batch. */
  readonly batch: number;
  /** The place of the first booking in that batch, counted from 0. */
  readonly first: number;
  readonly bookings: number;
}

export interface PlannedStep {
  readonly name: string;
  readonly kind: StepKind;
  /** The step that must be done before this one. */
  readonly after?: string;
  readonly slice?: Slice;
  /** How many bookings count as delivered when this step is done. */
  readonly bookings: number;
}

export interface Step extends PlannedStep {
  readonly runId: string;
  readonly state: StepState;
  /** How often it was claimed in all. */
  readonly attempts: number;
  /** How many tries it has spent since the run was last started. */
  readonly tries: number;
  /** How often it waited because the service asked for it; such waits spend no try. */
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
}

/** What is kept of an attempt: enough to prove what was sent, when, and what came back. */
export interface Evidence {
  readonly code: string;
  readonly httpStatus?: number | undefined;
  readonly statusCode?: number | undefined;
  /** The service's own words. They may name a guest and never leave the ledger unasked. */
  readonly answer?: string | undefined;
  /** SHA-256 of the bytes that were sent, in hexadecimal. */
  readonly sha256?: string | undefined;
}

/** The closed set of what an attempt can come to. */
export type StepEnding =
  | { readonly kind: 'done'; readonly evidence: Evidence }
  | { readonly kind: 'refused'; readonly evidence: Evidence }
  | {
      readonly kind: 'failed';
      readonly evidence: Evidence;
      /** True when its last call had no clear answer: sent again, its bookings count as repeated. */
      readonly outcomeUnknown?: boolean;
    }
  | {
      readonly kind: 'halved';
      readonly evidence: Evidence;
      readonly halves: readonly [PlannedStep, PlannedStep];
    }
  | {
      readonly kind: 'retry';
      readonly evidence: Evidence;
      readonly notBefore: number;
      /** False when the service asked for the wait. */
      readonly spendsTry: boolean;
      readonly outcomeUnknown: boolean;
    }
  | { readonly kind: 'fatal'; readonly evidence: Evidence; readonly message: string }
  /** We stopped it ourselves in mid-call. */
  | { readonly kind: 'interrupted'; readonly evidence: Evidence };
