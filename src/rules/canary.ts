import type { PlannedStep } from './step.js';

/** What was agreed with the service. */
export interface CanarySettings {
  readonly serviceId: number;
  readonly providerName: string;
  readonly providerHotelId: string;
  /** How soon after its delivery an e-mail must name it. */
  readonly withinMs: number;
}

/**
 * A run's canary as it is sent. It is stored with the run, so that any process that resumes the run sends the same
 * bytes.
 */
export type NewCanary = Pick<Canary, 'reference' | 'line' | 'withinMs'>;

/** What is known about a canary. Instants are epoch milliseconds. */
export interface Canary {
  readonly reference: string;
  /** As in a request body, without a line end. */
  readonly line: string;
  readonly withinMs: number;
  /** When the e-mail that names it arrived. */
  readonly namedAt?: number;
  /** When it was reported that no e-mail named it in time. */
  readonly reportedAt?: number;
  readonly runId: string;
  readonly day: string;
  /** When the service accepted it; absent if it has not. */
  readonly sentAt?: number;
  /** Why it was given up: how its last attempt ended. */
  readonly givenUpFor?: string;
}

/**
 * `unsent`: not yet, or its run was given up. `not-taken`: the service refused it, or could not be reached; the run
 * continued. `waiting`: it may still be named. `missed`: no e-mail named it in time.
 */
export type CanaryState = 'unsent' | 'not-taken' | 'waiting' | 'named' | 'missed';

export function judgeCanary({ sentAt, givenUpFor, namedAt, withinMs }: Canary, now: number): CanaryState {
  if (namedAt !== undefined) return 'named';
  if (sentAt === undefined) return givenUpFor === undefined ? 'unsent' : 'not-taken';
  return now - sentAt >= withinMs ? 'missed' : 'waiting';
}

/** The step that sends a canary, by body whatever the delivery. It carries no booking, and nothing waits for it. */
export const canaryStep: PlannedStep = { name: 'canary', kind: 'canary', bookings: 0 };

/**
 * How many consecutive canaries, counted back from the newest with a known outcome, no e-mail named in time; undefined if
 * no outcome is known.
 *
 * @param canaries the newest first
 */
export function countMissedInRow(canaries: readonly Canary[], now: number): number | undefined {
  const states = canaries.map((canary) => judgeCanary(canary, now));
  const known = states.filter((state) => state === 'named' || state === 'missed');
  const named = known.indexOf('named');
  return known.length === 0 ? undefined : named === -1 ? known.length : named;
}
