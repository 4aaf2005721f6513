import { describe, expect, it } from 'vitest';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import {
  listBegunDays,
  planDay,
  planRange,
  type RangeMode,
  rangeModes,
  requestOf,
} from '../../../src/review/day/range-plan.js';
import type { Run, RunState } from '../../../src/rules/run.js';
import { fakeLedger } from '../../support/fake-ledger.js';
import { someRun } from '../some-run.js';

const day = createBusinessDay('2026-11-20', 'Europe/Madrid');
const reason = 'a new export came';
const states = ['succeeded', 'failed', 'collecting', 'delivering', 'awaiting-result', 'cancelled'] as const;

function plan(mode: RangeMode | undefined, latest: Partial<Run> | undefined, given?: string): unknown {
  const run = latest && someRun(latest as Parameters<typeof someRun>[0]);
  const { run: _, ...others } = planDay(mode, run, { day, reason: given }) as { run?: Run };
  return others;
}

/** What a mode does with a day without a run, and with one in each state: an action, or why not. */
function planEach(mode: RangeMode | undefined, given?: string) {
  const each = [undefined, ...states].map((state?: RunState) => plan(mode, state && { state }, given));
  return each.map((one) => (one as { why?: string }).why ?? (one as { action: string }).action);
}

const cancelledByHand = { state: 'cancelled', cancelReason: 'wrong export' } as const;

describe('of a range, a replay', () => {
  it('of missing days starts those without a run that counts', () => {
    expect(planEach('missing')).toEqual(['new-run', ...Array(5).fill('has a run'), 'new-run']);
    expect(plan('missing', cancelledByHand)).toEqual({ action: 'nothing', why: 'was cancelled' });
  });

  it('of failed days resumes what is unfinished, and tops nothing up', () => {
    expect(planEach('failed')).toEqual([
      ...['has no run', 'has not failed', ...Array(4).fill('resume'), 'has no run'],
    ]);
    expect(plan('failed', cancelledByHand)).toEqual({ action: 'nothing', why: 'was cancelled' });
    const early = { collectStartedAt: day.firstInstant.getTime() };
    expect(plan('failed', early)).toMatchObject({ action: 'nothing' });
  });

  it('of all days starts anew, and abandons what is unfinished', () => {
    expect(planEach('all', reason)).toEqual(Array(7).fill('new-run'));
    expect(plan('all', { state: 'failed' }, reason)).toEqual({ action: 'new-run', replaces: someRun().id });
    expect(plan('all', cancelledByHand)).toEqual({ action: 'new-run' });
  });

  it('for late bookings tops up, and leaves alone what is unfinished without a reason', () => {
    expect(planEach('late')).toEqual(['new-run', 'top-up', ...Array(4).fill('refused'), 'top-up']);
    expect(plan('late', { state: 'failed' }, reason)).toEqual({ action: 'top-up', replaces: someRun().id });
  });

  it('that is not filtered starts anew, and leaves alone what is unfinished', () => {
    expect(planEach(undefined)).toEqual(['new-run', 'new-run', ...Array(4).fill('refused'), 'new-run']);
  });

  it('requests each day as its mode says, with its options', () => {
    const options = { delivery: 'file', reason } as const;
    const asked = (['missing', 'failed', 'all', 'late', undefined] as const).map((mode) =>
      requestOf(mode, options),
    );
    expect(asked.map(({ mode }) => mode)).toEqual(['run', 'run', 'replay', 'late', 'replay']);
    for (const one of asked) expect(one).toMatchObject(options);
  });
});

it('a day with runs of today only is missing, rather than failed or done', () => {
  const failed = someRun({ trigger: 'today', state: 'failed' });
  const plans = rangeModes.map((mode) => [mode, planDay(mode, failed, { day }).action]);
  const expected = { missing: 'top-up', failed: 'nothing', all: 'new-run', late: 'top-up' };
  expect(Object.fromEntries(plans)).toEqual(expected);
});

describe('the plan of a range', () => {
  const days = ['2026-11-19', '2026-11-20', '2026-11-21'].map((iso) => createBusinessDay(iso, day.zone));
  const planWith = (runs: readonly Run[], mode: RangeMode, isBeingPerformed = false) =>
    planRange(
      fakeLedger({
        runs: {
          listLatest: async () => runs.filter(({ id }) => !id.startsWith('older')),
          listOfDays: async () => [...runs],
        },
        steps: { isBeingPerformed: async () => isBeingPerformed },
      }),
      days,
      { mode, reason },
    );

  it('has every day in its order, and refuses one that another process is working on', async () => {
    const run = someRun({ state: 'delivering' });
    for (const isBeingPerformed of [true, false])
      expect(await planWith([run], 'failed', isBeingPerformed)).toMatchObject([
        { day: '2026-11-19', plan: { action: 'nothing' } },
        {
          ...{ day: '2026-11-20', latest: run },
          plan: isBeingPerformed
            ? { action: 'refused', message: '2026-11-20 is being run by another process', run }
            : { action: 'resume', run },
        },
        { day: '2026-11-21', plan: { action: 'nothing' } },
      ]);
  });

  it('tops up no day of which any run lost the names of what it sent', async () => {
    const blanked = { linesBlanked: true } as const;
    const planned = await planWith(
      days.flatMap(({ iso }, at) => [
        someRun({ id: `latest-${iso}`, day: iso }),
        someRun({ id: `older-${iso}`, day: iso, ...blanked, counts: { delivered: at } }),
      ]),
      'late',
    );
    expect(planned.map((one) => one.plan.action)).toEqual(['top-up', 'refused', 'refused']);
    expect(planned[1]?.plan).toMatchObject({
      message: expect.stringContaining('its guest names were blanked after guestNameDays'),
    });
  });
});

it('a range ends with today, in its zone, and a replay takes at most a year of it', () => {
  /** 00:30 on 22 November in Madrid */
  const now = Date.UTC(2026, 10, 21, 23, 30);
  const list = (from: string, to: string, at = now) =>
    listBegunDays(createBusinessDay(from, day.zone), to, at).map(({ iso }) => iso);
  expect(list('2026-11-21', '2026-11-24')).toEqual(['2026-11-21', '2026-11-22']);
  expect(list('2026-11-22', '9999-12-31')).toEqual(['2026-11-22']);
  expect(() => list('2026-11-22', '2026-11-22', now - 3_600_000)).toThrow(
    '2026-11-22 has not started: in Europe/Madrid it is 2026-11-21',
  );
  expect(() => list('2026-11-21', '2026-11-20')).toThrow('2026-11-20 is before 2026-11-21');
  expect(list('2025-11-21', '2026-11-21')).toHaveLength(366);
  expect(() => list('2025-11-20', '2026-11-21')).toThrow('are 367 days, and a replay takes at most 366');
});
