import { describe, expect, it } from 'vitest';
import { createBusinessDay } from '../../src/booking/business-day.js';
import type { Run } from '../../src/rules/run.js';
import { createCronTimes } from '../../src/schedule/cron-times.js';
import { type DueDaysQuestion, findDueDays, findFirstAskableDay } from '../../src/schedule/due-days.js';
import { fakeLedger } from '../support/fake-ledger.js';
import { failureOf, noRuns, runOf } from './ledger-days.js';

const nightly = createCronTimes('30 2 * * *', 'Europe/Madrid');
/** Saturday, 15 minutes after the cron time of Friday, the 20th. */
const now = new Date('2026-11-21T01:45:00Z');
const hourMs = 3_600_000;

function goodRun(day: string): Run {
  return runOf(day, 'succeeded', new Date(Date.parse(`${day}T02:30:00Z`) + 24 * hourMs));
}

const allGood = ['2026-11-17', '2026-11-18', '2026-11-19', '2026-11-20'].map(goodRun);

/** In a ledger where all days of November were reviewed, except those of `changed`, and those of `without`, which are missing. */
function ledgerWith(changed: readonly Run[], without: readonly string[] = []): readonly Run[] {
  const isLeft = ({ day }: Run) => !without.includes(day) && !changed.some((run) => run.day === day);
  return [...allGood.filter(isLeft), ...changed];
}

function ask(latestRuns: readonly Run[], changes: Partial<DueDaysQuestion> = {}): string[] {
  const dueDays = findDueDays({
    cronTimes: nightly,
    giveUps: createCronTimes('0 12 * * *', 'Europe/Madrid'),
    now,
    watchedSince: new Date('2026-11-21T01:40:00Z'),
    catchUpDays: 3,
    restMs: hourMs,
    firstDay: '2026-11-01',
    latestRuns,
    awaiting: [],
    ...changes,
  });
  return dueDays.map(({ day, kind, isNightly }) => `${kind} ${day.iso}${isNightly ? ' (nightly)' : ''}`);
}

describe('the first day that callers of the hook may request', () => {
  const find = (day: string, firstDay?: string, catchUpDays = 3) =>
    findFirstAskableDay(
      createBusinessDay(day, 'Europe/Madrid'),
      fakeLedger({
        runs: { summarise: async () => ({ runsByState: noRuns, ...(firstDay && { firstDay }) }) },
      }),
      { cronTimes: nightly, now, catchUpDays },
    );

  it('is that of the catch-up window in an empty ledger, and where the ledger is younger', async () => {
    expect(await find('0001-01-01')).toBe('2026-11-17');
    expect(await find('0001-01-01', '2026-11-19')).toBe('2026-11-17');
    expect(await find('0001-01-01', undefined, 0)).toBe('2026-11-20');
  });

  it('is the first that the ledger knows, if that is earlier', async () => {
    expect(await find('2026-11-05', '2026-11-01')).toBe('2026-11-01');
    expect(await find('0001-01-01', '2026-11-01')).toBe('2026-11-01');
  });
});

describe('the days that are due', () => {
  it('are the day of the last cron time first, then the missed days, oldest first', () => {
    expect(ask([])).toEqual([
      'start 2026-11-20 (nightly)',
      'start 2026-11-17',
      'start 2026-11-18',
      'start 2026-11-19',
    ]);
  });

  it('are not those that a person cancelled', () => {
    const cancelled = { ...runOf('2026-11-20', 'cancelled', now), cancelReason: 'wrong export' };
    expect(ask(ledgerWith([cancelled]))).toEqual([]);
  });

  it('do not go back before the first day in the ledger', () => {
    expect(ask([], { firstDay: '2026-11-19' })).toEqual(['start 2026-11-20 (nightly)', 'start 2026-11-19']);
  });

  it('are up to the day before yesterday until tonight’s cron time', () => {
    expect(ask([], { now: new Date('2026-11-21T01:29:59Z'), catchUpDays: 0 })).toEqual([
      'start 2026-11-19 (nightly)',
    ]);
  });

  it('in a new ledger are none before the first cron time', () => {
    expect(ask([], { firstDay: undefined })).toEqual([]);
  });

  it('in a new ledger start with the day of a cron time that passed while the process was watching', () => {
    const watchedSince = new Date('2026-11-20T12:00:00Z');
    expect(ask([], { firstDay: undefined, watchedSince })).toEqual(['start 2026-11-20 (nightly)']);
  });

  it.each(['collecting', 'delivering'] as const)('include a day whose run is %s', (state) => {
    expect(ask(ledgerWith([runOf('2026-11-19', state, now)]))).toEqual(['continue 2026-11-19']);
  });

  it('include, as a top-up, a day that was collected before it ended in its zone', () => {
    const lastInstant = new Date('2026-11-20T22:59:59.999Z');
    expect(ask(ledgerWith([runOf('2026-11-20', 'succeeded', lastInstant)]))).toEqual([
      'top-up 2026-11-20 (nightly)',
    ]);
    const ended = new Date('2026-11-20T23:00:00.000Z');
    expect(ask(ledgerWith([runOf('2026-11-20', 'succeeded', ended)]))).toEqual([]);
  });

  it('include a day that was too early by other clocks only once it is over by them', () => {
    const run = (clockLead: number) =>
      runOf('2026-11-20', 'succeeded', now, { collectStartedAt: now.getTime(), clockLead });
    const lead = now.getTime() - Date.parse('2026-11-20T23:00:00Z');
    const later = { now: new Date(now.getTime() + 2) };
    expect(ask(ledgerWith([run(lead)]), later)).toEqual([]);
    expect(ask(ledgerWith([run(lead + 1)]))).toEqual([]);
    expect(ask(ledgerWith([run(lead + 1)]), later)).toEqual(['top-up 2026-11-20 (nightly)']);
  });
});

describe('the runs that are resumed', () => {
  const longAgo = new Date(now.getTime() - hourMs);

  it('are those that failed for a reason that may be over', () => {
    const failed = runOf('2026-11-18', 'failed', longAgo, { failure: failureOf('retryable') });
    expect(ask(ledgerWith([failed]))).toEqual(['resume 2026-11-18']);
  });

  it.each(['fatal', 'refused', 'data', 'internal'] as const)(
    'are never those that failed as %s',
    (failureClass) => {
      const failed = runOf('2026-11-20', 'failed', longAgo, { failure: failureOf(failureClass) });
      expect(ask(ledgerWith([failed]))).toEqual([]);
    },
  );

  it('are not those that failed a short while ago', () => {
    const justNow = new Date(longAgo.getTime() + 1);
    const failed = runOf('2026-11-20', 'failed', justNow, { failure: failureOf('retryable') });
    expect(ask(ledgerWith([failed]))).toEqual([]);
  });

  it('include one that still has time for its result, however old, and not one whose result is overdue', () => {
    const inTime = { openSteps: 2 };
    const awaiting = [
      runOf('2026-10-02', 'awaiting-result', now, inTime),
      runOf('2026-10-03', 'delivering', now, inTime),
    ];
    const changed = [
      runOf('2026-11-17', 'awaiting-result', now, inTime),
      runOf('2026-11-18', 'awaiting-result', now),
    ];
    expect(ask(ledgerWith(changed), { awaiting })).toEqual(['await 2026-11-17', 'await 2026-10-02']);
  });

  it('include a run that the hook started today, or yesterday before its cron time', () => {
    const failure = failureOf('retryable');
    const changed = [
      runOf('2026-11-20', 'failed', longAgo, { failure }),
      runOf('2026-11-21', 'delivering', now),
    ];
    const before = { now: new Date('2026-11-21T01:00:00Z'), restMs: 0, catchUpDays: 2 };
    expect(ask(ledgerWith(changed), before)).toEqual(['resume 2026-11-20', 'continue 2026-11-21']);
  });
});

describe('a pattern that does not fire daily', () => {
  const weekdays = createCronTimes('30 2 * * 1-5', 'Europe/Madrid');
  const monday = new Date('2026-11-23T02:00:00Z');

  it('leaves no day out: after a weekend without cron times the days between are due too', () => {
    expect(ask([], { cronTimes: weekdays, now: monday, catchUpDays: 0 })).toEqual([
      'start 2026-11-22 (nightly)',
      'start 2026-11-20',
      'start 2026-11-21',
    ]);
  });

  it('catches up on as many days before these as configured', () => {
    expect(ask([], { cronTimes: weekdays, now: monday, catchUpDays: 2 })).toEqual([
      'start 2026-11-22 (nightly)',
      'start 2026-11-18',
      'start 2026-11-19',
      'start 2026-11-20',
      'start 2026-11-21',
    ]);
  });
});

it('a day that the zone’s calendar skipped is never due, and the one before it is', () => {
  const apia = createCronTimes('30 2 * * *', 'Pacific/Apia');
  const ofNight = (now: string) =>
    ask([], { cronTimes: apia, now: new Date(now), catchUpDays: 2, firstDay: '2011-12-28' });
  expect(ofNight('2011-12-30T20:00:00Z')).toEqual(['start 2011-12-29 (nightly)', 'start 2011-12-28']);
  expect(ofNight('2011-12-31T20:00:00Z')).toEqual(['start 2011-12-31 (nightly)', 'start 2011-12-29']);
});
