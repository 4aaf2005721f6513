import { describe, expect, it } from 'vitest';
import { createBusinessDay } from '../../src/booking/business-day.js';
import type { Run } from '../../src/rules/run.js';
import { createCronTimes } from '../../src/schedule/cron-times.js';
import {
  type DueDaysQuestion,
  describeGivenUp,
  findDueDays,
  findFirstAskableDay,
  findSourceDeadline,
  isToGiveUp,
  toDailyPattern,
} from '../../src/schedule/due-days.js';
import { fakeLedger } from '../support/fake-ledger.js';
import { failureOf, noRuns, runOf } from './ledger-days.js';

const nightly = createCronTimes('30 2 * * *', 'Europe/Madrid');
const giveUps = createCronTimes(toDailyPattern('12:00'), 'Europe/Madrid');
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
    giveUps,
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
      nightly,
      now,
      catchUpDays,
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

const longAgo = new Date(now.getTime() - hourMs);
const failure = failureOf('retryable');
const failed = (day: string, at: Date, changes: Partial<Run> = {}) =>
  ledgerWith([runOf(day, 'failed', at, { failure, ...changes })]);
const succeeded = (collected: string) => ledgerWith([runOf('2026-11-20', 'succeeded', new Date(collected))]);
/** Collected when the day was over by our clock, which was so far ahead. */
const early = (clockLead: number) =>
  ledgerWith([runOf('2026-11-20', 'succeeded', now, { collectStartedAt: now.getTime(), clockLead })]);
const lead = now.getTime() - Date.parse('2026-11-20T23:00:00Z');
const later = { now: new Date(now.getTime() + 2) };
const inTime = { openSteps: 2 };
const weekdays = createCronTimes('30 2 * * 1-5', 'Europe/Madrid');
const monday = new Date('2026-11-23T02:00:00Z');

type Row = readonly [
  what: string,
  runs: readonly Run[],
  due: readonly string[],
  changes?: Partial<DueDaysQuestion>,
];

const rows: readonly Row[] = [
  [
    'the day of the last cron time first, then the missed days, oldest first',
    [],
    ['start 2026-11-20 (nightly)', 'start 2026-11-17', 'start 2026-11-18', 'start 2026-11-19'],
  ],
  [
    'none that a person cancelled',
    ledgerWith([runOf('2026-11-20', 'cancelled', now, { cancelReason: 'wrong' })]),
    [],
  ],
  [
    'none before the first day in the ledger',
    [],
    ['start 2026-11-20 (nightly)', 'start 2026-11-19'],
    { firstDay: '2026-11-19' },
  ],
  [
    'up to the day before yesterday until tonight’s cron time',
    [],
    ['start 2026-11-19 (nightly)'],
    { now: new Date('2026-11-21T01:29:59Z'), catchUpDays: 0 },
  ],
  ['in a new ledger, none before the first cron time', [], [], { firstDay: undefined }],
  [
    'in a new ledger, the day of a cron time that passed while the process was watching',
    [],
    ['start 2026-11-20 (nightly)'],
    { firstDay: undefined, watchedSince: new Date('2026-11-20T12:00:00Z') },
  ],
  ['one that is collecting', ledgerWith([runOf('2026-11-19', 'collecting', now)]), ['continue 2026-11-19']],
  ['one that is delivering', ledgerWith([runOf('2026-11-19', 'delivering', now)]), ['continue 2026-11-19']],
  [
    'as a top-up, one that was collected before it ended in its zone',
    succeeded('2026-11-20T22:59:59.999Z'),
    ['top-up 2026-11-20 (nightly)'],
  ],
  ['none that was collected after it ended', succeeded('2026-11-20T23:00:00.000Z'), []],
  // One that was too early by other clocks is due only once it is over by them.
  ['none that was collected after it ended by other clocks', early(lead), [], later],
  ['none that is not over by other clocks', early(lead + 1), []],
  ['one that was too early by other clocks', early(lead + 1), ['top-up 2026-11-20 (nightly)'], later],
  ['one that failed for a reason that may be over', failed('2026-11-18', longAgo), ['resume 2026-11-18']],
  ...(['fatal', 'refused', 'data', 'internal'] as const).map(
    (name): Row => [
      `none that failed as ${name}`,
      failed('2026-11-20', longAgo, { failure: failureOf(name) }),
      [],
    ],
  ),
  ['none that failed a short while ago', failed('2026-11-20', new Date(longAgo.getTime() + 1)), []],
  [
    'one that still has time for its result, however old, and none whose result is overdue',
    ledgerWith([
      runOf('2026-11-17', 'awaiting-result', now, inTime),
      runOf('2026-11-18', 'awaiting-result', now),
    ]),
    ['await 2026-11-17', 'await 2026-10-02'],
    {
      awaiting: [
        runOf('2026-11-17', 'awaiting-result', now, inTime),
        runOf('2026-10-02', 'awaiting-result', now, inTime),
        runOf('2026-10-03', 'delivering', now, inTime),
      ],
    },
  ],
  [
    'one whose run the hook started today, or yesterday before its cron time',
    ledgerWith([runOf('2026-11-20', 'failed', longAgo, { failure }), runOf('2026-11-21', 'delivering', now)]),
    ['resume 2026-11-20', 'continue 2026-11-21'],
    { now: new Date('2026-11-21T01:00:00Z'), restMs: 0, catchUpDays: 2 },
  ],
  [
    'after a weekend without cron times, the days between, too',
    [],
    ['start 2026-11-22 (nightly)', 'start 2026-11-20', 'start 2026-11-21'],
    { cronTimes: weekdays, now: monday, catchUpDays: 0 },
  ],
  [
    'as many days before these as configured',
    [],
    ['start 2026-11-22 (nightly)', ...['18', '19', '20', '21'].map((day) => `start 2026-11-${day}`)],
    { cronTimes: weekdays, now: monday, catchUpDays: 2 },
  ],
  [
    'one whose run no person cancelled',
    ledgerWith([runOf('2026-11-19', 'cancelled', now)]),
    ['start 2026-11-19'],
  ],
  [
    'as a top-up, one that was reviewed while it lasted, and none that still does',
    ledgerWith([
      runOf('2026-11-20', 'failed', now, { trigger: 'today', failure }),
      runOf('2026-11-21', 'succeeded', now, { trigger: 'today' }),
    ]),
    ['top-up 2026-11-20 (nightly)'],
  ],
  [
    'as a top-up, one whose source held another number of records than the hook expected',
    ledgerWith([{ ...goodRun('2026-11-19'), collectedAt: now.getTime(), expected: 1_001 }]),
    ['top-up 2026-11-19'],
  ],
  [
    'after the second cron time of a day, that of the first, if it was missed',
    [],
    ['start 2026-11-20 (nightly)'],
    {
      cronTimes: createCronTimes('30 2,14 * * *', 'Europe/Madrid'),
      now: new Date('2026-11-21T14:00:00Z'),
      catchUpDays: 0,
    },
  ],
];

it.each(rows.map((row) => [row[0], row] as const))(
  'the days that are due are: %s',
  (_, [, runs, due, changes]) => {
    expect(ask(runs, changes)).toEqual(due);
  },
);

it('a day that the zone’s calendar skipped is never due, and the one before it is', () => {
  const apia = createCronTimes('30 2 * * *', 'Pacific/Apia');
  const ofNight = (now: string) =>
    ask([], { cronTimes: apia, now: new Date(now), catchUpDays: 2, firstDay: '2011-12-28' });
  expect(ofNight('2011-12-30T20:00:00Z')).toEqual(['start 2011-12-29 (nightly)', 'start 2011-12-28']);
  expect(ofNight('2011-12-31T20:00:00Z')).toEqual(['start 2011-12-31 (nightly)', 'start 2011-12-29']);
});

const cronTime = new Date('2026-11-21T01:30:00Z');
const noon = Date.parse('2026-11-21T11:00:00Z');
const absent = {
  class: 'data',
  code: 'missing',
  message: 'bookings-2026-11-20.csv does not exist',
} as const;

function missing(changes: Partial<Run> = {}): Run {
  return runOf('2026-11-20', 'failed', cronTime, { failure: absent, ...changes });
}

describe('a source that has not arrived yet', () => {
  it('is waited for until the first give-up time after the cron time or the call', () => {
    expect(findSourceDeadline(missing(), giveUps)).toBe(noon);
    const evening = Date.parse('2026-11-20T22:50:00Z');
    expect(findSourceDeadline(missing({ trigger: 'hook', startedAt: evening }), giveUps)).toBe(noon);
    expect(findSourceDeadline(missing({ startedAt: noon }), giveUps)).toBe(noon + 24 * hourMs);
  });

  it('is not waited for if a person started the run, or the run failed for another reason', () => {
    expect(findSourceDeadline(missing({ trigger: 'manual' }), giveUps)).toBeUndefined();
    expect(
      findSourceDeadline(missing({ failure: { ...absent, code: 'truncated' } }), giveUps),
    ).toBeUndefined();
    expect(findSourceDeadline(runOf('2026-11-20', 'succeeded', cronTime), giveUps)).toBeUndefined();
  });

  it('makes its day due until then, once the run has rested', () => {
    const askAt = (at: number, run = missing()) => ask([run], { now: new Date(at), catchUpDays: 0 });
    const resumed = ['resume 2026-11-20 (nightly)'];
    expect(askAt(cronTime.getTime() + hourMs - 1)).toEqual([]);
    expect(askAt(cronTime.getTime() + hourMs)).toEqual(resumed);
    expect(askAt(noon - 1)).toEqual(resumed);
    // Once more, however recent the try before.
    const justNow = missing({ collectStartedAt: noon - 1, finishedAt: noon - 1 });
    expect([askAt(noon - 1, justNow), askAt(noon, justNow)]).toEqual([[], resumed]);
    expect(askAt(noon + 1, missing({ collectStartedAt: noon, finishedAt: noon }))).toEqual([]);
    expect(askAt(noon - 1, { ...missing(), failure: describeGivenUp(missing()) })).toEqual([]);
  });

  it('is given up once, after the try at that time', () => {
    expect(isToGiveUp(missing(), giveUps)).toBe(false);
    expect(isToGiveUp(missing({ collectStartedAt: noon - 1 }), giveUps)).toBe(false);
    expect(isToGiveUp(missing({ collectStartedAt: noon }), giveUps)).toBe(true);
    const givenUp = missing({ collectStartedAt: noon, failure: describeGivenUp(missing()) });
    expect(isToGiveUp(givenUp, giveUps)).toBe(false);
    expect(describeGivenUp(missing()).message).toContain(
      'bookings-2026-11-20.csv does not exist; it did not arrive',
    );
  });
});
