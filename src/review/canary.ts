import type { BookingForm, PlannedStep } from './step.js';

/**
 * A canary is an agreed, deliberately wrong pair of a provider's hotel and a master hotel that is sent with each
 * night's bookings: if neither the result nor an e-mail names it in time, the service reviews nothing, or its e-mails
 * don't arrive. It is not a booking: it is stored apart from them, so that no count or list includes it.
 */

/** What was agreed with the service. */
export interface CanarySettings {
  readonly serviceId: number;
  readonly providerName: string;
  readonly providerHotelId: string;
  /** How soon after its delivery something must name it. */
  readonly withinMs: number;
}

/**
 * A run's canary as it is sent. It is stored with the run, so that any process that resumes the run sends the same
 * bytes.
 */
export interface NewCanary {
  readonly reference: string;
  /** In the file, or by body in a step of its own. */
  readonly form: BookingForm;
  /** Without a line end. */
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
  readonly namedAt?: number;
  readonly namedBy?: 'result' | 'email';
  /** When it was reported that nothing named it in time. */
  readonly reportedAt?: number;
}

export interface CanaryFinder {
  /** The canary of a run. */
  findCanary(runId: string): Promise<Canary | undefined>;
}

export interface CanaryReader extends CanaryFinder {
  findCanaryByReference(reference: string): Promise<Canary | undefined>;
  /** The newest run first. */
  listCanaries(filter: CanaryFilter): Promise<Canary[]>;
}

export interface CanaryFilter {
  readonly limit: number;
  readonly day?: string;
  /** Only of runs that were active since then. */
  readonly since?: number;
}

/** Nothing named it in time. Reported once, by the process that found it. */
export interface CanaryEvent {
  readonly type: 'canary-missed';
  readonly canary: Canary;
}

export interface CanaryWriter {
  /** Returns the canaries that nothing named in time, each once, over all processes. */
  reportMissedCanaries(now: number): Promise<Canary[]>;
}

/**
 * `unsent`: not yet, or its run was given up. `not-taken`: the service refused it, or could not be reached; the run
 * continued. `waiting`: it may still be named. `missed`: nothing named it in time.
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

/** The step that sends a canary by body. It carries no booking, and nothing waits for it. */
export const canaryStep: PlannedStep = { name: 'canary', kind: 'canary', bookings: 0 };

/** In place of a batch's number, where a canary is read together with bookings. */
export const canaryBatch = -1;

/**
 * How many consecutive canaries, counted back from the newest with a known outcome, nothing named in time; undefined if
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
