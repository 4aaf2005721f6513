import type { DueDay } from './due-days.js';

/**
 * The due days of one group are reviewed one after another, and the groups run side by side: a result that has not arrived
 * delays neither another day's nightly review nor the resuming of a failed run.
 */
export type Group = 'nightly' | 'catch-up' | 'resume' | 'results';

export function groupOf({ kind, isNightly }: DueDay): Group {
  if (kind === 'resume') return 'resume';
  if (kind === 'look') return 'results';
  return isNightly ? 'nightly' : 'catch-up';
}

export interface SerialGroups {
  /** Makes the group fetch the due days and review them, until it has tried all of them. */
  wake(group: Group): Promise<void>;
  /** Resolves when no group is working. */
  idle(): Promise<void>;
}

export interface SerialGroupsParts {
  /** The days that are due now, most urgent first. It must not reject. */
  readonly findDueDays: () => Promise<readonly DueDay[]>;
  /** It must not reject. */
  readonly perform: (dueDay: DueDay) => Promise<void>;
  readonly isStopped: () => boolean;
}

/** No two groups work on the same day at once, and a group tries a day once each time it is woken. */
export function createSerialGroups({ findDueDays, perform, isStopped }: SerialGroupsParts): SerialGroups {
  const working = new Map<Group, Promise<void>>();
  const wokenAgain = new Set<Group>();
  const daysInProgress = new Set<string>();

  async function work(group: Group): Promise<void> {
    const tried = new Set<string>();
    for (;;) {
      wokenAgain.delete(group);
      const dueDay = await nextDueDay(group, tried);
      if (isStopped()) return;
      if (dueDay) await performOnce(dueDay, tried);
      // The last answer is outdated if the group was woken again in the meantime.
      else if (!wokenAgain.has(group)) return;
    }
  }

  async function nextDueDay(group: Group, tried: ReadonlySet<string>): Promise<DueDay | undefined> {
    // The nightly review goes before the days that were missed.
    if (group === 'catch-up') await working.get('nightly');
    if (isStopped()) return undefined;
    const dueDays = await findDueDays();
    const isOpen = ({ day }: DueDay) => !tried.has(day.iso) && !daysInProgress.has(day.iso);
    return dueDays.find((dueDay) => groupOf(dueDay) === group && isOpen(dueDay));
  }

  async function performOnce(dueDay: DueDay, tried: Set<string>): Promise<void> {
    const day = dueDay.day.iso;
    tried.add(day);
    daysInProgress.add(day);
    try {
      await perform(dueDay);
    } finally {
      daysInProgress.delete(day);
    }
  }

  return {
    wake(group) {
      wokenAgain.add(group);
      const current = working.get(group) ?? work(group).finally(() => working.delete(group));
      working.set(group, current);
      return current;
    },
    async idle() {
      await Promise.all(working.values());
    },
  };
}
