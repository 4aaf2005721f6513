import type { PlannedStep } from './step.js';

/**
 * A canary is an agreed, deliberately wrong pair of a provider's hotel and a master hotel that is sent with each
 * night's bookings, by body and under a reference of its own: if no e-mail names that reference in time, the service
 * reviews nothing, or its e-mails don't arrive. It is not a booking: it is stored apart from them, so that no count or
 * list includes it.
 */

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
export interface NewCanary {
  readonly reference: string;
  /** As in a request body, without a line end. */
  readonly line: string;
  readonly withinMs: number;
}

/** What is known about a canary. Instants are epoch milliseconds. */
export interface Canary extends NewCanary {
  readonly runId: string;
  readonly day: string;
  /** When the service accepted it; absent if it has not. */
  readonly sentAt?: number;
  /** Why it was given up: how its last attempt ended. */
  readonly givenUpFor?: string;
  /** When the e-mail that names it arrived. */
  readonly namedAt?: number;
  /** When it was reported that no e-mail named it in time. */
  readonly reportedAt?: number;
}

export interface CanaryFilter {
  readonly limit: number;
  readonly day?: string;
  /** Only of runs that were active since then. */
  readonly since?: number;
}

/** No e-mail named it in time. Reported once, by the process that found it. */
export interface CanaryEvent {
  readonly type: 'canary-missed';
  readonly canary: Canary;
}

/**
 * `unsent`: not yet, or its run was given up. `not-taken`: the service refused it, or could not be reached; the run
 * continued. `waiting`: it may still be named. `missed`: no e-mail named it in time.
 */
export const canaryStates = ['unsent', 'not-taken', 'waiting', 'named', 'missed'] as const;
export type CanaryState = (typeof canaryStates)[number];

export function judgeCanary(
  { sentAt, givenUpFor, namedAt, withinMs }: Pick<Canary, 'sentAt' | 'givenUpFor' | 'namedAt' | 'withinMs'>,
  now: number,
): CanaryState {
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

/** A canary as `run --json`, `status --json` and `show --json` print it. */
export interface CanaryJson {
  readonly reference: string;
  readonly runId: string;
  /** YYYY-MM-DD */
  readonly day: string;
  readonly state: CanaryState;
  /** ISO 8601, UTC */
  readonly sentAt: string | null;
  /** Until when an e-mail must name it. */
  readonly dueAt: string | null;
  readonly namedAt: string | null;
  readonly namedBy: 'email' | null;
  /** How the last attempt ended, if the canary was given up. */
  readonly code?: string;
}

export function canaryToJson(canary: Canary, now: number): CanaryJson {
  const { reference, runId, day, sentAt, withinMs, namedAt, givenUpFor } = canary;
  const write = (instant: number | undefined) =>
    instant === undefined ? null : new Date(instant).toISOString();
  return {
    reference,
    runId,
    day,
    state: judgeCanary(canary, now),
    sentAt: write(sentAt),
    dueAt: write(sentAt === undefined ? undefined : sentAt + withinMs),
    namedAt: write(namedAt),
    namedBy: namedAt === undefined ? null : 'email',
    ...(givenUpFor !== undefined && { code: givenUpFor }),
  };
}
