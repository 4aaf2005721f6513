import type { BusinessDay } from '../booking/business-day.js';
import type { Ledger } from '../review/ledger.js';
import { DayBusyError } from '../review/refusals.js';
import { type Duty, findDayRange, findDuties } from './duties.js';
import type { NotifyKeeper } from './keeper-event.js';
import { createLanes, type Lane } from './lanes.js';
import type { Schedule } from './schedule.js';
import type { Slots } from './slots.js';

/** So long after a slot it is looked at what is owed, where the schedule has not told of the slot. */
const untoldMs = 60_000;
/** A timer set for longer goes off at once. */
const longestTimerMs = 2 ** 31 - 1;
const lanes: readonly Lane[] = ['nightly', 'catch-up', 'resume', 'results'];

export interface DutyRequest {
  readonly trigger: 'schedule';
  /** The day was reviewed before it had ended: only what is not delivered yet is to be sent. */
  readonly topsUp: boolean;
}

export interface KeeperParts {
  readonly ledger: Pick<Ledger, 'summarise' | 'listLatestRuns'>;
  readonly schedule: Schedule;
  readonly slots: Slots;
  /** Reviews a day. It is expected to end soon after the signal was aborted. */
  readonly review: (day: BusinessDay, request: DutyRequest, signal: AbortSignal) => Promise<unknown>;
  readonly timing: { readonly catchUpDays: number; readonly resumeMinutes: number };
  /** Epoch milliseconds. */
  readonly clock: () => number;
  readonly notify: NotifyKeeper;
  /** Stops everything. */
  readonly signal: AbortSignal;
}

export interface Keeper {
  /** Looks at what is owed, and begins to watch. Called once. */
  start(): Promise<void>;
  /** Begins nothing more, aborts what is in hand, and waits for it. Idempotent. */
  close(): Promise<void>;
}

/**
 * Keeps the nightly review going: at the start, at each slot, and every `resumeMinutes` it looks in the ledger for what
 * is owed (duties.ts), and has it reviewed: the nightly day first, then the missed ones, the oldest first, one at a time;
 * beside these, one at a time, what is to be taken up again. A run that failed rests for half of `resumeMinutes` at
 * least, so that several processes don't take turns at it.
 *
 * No failure ends it: what was not done stays owed, and the next look finds it. It may run in any number of processes:
 * the ledger sees to it that a day is worked on once. A slot that the schedule doesn't tell of within a minute, because
 * Redis is away or another process was told, is looked at all the same.
 */
export function createKeeper(parts: KeeperParts): Keeper {
  const { schedule, slots, timing, clock, notify } = parts;
  const resumeMs = timing.resumeMinutes * 60_000;
  const watchedSince = new Date(clock());
  const closing = new AbortController();
  const stop = AbortSignal.any([parts.signal, closing.signal]);
  const timers = new Map<'resume' | 'slot', NodeJS.Timeout>();
  /** The last slot that came, by this process's clock or by what it was told. */
  let reached = watchedSince;
  let closed: Promise<void> | undefined;

  const work = createLanes({
    findDuties: () => readDuties(parts, { watchedSince, reached, restMs: resumeMs / 2 }),
    perform: (duty) => perform(duty, parts, stop),
    isStopped: () => stop.aborted,
  });

  function look(): void {
    if (stop.aborted) return;
    // The order counts: the catch-up waits for a night that was woken before it. None of these rejects.
    for (const lane of lanes) void work.wake(lane);
  }

  function lookAtSlot(slot: Date): void {
    if (slot > reached) reached = slot;
    look();
  }

  function setTimer(name: 'resume' | 'slot', ms: number, act: () => void): void {
    if (!stop.aborted) timers.set(name, setTimeout(act, Math.min(ms, longestTimerMs)));
  }

  function lookEveryResumeMinutes(): void {
    setTimer('resume', resumeMs, () => {
      look();
      lookEveryResumeMinutes();
    });
  }

  function watchForSlotsUntold(): void {
    const slot = slots.next(reached);
    if (!slot) return;
    setTimer('slot', Math.max(0, slot.getTime() + untoldMs - clock()), () => {
      const isUntold = slot > reached && clock() >= slot.getTime() + untoldMs;
      if (isUntold) {
        notify({ type: 'slot-untold', slot });
        lookAtSlot(slots.last(new Date(clock())) ?? slot);
      }
      watchForSlotsUntold();
    });
  }

  function clearTimers(): void {
    for (const timer of timers.values()) clearTimeout(timer);
  }

  async function close(): Promise<void> {
    closing.abort();
    clearTimers();
    await Promise.all([schedule.close(), work.idle()]);
  }

  return {
    async start() {
      if (stop.aborted) return;
      stop.addEventListener('abort', clearTimers, { once: true });
      look();
      lookEveryResumeMinutes();
      watchForSlotsUntold();
      await schedule.start(lookAtSlot);
    },
    close() {
      closed ??= close();
      return closed;
    },
  };
}

async function readDuties(
  { ledger, slots, timing, clock, notify }: KeeperParts,
  { watchedSince, reached, restMs }: { watchedSince: Date; reached: Date; restMs: number },
): Promise<readonly Duty[]> {
  // The clock of who told the slot may be ahead of this one.
  const now = new Date(Math.max(clock(), reached.getTime()));
  const range = findDayRange({ slots, now, catchUpDays: timing.catchUpDays });
  if (!range) return [];
  try {
    const [{ firstDay }, latestRuns] = await Promise.all([
      ledger.summarise(),
      ledger.listLatestRuns({ from: range.from.iso, to: range.to.iso }),
    ]);
    return findDuties({
      slots,
      now,
      watchedSince,
      catchUpDays: timing.catchUpDays,
      restMs,
      firstDay,
      latestRuns,
    });
  } catch (error) {
    notify({ type: 'look-failed', error });
    return [];
  }
}

async function perform(
  duty: Duty,
  { review, notify }: Pick<KeeperParts, 'review' | 'notify'>,
  stop: AbortSignal,
): Promise<void> {
  notify({ type: 'duty-begun', duty });
  try {
    await review(duty.day, { trigger: 'schedule', topsUp: duty.kind === 'top-up' }, stop);
    notify({ type: 'duty-ended', duty });
  } catch (error) {
    notify(error instanceof DayBusyError ? { type: 'day-busy', duty } : { type: 'duty-failed', duty, error });
  }
}
