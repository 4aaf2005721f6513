import { describe, expect, it } from 'vitest';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import { judgeShownDay, renderCalendar, type ShownDay } from '../../../src/desk/calendar.js';
import { followGoodDays } from '../../../src/desk/days-page.js';
import type { Run } from '../../../src/rules/run.js';
import { someRun } from '../../review/some-run.js';
import { outcomeOf } from '../../rules/some-outcome.js';
import { now, timezone } from '../some-desk.js';

const iso = '2026-11-19';
type Known = Parameters<typeof judgeShownDay>[3];
type Changes = { readonly [Name in keyof Known]?: Known[Name] | undefined };

/** It is 03:30 on the 21st. */
function judge(runs: readonly Run[], { day = iso, ...changes }: Changes & { readonly day?: string } = {}) {
  const outcome = runs.length === 0 ? undefined : outcomeOf(runs, {}, day);
  const known = {
    ...{ now, dueUntil: '2026-11-20', firstDay: '2026-11-01', latestOf: () => undefined },
    ...{ deadline: undefined, countedFrom: 0, canaries: new Map(), open: new Map() },
    ...changes,
  };
  return judgeShownDay(createBusinessDay(day, timezone), runs, outcome, known as Known);
}

/** A run by file of that day, which began at half past two in the next night and took ten minutes. */
function nightlyRun(changes: Parameters<typeof someRun>[0] = {}): Run {
  const startedAt = Date.parse('2026-11-20T01:30:00Z');
  return someRun({
    ...{ day: iso, delivery: 'file', trigger: 'schedule', startedAt, collectStartedAt: startedAt },
    ...{ collectedAt: startedAt + 1_000, finishedAt: startedAt + 600_000 },
    file: { verdicts: { affected: 0, unanswered: 0, unclear: 0, malformed: 0 } },
    ...changes,
  });
}

describe('a day of the calendar', () => {
  it('is missing once its cron time has passed, since the first day with a run', () => {
    const missing = { judgement: 'missing', isDue: true, isGood: false, accepted: null };
    expect(judge([])).toMatchObject({ ...missing, firstAction: { name: 'Run this day' } });
    for (const known of [
      { day: '2026-11-21' },
      { day: '2026-10-31' },
      { firstDay: undefined },
      // A weekday that had none for four weeks.
      { firstDay: '2026-09-01' },
    ])
      expect(judge([], known)).toMatchObject({ judgement: 'not-due', isDue: false, firstAction: null });
  });

  it('is that of a later run that failed, or of the first if the later one was given up', () => {
    const failed = nightlyRun({ id: 'replay', trigger: 'replay', state: 'failed' });
    expect(judge([failed, nightlyRun()])).toMatchObject({
      ...{ judgement: 'attention', isGood: false, runId: 'replay', firstAction: { name: 'Resume' } },
    });
    const cancelled = { ...failed, state: 'cancelled' } as const;
    expect(judge([cancelled, nightlyRun()])).toMatchObject({ judgement: 'good', isGood: true });
  });

  it('is helped first by what its own page offers first', () => {
    const today = nightlyRun({ trigger: 'today', collectedAt: Date.parse('2026-11-19T12:00:00Z') });
    expect(judge([today])).toMatchObject({ firstAction: { name: 'Send what is missing', path: 'run' } });
  });

  it('is late if it was not good by its deadline, or is not yet', () => {
    // It ends at 02:40.
    const run = nightlyRun();
    expect(judge([run], { deadline: '02:40' }).isLate).toBe(false);
    expect(judge([run], { deadline: '02:39' }).isLate).toBe(true);
    // A replay in the morning does not make it late.
    const replay = nightlyRun({ id: 'replay', trigger: 'replay', finishedAt: now });
    expect(judge([replay, run], { deadline: '02:40' }).isLate).toBe(false);
    expect(judge([], { deadline: '03:30', day: '2026-11-20' }).isLate).toBe(false);
    expect(judge([], { deadline: '03:29', day: '2026-11-20' }).isLate).toBe(true);
    expect(judge([], { deadline: '03:29', day: '2026-10-31' }).isLate).toBe(false);
    expect(judge([], { deadline: '03:29', day: '2026-11-20', countedFrom: now }).isLate).toBe(false);
  });
});

/** A good day of the calendar, apart from the changes. */
const someDay = (day: string, changes: Partial<ShownDay> = {}): ShownDay => ({
  ...{ day, judgement: 'good', ran: 'good', openBookings: 0, headline: 'All is well.', firstAction: null },
  ...{ isDue: true, isGood: true, isLate: false, runId: `run-of-${day}`, state: 'succeeded', accepted: 990 },
  ...changes,
});

/** Days in a row, oldest first. */
const listDays = (from: string, count: number) =>
  Array.from({ length: count }, (_, index) =>
    new Date(Date.parse(from) + index * 86_400_000).toISOString().slice(0, 10),
  );

it('A cell counts the open bookings up to 99, and escapes and shortens what a headline says', () => {
  const headline = `"><script>\u202ealert(1)</script>${'x'.repeat(900)}`;
  const day = someDay('2026-11-20', { ran: 'attention', headline, isGood: false, openBookings: 1_200 });
  const [, cell = ''] = /<li>(<a .*?)<\/li>/.exec(renderCalendar([day], day.day).markup) ?? [];
  expect(cell).toContain('<b aria-hidden="true">99+<');
  expect(cell).toContain('&quot;&gt;&lt;script&gt;\\u202e');
  expect(cell.length).toBeLessThan(300);
});

it('The calendar begins with the month of the first run, and folds the months before the newest three', () => {
  const days = listDays('2026-01-01', 330).map((day) =>
    someDay(day, day === '2026-07-03' ? { openBookings: 1 } : {}),
  );
  const listMonths = (markup = '') => [...markup.matchAll(/<h3>([^<]*)</g)].map(([, month]) => month);
  const [newest, older] = renderCalendar(days, '2026-06-15').markup.split('<details>');
  expect(listMonths(newest)).toEqual(['Nov 2026', 'Oct 2026', 'Sep 2026']);
  expect(listMonths(older)).toEqual(['Aug 2026', 'Jul 2026', 'Jun 2026']);
  expect(older).toContain('<summary>3 older months, 1 day in need of attention</summary>');
  expect(renderCalendar(days.slice(0, 40), null).markup).not.toContain('Jan 2026');
});

it.each<[string, readonly number[], object]>([
  ['the newest one if all due days are good', [], { lastGoodDay: '2026-11-10', after: null }],
  [
    'not a good day after one that is not good',
    [3, 5],
    { lastGoodDay: '2026-11-03', after: { notGood: 2, due: 7, newestGoodDay: '2026-11-10' } },
  ],
  [
    'none before the first day that is not good',
    [0],
    { lastGoodDay: null, after: { notGood: 1, due: 10, newestGoodDay: '2026-11-10' } },
  ],
])('The last good day is %s', (_, bad, expected) => {
  const days = listDays('2026-11-01', 10).map((day, index) => someDay(day, { isGood: !bad.includes(index) }));
  const today = someDay('2026-11-11', { isDue: false, isGood: false });
  expect(followGoodDays([...days, today])).toEqual(expected);
});
