import type { Duty } from './duties.js';

/**
 * Duties of one lane are performed one after the other, and the lanes go side by side: a result that is waited for
 * holds up no other day's night and no resuming, and a night neither of them.
 */
export type Lane = 'nightly' | 'catch-up' | 'resume' | 'results';

export function laneOf({ kind, isNightly }: Duty): Lane {
  if (kind === 'resume') return 'resume';
  if (kind === 'look') return 'results';
  return isNightly ? 'nightly' : 'catch-up';
}

export interface Lanes {
  /** Has the lane look for duties and perform them, until none is left that it has not tried. */
  wake(lane: Lane): Promise<void>;
  /** Resolves when no lane works. */
  idle(): Promise<void>;
}

export interface LanesParts {
  /** What is to be done now, the most urgent first. It must not reject. */
  readonly findDuties: () => Promise<readonly Duty[]>;
  /** It must not reject. */
  readonly perform: (duty: Duty) => Promise<void>;
  readonly isStopped: () => boolean;
}

/** No day is worked on in two lanes at once, and a lane tries a day once each time it is woken from its sleep. */
export function createLanes({ findDuties, perform, isStopped }: LanesParts): Lanes {
  const working = new Map<Lane, Promise<void>>();
  const wokenAgain = new Set<Lane>();
  const daysInHand = new Set<string>();

  async function work(lane: Lane): Promise<void> {
    const tried = new Set<string>();
    for (;;) {
      wokenAgain.delete(lane);
      const duty = await nextDuty(lane, tried);
      if (isStopped()) return;
      if (duty) await performIn(duty, tried);
      // What was asked before it was woken again may not hold any more.
      else if (!wokenAgain.has(lane)) return;
    }
  }

  async function nextDuty(lane: Lane, tried: ReadonlySet<string>): Promise<Duty | undefined> {
    // The night before the days that were missed.
    if (lane === 'catch-up') await working.get('nightly');
    if (isStopped()) return undefined;
    const duties = await findDuties();
    const isOpen = ({ day }: Duty) => !tried.has(day.iso) && !daysInHand.has(day.iso);
    return duties.find((duty) => laneOf(duty) === lane && isOpen(duty));
  }

  async function performIn(duty: Duty, tried: Set<string>): Promise<void> {
    const day = duty.day.iso;
    tried.add(day);
    daysInHand.add(day);
    try {
      await perform(duty);
    } finally {
      daysInHand.delete(day);
    }
  }

  return {
    wake(lane) {
      wokenAgain.add(lane);
      const atWork = working.get(lane) ?? work(lane).finally(() => working.delete(lane));
      working.set(lane, atWork);
      return atWork;
    },
    async idle() {
      await Promise.all(working.values());
    },
  };
}
