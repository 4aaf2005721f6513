import { pause } from '../base/abort.js';
import { businessDayAt, lastDayBefore } from '../booking/business-day.js';
import { makesDayGood } from '../rules/good-day.js';
import { durationOf, mayCompleteDay, type Run } from '../rules/run.js';
import type { Beat, Heartbeat } from './channels/heartbeat.js';
import type { HotelReviewEvent } from './events.js';

export type HeartbeatObserver = ReturnType<typeof createHeartbeatObserver>;

/** How long a stopping process waits. */
const stopMs = 1_000;

/**
 * Tells the heartbeat service how last night went: one beat at a time, without holding up the work. A beat that can't be sent is
 * lost: sent an hour later, it would claim that all is well now.
 */
export function createHeartbeatObserver(parts: {
  readonly heartbeat: Heartbeat;
  readonly timezone: string;
  /** Epoch milliseconds */
  readonly clock: () => number;
  /** Gets the code of a beat that was not accepted. */
  readonly warn: (code: string) => void;
  /** The process is asked to stop. */
  readonly stop: AbortSignal;
  /** How long `close` waits for calls in flight. */
  readonly closeMs?: number;
}) {
  const { heartbeat, timezone, clock, warn, stop, closeMs = 15_000 } = parts;
  const closing = new AbortController();
  let sent = Promise.resolve();
  let goodDay: string | undefined;
  let hasWarned = false;
  let closed: Promise<void> | undefined;

  async function send(beat: Beat): Promise<void> {
    const code = await heartbeat
      .send(beat, closing.signal)
      .catch((error: unknown) => (closing.signal.aborted ? 'timeout' : Promise.reject(error)));
    // Once, until it works again.
    if (code !== undefined && !hasWarned) warn(code);
    hasWarned = code !== undefined;
  }

  async function close(): Promise<void> {
    const waited = new AbortController();
    const patience = stop.aborted
      ? pause(stopMs, waited.signal)
      : pause(closeMs, AbortSignal.any([stop, waited.signal]));
    await Promise.race([sent, patience]);
    waited.abort();
    closing.abort();
    await sent.catch(() => {});
    await heartbeat.close();
  }

  return {
    notify(event: HotelReviewEvent): Promise<void> | undefined {
      const beat = toBeat(event, { timezone, now: clock() });
      // What follows a good run may fail without making its day bad.
      if (!beat || (beat.state === 'failure' && !beat.run && beat.day === goodDay)) return undefined;
      if (beat.state === 'success') goodDay = beat.day;
      const before = sent;
      sent = before.catch(() => {}).then(() => send(beat));
      return sent;
    },
    /** Waits for calls in flight, some seconds at most. Idempotent. */
    close(): Promise<void> {
      closed ??= close();
      return closed;
    },
  };
}

/**
 * What an event says about last night: about yesterday, or about any day that `run` was started for. Replays and catch-ups of
 * other days and the runs of `today` say nothing, nor does a run that awaits its result, or that succeeded without
 * making its day good. A resumed run sends no second start.
 */
export function toBeat(
  event: HotelReviewEvent,
  { timezone, now }: { readonly timezone: string; readonly now: number },
): Beat | undefined {
  const isLastNight = (day: string) => day === lastDayBefore(businessDayAt(new Date(now), timezone)).iso;
  switch (event.type) {
    case 'run-opened':
    case 'accepted':
    case 'settled': {
      const { run } = event;
      if (!mayCompleteDay(run) || !(run.trigger === 'manual' || isLastNight(run.day))) return undefined;
      if (event.type === 'run-opened') return event.isResumed ? undefined : describe('start', run, now);
      if (run.state === 'failed') return describe('failure', run, now);
      return makesDayGood(run, timezone) ? describe('success', run, now) : undefined;
    }
    case 'due-day-failed':
      return isLastNight(event.dueDay.day.iso) ? brokeOff(event.dueDay.day.iso) : undefined;
    case 'review-broke-off':
      return isLastNight(event.day) ? brokeOff(event.day) : undefined;
    default:
      return undefined;
  }
}

function describe(state: Beat['state'], run: Run, now: number): Beat {
  const { id, day, counts, failure } = run;
  return {
    state,
    day,
    run: { id, counts, durationMs: durationOf(run, now) },
    ...(state === 'failure' && failure && { code: failure.code }),
  };
}

/** The day failed without a settled run, for a reason that only the log has. */
function brokeOff(day: string): Beat {
  return { state: 'failure', day, code: 'broke-off' };
}
