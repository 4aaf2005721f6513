import type { BusinessDay } from '../../booking/business-day.js';
import { type DeliveryKind, isActive, type Run } from '../run.js';

export interface DayRequest {
  /**
   * `run` begins a day, goes on with it, or leaves it where it is done; `replay` reviews it again; `late` tops it up:
   * it sends only what the day's other runs have not delivered.
   */
  readonly mode: 'run' | 'replay' | 'late';
  /** A delivery that was asked for in so many words; otherwise a new run takes the configured one. */
  readonly delivery?: DeliveryKind | undefined;
  readonly reason?: string | undefined;
}

/** What has to be known of the day itself. */
export interface DayToOpen extends DayRequest {
  readonly day: Pick<BusinessDay, 'lastInstant'>;
}

export type Opening =
  | {
      readonly kind: 'new';
      readonly replaces?: string;
      /** It sends only what the day's other runs have not delivered. */
      readonly topsUp?: true;
      /** How it has to reach the service, whatever is configured. */
      readonly delivery?: DeliveryKind;
    }
  | { readonly kind: 'resume'; readonly run: Run }
  | { readonly kind: 'already-done'; readonly run: Run }
  | { readonly kind: 'usage-error'; readonly message: string };

/** So many runs of a day are looked at before it is topped up. */
export const runsCompared = 1_000;

/**
 * Decides what a request means for a day whose latest run is known. Called under the right to work on the day, so
 * that an active run here is one whose owner is gone.
 */
export function decideOpening(latest: Run | undefined, request: DayToOpen): Opening {
  const { mode, delivery } = request;
  if (!latest) return { kind: 'new' };
  if (latest.state === 'cancelled') return mode === 'late' ? topUp(latest, request) : { kind: 'new' };
  const isUnfinished = isActive(latest) || latest.state === 'failed';
  switch (mode) {
    case 'replay':
      return isUnfinished ? giveUp(latest, request, { kind: 'new' }) : { kind: 'new' };
    case 'late':
      return isUnfinished ? giveUp(latest, request, topUp(latest, request)) : topUp(latest, request);
    case 'run':
      if (!isUnfinished)
        return wasCollectedTooEarly(latest, request)
          ? topUp(latest, request)
          : { kind: 'already-done', run: latest };
      return delivery === undefined || delivery === latest.delivery
        ? { kind: 'resume', run: latest }
        : {
            kind: 'usage-error',
            message:
              `run ${latest.id} of ${latest.day} is unfinished and delivers by ${latest.delivery}, not by ${delivery}: ` +
              `leave --delivery out to go on, or \`replay ${latest.day} --delivery ${delivery} --reason TEXT\` to start anew`,
          };
  }
}

/** What was booked later on that day is missing in it. */
export function wasCollectedTooEarly(
  { collectStartedAt }: Pick<Run, 'collectStartedAt'>,
  { day }: Pick<DayToOpen, 'day'>,
): boolean {
  return collectStartedAt !== undefined && collectStartedAt <= day.lastInstant.getTime();
}

/**
 * Why a day can't be topped up: what its runs have delivered is kept without the guests' names, and can't be compared
 * any more.
 */
export function describeIncomparable(runs: readonly Run[]): string | undefined {
  const blanked = runs.find(
    ({ namesBlankedAt, counts }) => namesBlankedAt !== undefined && counts.delivered > 0,
  );
  return (
    blanked &&
    `late bookings of ${blanked.day} can't be told from those that run ${blanked.id} delivered: the guests' names in it ` +
      `were blanked after guestNameDays; to send the whole day again: \`replay ${blanked.day} --reason TEXT\``
  );
}

function giveUp({ id, day, state }: Run, { mode, reason }: DayToOpen, opening: Opening): Opening {
  if (opening.kind === 'usage-error') return opening;
  if (reason !== undefined) return { ...opening, kind: 'new', replaces: id };
  const instead =
    mode === 'late' ? 'to give it up and send what it has not delivered' : 'to give it up and start anew';
  return {
    kind: 'usage-error',
    message:
      `run ${id} of ${day} is unfinished (${state}): \`run --day ${day}\` goes on with it; ` +
      `${instead}, say why with --reason TEXT`,
  };
}

/** A booking's line by body is not its line in the file: what was delivered the one way is topped up the same way. */
function topUp({ id, day, delivery: before }: Run, { delivery }: DayToOpen): Opening {
  if (delivery === undefined || delivery === before) return { kind: 'new', topsUp: true, delivery: before };
  return {
    kind: 'usage-error',
    message:
      `run ${id} of ${day} delivered by ${before}, and late bookings go the same way, not by ${delivery}: leave ` +
      `--delivery out, or send the whole day again with \`replay ${day} --delivery ${delivery}\``,
  };
}
