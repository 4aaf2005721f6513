import type { StepEnding, StepKind, StepState } from './step.js';

export interface StepCount {
  readonly kind: StepKind;
  readonly state: StepState;
  readonly steps: number;
  readonly bookings: number;
}

/** Slices of time, in epoch milliseconds. */
export interface Slices {
  readonly from: number;
  readonly length: number;
}

/** Attempts that began in one slice, from the first one's start to the last one's end. */
export interface AttemptSum {
  readonly kind: StepKind;
  readonly outcome: StepEnding['kind'];
  readonly attempts: number;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** The steps of a run that can still be worked on. */
export interface OpenWork {
  /** Under a valid claim. */
  readonly performed: number;
  /** Under a claim that was not renewed: the process that performed them is gone. */
  readonly abandoned: number;
  /** Can be claimed now. */
  readonly ready: number;
  /** Wait for an instant. */
  readonly delayed: number;
  /** The step that was claimed first of those that are performed or abandoned. */
  readonly oldest?: { readonly step: string; readonly kind: StepKind; readonly since: number };
  /** The step that is due first of those that wait for an instant. */
  readonly next?: DelayedStep;
}

export interface DelayedStep {
  readonly step: string;
  readonly kind: StepKind;
  readonly until: number;
  /** How its last attempt ended, and when. */
  readonly code: string;
  readonly endedAt?: number;
  /** How many tries it has used up, and how often it waited without using up one. */
  readonly tries: number;
  readonly waits: number;
}
