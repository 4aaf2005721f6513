import { endOf, isoOf } from './calendar.js';
import { expectDay } from './model.js';
import type { World } from './world.js';

/**
 * On the next morning, `serve` has to work on the newest day by itself where it was collected before it was over, as long as it
 * catches up on it, and otherwise on none.
 */
export async function judgeDue(world: World): Promise<string[]> {
  const { journal, ledger, app } = world;
  const number = Math.max(...journal.filter(({ kind }) => kind === 'collected').map(({ day }) => day));
  if (!Number.isFinite(number)) return [];
  const day = isoOf(number);
  if ((await ledger.runs.latest(day))?.state !== 'succeeded') return [];
  const { isEarly } = expectDay(journal, number);
  const { morning, isDue } = await world.askNextMorning(day);
  const isExpected = isEarly && morning < endOf(number + 1 + app.config.schedule.catchUpDays);
  return isDue === isExpected ? [] : [`schedule: ${day} is ${isDue ? '' : 'not '}due, early: ${isEarly}`];
}
