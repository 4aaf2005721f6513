import { describe, expect, it } from 'vitest';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import { planDay, planRange, type RangeMode, requestOf } from '../../../src/review/day/range-plan.js';
import type { Run, RunState } from '../../../src/rules/run.js';
import { fakeLedger, withReplaced } from '../../support/fake-ledger.js';
import { someRun } from '../some-run.js';

const day = createBusinessDay('2026-11-20', 'Europe/Madrid');
const reason = 'a new export came';

function plan(mode: RangeMode | undefined, state: RunState | undefined, given?: string): unknown {
  const latest = state && someRun({ state });
  const { run, ...others } = planDay(mode, latest, { day, reason: given }) as { run?: Run };
  expect(run === undefined || run === latest).toBe(true);
  return others;
}

describe('of a range, the days that', () => {
  describe('are missing', () => {
    it.each([undefined, 'cancelled'] as const)('are those whose run is %s', (state) => {
      expect(plan('missing', state)).toEqual({ action: 'new-run' });
    });

    it.each(['succeeded', 'failed', 'collecting', 'delivering', 'awaiting-result'] as const)(
      'exclude those with a run that is %s',
      (state) => {
        expect(plan('missing', state)).toEqual({ action: 'nothing', why: 'has a run' });
      },
    );
  });

  describe('failed', () => {
    it.each(['failed', 'collecting', 'delivering', 'awaiting-result'] as const)(
      'are resumed if the run is %s',
      (state) => {
        expect(plan('failed', state)).toEqual({ action: 'resume' });
      },
    );

    it('exclude those that are done and those without a run', () => {
      expect(plan('failed', 'succeeded')).toEqual({ action: 'nothing', why: 'has not failed' });
      expect(plan('failed', undefined)).toEqual({ action: 'nothing', why: 'has no run' });
      expect(plan('failed', 'cancelled')).toEqual({ action: 'nothing', why: 'has no run' });
    });

    it('are not topped up, although they were collected before they ended', () => {
      const early = someRun({ collectStartedAt: day.firstInstant.getTime() });
      expect(planDay('failed', early, { day })).toMatchObject({ action: 'nothing' });
    });
  });

  describe('are all', () => {
    it('start a new run, which abandons an unfinished one', () => {
      expect(plan('all', undefined, reason)).toEqual({ action: 'new-run' });
      expect(plan('all', 'succeeded', reason)).toEqual({ action: 'new-run' });
      expect(plan('all', 'failed', reason)).toEqual({ action: 'new-run', replaces: someRun().id });
    });
  });

  describe('are requested for late bookings', () => {
    it('are topped up, or started if there is no run yet', () => {
      expect(plan('late', undefined)).toEqual({ action: 'new-run' });
      expect(plan('late', 'succeeded')).toEqual({ action: 'top-up' });
    });

    it('are refused if they are unfinished, unless there is a reason', () => {
      expect(plan('late', 'failed')).toMatchObject({
        action: 'refused',
        message: expect.stringContaining('`run --day 2026-11-20` resumes it'),
      });
      expect(plan('late', 'failed', reason)).toEqual({ action: 'top-up', replaces: someRun().id });
    });
  });

  it('were cancelled by a person are neither missing nor failed, and start anew only with all', () => {
    const cancelled = someRun({ state: 'cancelled', cancelReason: 'wrong export' });
    const planOf = (mode: RangeMode | undefined) =>
      planDay(mode, cancelled, { day: createBusinessDay('2026-11-20', 'Europe/Madrid') });
    for (const mode of ['missing', 'failed'] as const)
      expect(planOf(mode)).toEqual({ action: 'nothing', why: 'was cancelled', run: cancelled });
    expect(planOf('all')).toEqual({ action: 'new-run' });
    expect(planOf(undefined)).toEqual({ action: 'new-run' });
  });

  it('are not filtered start a new run, and are refused if they are unfinished', () => {
    expect(plan(undefined, undefined)).toEqual({ action: 'new-run' });
    expect(plan(undefined, 'succeeded')).toEqual({ action: 'new-run' });
    expect(plan(undefined, 'awaiting-result')).toMatchObject({ action: 'refused' });
  });
});

it.each<[RangeMode | undefined, string]>([
  ['missing', 'run'],
  ['failed', 'run'],
  ['all', 'replay'],
  ['late', 'late'],
  [undefined, 'replay'],
])('a replay of what is %s requests each day as %s, with its options', (mode, asked) => {
  const options = { delivery: 'file', reason } as const;
  expect(requestOf(mode, options)).toEqual({ mode: asked, ...options });
});

describe('the plan of a range', () => {
  const days = ['2026-11-19', '2026-11-20', '2026-11-21'].map((iso) =>
    createBusinessDay(iso, 'Europe/Madrid'),
  );
  const ledgerWith = (runs: readonly Run[], isBeingPerformed = false) =>
    fakeLedger({
      runs: { listLatest: async () => [...runs], listOfDays: async () => [...runs] },
      steps: { isBeingPerformed: async () => isBeingPerformed },
    });

  it('has every day in its order, with or without a run', async () => {
    expect(await planRange(ledgerWith([someRun()]), days, { mode: 'missing', reason })).toMatchObject([
      { day: '2026-11-19', plan: { action: 'new-run' } },
      { day: '2026-11-20', plan: { action: 'nothing', why: 'has a run' } },
      { day: '2026-11-21', plan: { action: 'new-run' } },
    ]);
  });

  it('refuses a day whose run another process is working on', async () => {
    const run = someRun({ state: 'delivering' });
    const message = '2026-11-20 is being run by another process';
    for (const [isBeingPerformed, plan] of [
      [true, { action: 'refused', message, run }],
      [false, { action: 'resume', run }],
    ] as const) {
      const planned = await planRange(ledgerWith([run], isBeingPerformed), days, { mode: 'failed', reason });
      expect(planned[1]).toEqual({ day: '2026-11-20', plan, latest: run });
    }
  });

  it('refuses to top up a day whose guest names were blanked', async () => {
    const run = someRun({ linesBlanked: true });
    const planned = await planRange(ledgerWith([run]), days, { mode: 'late', reason });
    expect(planned[1]?.plan).toMatchObject({
      action: 'refused',
      message: expect.stringContaining('its guest names were blanked after guestNameDays'),
    });
  });

  it('judges each day by all its runs, and reads those of all days at once', async () => {
    const blanked = { linesBlanked: true } as const;
    const latest = days.map(({ iso }) => someRun({ id: `latest-${iso}`, day: iso }));
    const older = [
      someRun({ id: 'nothing-sent', day: '2026-11-19', ...blanked, counts: { delivered: 0 } }),
      someRun({ id: 'before', day: '2026-11-20', ...blanked }),
      someRun({ id: 'so-far', day: '2026-11-21', trigger: 'today', ...blanked }),
    ];
    const asked: unknown[] = [];
    const ledger = withReplaced(ledgerWith(latest), {
      runs: {
        async listOfDays(range) {
          asked.push(range);
          return days.flatMap(({ iso }) => [...latest, ...older].filter((run) => run.day === iso));
        },
      },
    });
    const planned = await planRange(ledger, days, { mode: 'late', reason });
    expect(planned.map(({ plan }) => plan)).toEqual([
      { action: 'top-up', run: latest[0] },
      { action: 'refused', message: expect.stringContaining('run before delivered'), run: latest[1] },
      { action: 'top-up', run: latest[2] },
    ]);
    expect(asked).toEqual([{ from: '2026-11-19', to: '2026-11-21' }]);
    await planRange(ledger, days, { mode: 'all', reason });
    expect(asked).toHaveLength(1);
  });
});
