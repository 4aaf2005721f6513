import { isoOf } from './calendar.js';
import { expectDay } from './model.js';
import type { World } from './world.js';

/** On the next morning, `serve` has to work on the newest day by itself where it was collected before it was over, and otherwise on none. */
export async function judgeDue(world: World): Promise<string[]> {
  const { journal, ledger } = world;
  const number = Math.max(...journal.filter(({ kind }) => kind === 'collected').map(({ day }) => day));
  if (!Number.isFinite(number)) return [];
  const day = isoOf(number);
  if ((await ledger.runs.latest(day))?.state !== 'succeeded') return [];
  const { isEarly } = expectDay(journal, number);
  const isDue = await world.isDueNextMorning(day);
  return isDue === isEarly ? [] : [`schedule: ${day} is ${isDue ? '' : 'not '}due, early: ${isEarly}`];
}
