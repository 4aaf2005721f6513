import { expect, it } from 'vitest';
import { followGoodDays } from '../../../src/desk/days-page.js';
import { listDays, someDay } from './some-days.js';

const days = listDays('2026-11-01', 10).map((day) => someDay(day));
const failed = {
  judgement: 'attention',
  isGood: false,
  state: 'failed',
  headline: 'The run failed.',
} as const;

it('The last good day is the newest one if all due days are good', () => {
  const today = someDay('2026-11-11', { isDue: false, isGood: false, judgement: 'not-due' });
  expect(followGoodDays([...days, today])).toEqual({ lastGoodDay: '2026-11-10', after: null });
});

it('A good day after one that is not good is not the last good day', () => {
  const some = days.map((day, index) => (index === 3 || index === 5 ? { ...day, ...failed } : day));
  expect(followGoodDays(some)).toEqual({
    lastGoodDay: '2026-11-03',
    after: { notGood: 2, due: 7, newestGoodDay: '2026-11-10' },
  });
});

it('There is none before the first day that is not good, and none without a due day', () => {
  expect(followGoodDays([{ ...someDay('2026-11-01'), ...failed }, ...days.slice(1)])).toMatchObject({
    lastGoodDay: null,
    after: { notGood: 1, due: 10, newestGoodDay: '2026-11-10' },
  });
  expect(followGoodDays([])).toEqual({ lastGoodDay: null, after: null });
});
