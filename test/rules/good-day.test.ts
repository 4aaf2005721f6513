import { expect, it } from 'vitest';
import { createBusinessDay } from '../../src/booking/business-day.js';
import {
  countDaysBehind,
  endedTooEarly,
  hasNews,
  isGoodDay,
  isGoodSoFar,
  isOverFor,
  makesDayGood,
  reportGoodDay,
  reviewsDay,
  wasBad,
  wasCollectedEarly,
} from '../../src/rules/good-day.js';
import { drop, fewBookings, manyAffected, someRun } from '../review/some-run.js';

const zone = 'Europe/Madrid';

it('a day is good once a run of the whole day succeeded, with the expected number of records', () => {
  expect(makesDayGood(someRun(), zone)).toBe(true);
  for (const state of ['failed', 'cancelled', 'awaiting-result', 'delivering'] as const)
    expect(makesDayGood(someRun({ state }), zone)).toBe(false);
  expect(makesDayGood(someRun({ expected: 1_000 }), zone)).toBe(true);
  expect(makesDayGood(someRun({ expected: 1_001 }), zone)).toBe(false);
});

it('a run that began before the end of its day, in the zone of the account, makes it neither done nor good', () => {
  for (const [collectStartedAt, isEarly] of [
    [Date.parse('2026-11-20T22:59:59.999Z'), true],
    [Date.parse('2026-11-20T23:00:00Z'), false],
  ] as const) {
    const run = someRun({ collectStartedAt });
    expect([endedTooEarly(run, zone), makesDayGood(run, zone)]).toEqual([isEarly, !isEarly]);
    expect(endedTooEarly({ ...run, state: 'failed' }, zone)).toBe(false);
  }
});

it('a run that began before the end of its day by the clocks of two others makes it neither done nor good', () => {
  const collectStartedAt = Date.parse('2026-11-20T23:30:00Z');
  for (const [clockLead, isEarly] of [
    [1_800_000, false],
    [1_800_001, true],
  ] as const) {
    const run = someRun({ collectStartedAt, clockLead });
    expect([endedTooEarly(run, zone), makesDayGood(run, zone)]).toEqual([isEarly, !isEarly]);
  }
});

it('a day is good by its newest run that may complete it, also once somebody has accepted that', () => {
  const volume = fewBookings;
  const [good, failed, few] = [someRun(), someRun({ state: 'failed' }), someRun({ volume })];
  const accepted = someRun({ volume, acceptances: { volume: { at: 1, by: 'ada' } } });
  const today = someRun({ trigger: 'today', state: 'failed' });
  for (const runs of [[good, failed], [good, few], [accepted], [today, good]])
    expect(isGoodDay(runs, zone)).toBe(true);
  for (const runs of [[], [failed, good], [few], [someRun({ state: 'delivering' }), good]])
    expect(isGoodDay(runs, zone)).toBe(false);
  const cancelled = someRun({ state: 'cancelled' });
  const unexpected = someRun({ expected: 1 });
  expect([failed, cancelled, unexpected, few, accepted].every(wasBad)).toBe(true);
  expect([good, someRun({ state: 'delivering' })].some(wasBad)).toBe(false);
});

it('the day is over for a run by the clock that it was collected by, or else began by', () => {
  const day = createBusinessDay('2026-11-20', zone);
  const last = day.lastInstant.getTime();
  const { collectStartedAt: _, ...run } = someRun({ clockLead: 5, startedAt: last + 5 });
  expect([5, 6].map((late) => isOverFor(run, day, last + late))).toEqual([false, true]);
  expect(wasCollectedEarly(day, run)).toBe(true);
  expect(wasCollectedEarly(day, { ...run, startedAt: last + 6 })).toBe(false);
});

it('a run says what keeps it from making its day good, also what somebody has accepted', () => {
  const volume = fewBookings;
  const dropped = { code: 'volume-dropped', accepted: 9, usual: 99 };
  const nobody = { acceptedAt: null, acceptedBy: null };
  const ada = { acceptedAt: '1970-01-01T00:00:00.001Z', acceptedBy: 'ada' };
  const acceptances = { volume: { at: 1, by: 'ada' } };
  const implausible = manyAffected;
  const many = { code: 'affected-implausible', ...implausible, share: 0.15, ...nobody };
  const early = { trigger: 'today', state: 'failed', expected: 1 } as const;
  const cases: [Parameters<typeof someRun>[0], boolean, object[]][] = [
    [{}, true, []],
    [{ volume: { ...volume, drops: [{ ...drop, provider: 'x' }] } }, true, []],
    [{ volume, acceptances }, true, [{ ...dropped, ...ada }]],
    [{ volume: { ...volume, minimum: 10 } }, false, [{ ...dropped, minimum: 10, ...nobody }]],
    [{ implausible, acceptances }, false, [many]],
    [
      { implausible, acceptances: { affected: { at: 1, by: 'ada', affected: 30 } } },
      true,
      [{ ...many, ...ada }],
    ],
    [early, false, [{ code: 'failed' }, { code: 'day-not-over' }, { code: 'unexpected-count' }]],
    [{ collectStartedAt: 0 }, false, [{ code: 'day-not-over' }]],
  ];
  for (const [changes, isGood, notGood] of cases)
    expect(reportGoodDay(someRun(changes), zone)).toStrictEqual({ isGood, notGood });
});

it('a run that came too early is good so far, and one with too few bookings reviewed them', () => {
  const volume = fewBookings;
  const [today, few, failed] = [
    someRun({ trigger: 'today' }),
    someRun({ volume }),
    someRun({ state: 'failed' }),
  ];
  const judge = (judged: typeof isGoodSoFar) =>
    [someRun(), today, few, failed].map((run) => judged(run, zone));
  expect(judge(isGoodSoFar)).toEqual([true, true, false, false]);
  expect(judge(reviewsDay)).toEqual([true, false, true, false]);
});

it.each([
  ['2026-11-19', 0],
  ['2026-11-20', 0],
  ['2026-11-18', 1],
  ['2026-10-20', 30],
])('if the last day that was reviewed is %s, the reviews are %d days behind', (day, behind) => {
  // 2026-11-20 in the zone of the account.
  expect(countDaysBehind(day, Date.parse('2026-11-19T23:30:00Z'), zone)).toBe(behind);
});

it('only a run of today that had nothing to send is no news', () => {
  const ofToday = { trigger: 'today', counts: { accepted: 0 } } as const;
  expect(hasNews(someRun(ofToday))).toBe(false);
  for (const changes of [{ trigger: 'manual' }, { state: 'failed' }, { counts: { accepted: 1 } }] as const)
    expect(hasNews(someRun({ ...ofToday, ...changes }))).toBe(true);
});
