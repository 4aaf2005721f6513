import { expect, it } from 'vitest';
import { endedTooEarly, isGoodDay, makesDayGood, wasBad } from '../../src/rules/good-day.js';
import { someRun } from '../review/some-run.js';

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
  const volume = { accepted: 9, usual: 99, drops: [{ provider: null, accepted: 9, usual: 99 }] };
  const [good, failed, few] = [someRun(), someRun({ state: 'failed' }), someRun({ volume })];
  const accepted = someRun({ volume, acceptances: { volume: { at: 1, by: 'ada' } } });
  const today = someRun({ trigger: 'today', state: 'failed' });
  for (const runs of [[good, failed], [good, few], [accepted], [today, good]])
    expect(isGoodDay(runs, zone)).toBe(true);
  for (const runs of [[], [failed, good], [few], [someRun({ state: 'delivering' }), good]])
    expect(isGoodDay(runs, zone)).toBe(false);
  expect([failed, few, accepted].every(wasBad)).toBe(true);
  expect(wasBad(good)).toBe(false);
});
