import { describe, expect, it } from 'vitest';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import { judgeShownDay } from '../../../src/desk/calendar.js';
import type { Run } from '../../../src/rules/run.js';
import { outcomeOf } from '../../review/outcome/some-outcome.js';
import { now, timezone } from '../some-desk.js';
import { nightlyRun } from './some-days.js';

const iso = '2026-11-19';
type Known = Parameters<typeof judgeShownDay>[3];
const usually: Known = {
  now,
  dueUntil: '2026-11-20',
  firstDay: '2026-11-01',
  latestOf: () => undefined,
  deadline: undefined,
  countedFrom: 0,
  canaries: new Map(),
  open: new Map(),
};

type Changes = { readonly [Name in keyof Known]?: Known[Name] | undefined };

function judge(runs: readonly Run[], known: Changes & { readonly day?: string } = {}) {
  const { day = iso, ...others } = known;
  const outcome = runs.length === 0 ? undefined : outcomeOf(runs, {}, day);
  return judgeShownDay(createBusinessDay(day, timezone), runs, outcome, { ...usually, ...others } as Known);
}

describe('the state of a day', () => {
  it.each([
    ['good', nightlyRun(iso), true],
    ['sent', nightlyRun(iso, { delivery: 'body', counts: { affected: null, unanswered: null } }), true],
    ['sent', nightlyRun(iso, { counts: { posted: 1 } }), true],
    ['attention', nightlyRun(iso, { counts: { affected: 2 } }), true],
    ['attention', nightlyRun(iso, { counts: { unanswered: 2 } }), true],
    ['attention', nightlyRun(iso, { state: 'failed' }), false],
    ['attention', nightlyRun(iso, { state: 'cancelled' }), false],
    ['unfinished', nightlyRun(iso, { state: 'delivering' }), false],
    ['unfinished', nightlyRun(iso, { state: 'awaiting-result' }), false],
    ['unfinished', nightlyRun(iso, { expected: 2_000 }), false],
  ] as const)('is %s, as the report judges it', (judgement, run, isGood) => {
    expect(judge([run as Run])).toMatchObject({ judgement, isGood, isDue: true });
  });

  it('is missing once its cron time has passed, since the first day with a run', () => {
    expect(judge([])).toMatchObject({ judgement: 'missing', isDue: true, isGood: false, accepted: null });
    expect(judge([], { day: '2026-11-21' })).toMatchObject({ judgement: 'not-due', isDue: false });
    expect(judge([], { day: '2026-10-31' })).toMatchObject({ judgement: 'not-due', isDue: false });
    expect(judge([], { firstDay: undefined })).toMatchObject({ judgement: 'not-due', isDue: false });
  });

  it('misses no run on a weekday that had none for four weeks', () => {
    expect(judge([], { firstDay: '2026-09-01' })).toMatchObject({ judgement: 'not-due', isDue: false });
  });

  it('is that of a later run that failed, or of the first if the later one was given up', () => {
    const failed = nightlyRun(iso, { id: 'replay', trigger: 'replay', state: 'failed' });
    expect(judge([failed, nightlyRun(iso)])).toMatchObject({
      ...{ judgement: 'attention', isGood: false, runId: 'replay' },
    });
    const cancelled = { ...failed, state: 'cancelled' } as const;
    expect(judge([cancelled, nightlyRun(iso)])).toMatchObject({ judgement: 'good', isGood: true });
  });

  it('counts all runs that together sent it', () => {
    const topUp = nightlyRun(iso, { id: 'late', topsUp: true, counts: { accepted: 10, delivered: 10 } });
    expect(judge([topUp, nightlyRun(iso)]).accepted).toBe(1_000);
  });
});

describe('what helps a day, and whether it is late', () => {
  it('is the first action of its own page, after the newest of all runs', () => {
    const today = nightlyRun(iso, { trigger: 'today', collectedAt: Date.parse('2026-11-19T12:00:00Z') });
    expect(judge([today])).toMatchObject({ firstAction: { name: 'Send what is missing', path: 'run' } });
    expect(judge([nightlyRun(iso, { state: 'failed' })])).toMatchObject({ firstAction: { name: 'Resume' } });
    expect(judge([])).toMatchObject({ firstAction: { name: 'Run this day' } });
    expect(judge([], { day: '2026-11-21' })).toMatchObject({ firstAction: null });
  });

  it('is late if it was not good by its deadline, or is not yet', () => {
    // It ends at 02:40, and it is 03:30 on the 21st.
    const run = nightlyRun(iso);
    expect(judge([run], { deadline: '02:40' }).isLate).toBe(false);
    expect(judge([run], { deadline: '02:39' }).isLate).toBe(true);
    expect(judge([], { deadline: '03:30', day: '2026-11-20' }).isLate).toBe(false);
    expect(judge([], { deadline: '03:29', day: '2026-11-20' }).isLate).toBe(true);
    expect(judge([], { deadline: '03:29', day: '2026-10-31' }).isLate).toBe(false);
    expect(judge([], { deadline: '03:29', day: '2026-11-20', countedFrom: now }).isLate).toBe(false);
  });
});
