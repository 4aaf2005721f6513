import type { ShownDay } from './judge-shown-day.js';

/**
 * The last day up to which all due days are good. A good day after one that is not good is no reassurance: it is only
 * mentioned.
 *
 * @param days oldest first
 */
export function followGoodDays(days: readonly ShownDay[]) {
  const due = days.filter(({ isDue }) => isDue);
  const end = due.findIndex(({ isGood }) => !isGood);
  const [next, ...others] = end === -1 ? [] : due.slice(end);
  const lastGoodDay = (end === -1 ? due.at(-1) : due[end - 1])?.day ?? null;
  if (!next) return { lastGoodDay, after: null };
  const { day, judgement, headline } = next;
  return {
    lastGoodDay,
    /** The first day that is not good, and those that follow it. */
    after: {
      ...{ day, judgement, headline },
      notGood: 1 + others.filter(({ isGood }) => !isGood).length,
      due: 1 + others.length,
      newestGoodDay: others.findLast(({ isGood }) => isGood)?.day ?? null,
    },
  };
}
