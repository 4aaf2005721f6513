import { describe, expect, it } from 'vitest';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import { findMissingDays, isMissing, lacksRun, readKnownDays } from '../../../src/review/day/missing-days.js';
import type { Run } from '../../../src/rules/run.js';
import { newRun, rightOf } from '../../contracts/ledger/days.js';
import { someRun } from '../some-run.js';
import { openTemporaryLedger } from '../temporary-ledger.js';

const at = (day: string) => createBusinessDay(day, 'Europe/Madrid');

/** A ledger with a run of each day of the range, but for those without one. */
function known(from: string, to: string, without: (day: string) => boolean, others: readonly Run[] = []) {
  const runs = new Map(others.map((run) => [run.day, run]));
  for (let day = at(from); day.iso <= to; day = day.next())
    if (!without(day.iso) && !runs.has(day.iso)) runs.set(day.iso, someRun({ day: day.iso }));
  return { firstDay: from, latestOf: (day: string) => runs.get(day) };
}

const weekday = (day: string) => new Date(`${day}T00:00:00Z`).getUTCDay();
const isWeekend = (day: string) => weekday(day) % 6 === 0;
const none = { days: [], ranges: [] };

describe('of the 14 days up to one', () => {
  it('those without a run are missing', () => {
    const days = known('2026-09-01', '2026-11-20', (day) =>
      ['2026-11-06', '2026-11-07', '2026-11-18'].includes(day),
    );
    expect(findMissingDays(at('2026-11-20'), days)).toEqual({
      days: ['2026-11-07', '2026-11-18'],
      ranges: [{ from: '2026-11-07', to: '2026-11-18' }],
    });
  });

  it('a range leaves out days without a run that nobody misses: they may have no source', () => {
    const isOut = (day: string) => isWeekend(day) || ('2026-11-11' < day && day < '2026-11-20');
    expect(findMissingDays(at('2026-11-20'), known('2026-09-01', '2026-11-20', isOut)).ranges).toEqual([
      { from: '2026-11-12', to: '2026-11-13' },
      { from: '2026-11-16', to: '2026-11-19' },
    ]);
  });

  it('none is missing before the first run, nor one that nobody expects', () => {
    for (const day of ['2026-11-20', '0001-01-05'])
      expect(
        findMissingDays(
          at(day),
          known(day, day, () => false),
        ),
      ).toEqual(none);
    expect(findMissingDays(at('2026-11-20'), { firstDay: undefined, latestOf: () => undefined })).toEqual(
      none,
    );
    const holiday = known('2026-09-01', '2026-11-20', (day) => day === '2026-11-18');
    expect(findMissingDays(at('2026-11-20'), holiday, ['2026-11-18'])).toEqual(none);
  });
});

it('A day is missed because of a run four weeks before it, which the ledger is asked for', async () => {
  const ledger = await openTemporaryLedger();
  for (const day of ['2026-09-01', '2026-10-10']) {
    const run = await ledger.runs.create(newRun(`run-of-${day}`, { day }));
    await ledger.runs.settle(rightOf(run), { state: 'succeeded', at: 1 });
  }
  const latest = at('2026-11-20');
  expect(findMissingDays(latest, await readKnownDays(ledger, latest)).days).toEqual(['2026-11-07']);
});

describe('a weekday on which the agency is closed', () => {
  it.each([0, 3, 6])('is never missing after four weeks without runs: %i', (closed) => {
    for (let day = at('2026-10-20'); day.iso <= '2026-11-20'; day = day.next()) {
      const days = known('2026-09-01', day.iso, (one) => weekday(one) === closed);
      expect(findMissingDays(day, days)).toEqual(none);
    }
  });

  it('is never missing from the first night on if it is on a weekend', () => {
    for (let day = at('2026-11-02'); day.iso <= '2026-12-31'; day = day.next())
      if (!isWeekend(day.iso))
        expect(findMissingDays(day, known('2026-11-02', day.iso, isWeekend))).toEqual(none);
  });

  it('is missing once it has had runs', () => {
    const days = known('2026-09-01', '2026-11-20', (day) => isWeekend(day) && day !== '2026-10-18');
    expect(isMissing(at('2026-11-15'), days)).toBe(true);
    expect(isMissing(at('2026-11-14'), days)).toBe(false);
    expect(isMissing(at('2026-11-22'), days)).toBe(false);
  });
});

it.each([
  [true, undefined],
  [true, someRun({ state: 'cancelled' })],
  [false, someRun({ state: 'cancelled', cancelReason: 'wrong export' })],
  [true, someRun({ trigger: 'today' })],
  [false, someRun({ state: 'failed' })],
  [false, someRun({ state: 'awaiting-result' })],
])('Whether a day lacks a run: %s', (isLacking, latest) => {
  expect(lacksRun(latest)).toBe(isLacking);
});

it('A day that the calendar of the zone skipped is not missing', () => {
  const days = known('2011-12-01', '2012-01-02', (day) => day === '2011-12-30');
  expect(isMissing(createBusinessDay('2011-12-30', 'Pacific/Apia'), days)).toBe(false);
});
