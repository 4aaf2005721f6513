import { describe, expect, it } from 'vitest';
import { type DateCounts, noDates } from '../../src/booking/normalise.js';
import { SourceError } from '../../src/booking/source.js';
import {
  areTooManyRejects,
  type CollectLimits,
  checkExpected,
  checkGates,
  checkIncomplete,
  checkPosted,
  checkRepeated,
  isExpectedOf,
  isToCompare,
  limitsOfUnfinishedDay,
} from '../../src/rules/gates.js';

const limits: CollectLimits = { maxRejectedShare: 0.1, emptyDay: 'fail', batchSize: 500 };
const unfinished = limitsOfUnfinishedDay(limits);
const source = 'day.csv';

/** What a check complains about: its code and its words. */
function complaint(check: () => unknown): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    const { name, code, message } = error as { name: string; code: string; message: string };
    expect(name).toBe('CollectError');
    return `${code}: ${message}`;
  }
}

it.each([
  [2, 20, 0.1, false],
  [3, 20, 0.1, true],
  // Half of a day with fewer records, or more if the setting says so.
  [9, 19, 0.1, false],
  [10, 19, 0.1, true],
  [1, 1, 0.1, false],
  [2, 2, 0.1, true],
  [0, 0, 0.1, false],
  [7, 10, 0.8, false],
  [9, 10, 0.8, true],
])('%d rejects of %d records are more than a share of %d: %s', (rejected, considered, share, areTooMany) => {
  expect(areTooManyRejects(rejected, considered, share)).toBe(areTooMany);
});

const normal = 'if days without bookings are normal, set emptyDay: succeed';
const far = 'are more than 2 years before or 5 years after the business day: check source.dateFormat';
const tooMany = (rejected: number, of: number) =>
  `too-many-rejects: ${rejected} of ${of} records of day.csv cannot be sent, more than maxRejectedShare allows (10%)`;
const unreadable = (count: number, of: number) =>
  `too-many-unreadable-dates: ${count} of ${of} dates of day.csv are not calendar dates: check source.dateFormat`;
const implausible = (count: number, of: number) =>
  `too-many-implausible-dates: ${count} of ${of} check-ins of day.csv ${far}`;

interface Day extends Partial<DateCounts> {
  readonly read?: number;
  readonly filtered?: number;
  readonly rejected?: number;
}

it.each<[Day, CollectLimits, string | undefined]>([
  // A share of the records that the filter left.
  [{ read: 120, filtered: 100, rejected: 2 }, limits, undefined],
  [{ read: 120, filtered: 100, rejected: 3 }, limits, tooMany(3, 20)],
  [{ read: 40, rejected: 19 }, unfinished, undefined],
  [{ read: 40, rejected: 20 }, unfinished, tooMany(20, 40)],
  [{ read: 0 }, limits, `empty-day: day.csv holds no booking; ${normal}`],
  [{ read: 0 }, { ...limits, emptyDay: 'succeed' }, undefined],
  [{ read: 1 }, limits, undefined],
  [
    { read: 6, filtered: 5, rejected: 1 },
    limits,
    `empty-day: day.csv holds no booking that source.where takes (5 filtered), only 1 record that cannot be sent; ${normal}`,
  ],
  [{ given: 100, unreadable: 10 }, limits, undefined],
  [{ given: 100, unreadable: 11 }, limits, unreadable(11, 100)],
  [{ given: 40, unreadable: 19 }, unfinished, undefined],
  [{ given: 40, unreadable: 20 }, unfinished, unreadable(20, 40)],
  [{ given: 200, checkIns: 100, implausible: 10 }, limits, undefined],
  [{ given: 200, checkIns: 100, implausible: 11 }, limits, implausible(11, 100)],
  // A single one is a slip.
  [{ checkIns: 1, implausible: 1 }, limits, undefined],
  [{ checkIns: 2, implausible: 2 }, limits, implausible(2, 2)],
  [{ checkIns: 40, implausible: 19 }, unfinished, undefined],
  [{ checkIns: 40, implausible: 20 }, unfinished, implausible(20, 40)],
])(
  'a day with %o has this complaint (%#)',
  ({ read = 100, filtered = 0, rejected = 0, ...dates }, of, expected) => {
    const day = { read, filtered, rejected, dates: { ...noDates(), ...dates } };
    expect(complaint(() => checkGates(day, of, source))).toBe(expected);
  },
);

describe('a day that is not over', () => {
  it('may be empty or missing, and is not compared', () => {
    const compared = {
      maxRepeatedShare: 0.5,
      incomplete: { maxShare: 0.5, provider: true, hotelId: true },
      volume: {} as never,
    };
    const expected = { ...limits, emptyDay: 'succeed', leastFaults: 20, mayBeMissing: true };
    expect(limitsOfUnfinishedDay({ ...limits, ...compared })).toEqual(expected);
  });

  it.each([
    ['missing', 0, true],
    ['missing', 1, false],
    ['missing-member', 19, true],
    ['missing-member', 20, false],
    ['cut-off', 0, false],
  ] as const)('may have a source that fails as %s after %d records: %s', (fault, read, isExpected) => {
    const error = new SourceError(fault as SourceError['fault'], 'no file');
    expect(isExpectedOf(error, read, unfinished)).toBe(isExpected);
    expect(isExpectedOf(error, read, limits)).toBe(false);
  });
});

describe('bookings that lack their hotel', () => {
  const all = { maxShare: 0.5, provider: true, hotelId: true };
  const message = (incomplete: number, of: number, shown: string, none: string) =>
    `too-many-incomplete: ${incomplete} of ${of} bookings of day.csv lack ${shown}, more than maxIncompleteShare allows (50%); nothing was sent. ` +
    `Check the export and source.columns; if the source has none, say so with source.columns: { ${none} }; if so many bookings lack it, raise maxIncompleteShare`;
  const noProvider = 'ProviderName: false';
  const noHotelId = 'ProviderHotelId: false';

  /** Bookings that lack nothing, the provider, its hotel id, both. */
  it.each<[lacking: number[], CollectLimits['incomplete'], string | undefined]>([
    [
      [9, 4, 5, 2],
      all,
      message(11, 20, 'ProviderName (6) and ProviderHotelId (7)', `${noProvider}, ${noHotelId}`),
    ],
    [[10, 4, 4, 2], all, undefined],
    [[8, 4, 5, 2], all, undefined],
    [[0, 0, 20, 0], all, message(20, 20, 'ProviderHotelId (20)', noHotelId)],
    // By the fields that the source has.
    [[5, 12, 3, 0], { ...all, provider: false }, undefined],
    [[5, 12, 3, 0], { ...all, hotelId: false }, message(12, 20, 'ProviderName (12)', noProvider)],
    [[0, 20, 0, 0], { ...all, hotelId: false, provider: false }, undefined],
    [[0, 99, 0, 0], undefined, undefined],
  ])('%j fail a day of twenty or more if they are too many (%#)', (lacking, incomplete, expected) => {
    const of = { ...limits, ...(incomplete && { incomplete }) };
    expect(complaint(() => checkIncomplete(lacking, of, source))).toBe(expected);
  });
});

describe('bookings of an earlier day', () => {
  it.each([
    [20, 0.5, true],
    [19, 0.5, false],
    [20, 1, false],
    [20, undefined, false],
  ])('are looked for among %d with a share of %s: %s', (accepted, maxRepeatedShare, isCompared) => {
    const share = maxRepeatedShare !== undefined && { maxRepeatedShare };
    expect(isToCompare(accepted, { ...limits, ...share })).toBe(isCompared);
  });

  it('fail the day if they are too many: it may be the file of another one', () => {
    const days = ['2026-11-18', '2026-11-19'];
    const check = (bookings: number, isEstimate = false, share: object = { maxRepeatedShare: 0.5 }) => {
      const repetition = { bookings, isEstimate, days, sent: 8, incomparable: 0 };
      const place = { source, day: '2026-11-20' };
      return complaint(() => checkRepeated(repetition, 40, { ...limits, ...share }, place));
    };
    expect(check(20)).toBeUndefined();
    expect(check(40, false, {})).toBeUndefined();
    const message =
      '21 of 40 bookings of day.csv are equal in all fields to bookings that 2026-11-18, 2026-11-19 sent, more than source.maxRepeatedShare allows (50%); nothing was sent: ' +
      'check that the source holds this day and not an earlier one, or accept it with run 2026-11-20 --accept-repeated';
    expect(check(21)).toBe(`source-repeated: ${message}`);
    expect(check(21, true)).toBe(`source-repeated: about ${message}`);
  });
});

it('bookings that a file run would post fail the day if they are too many, and the field to complete first is named first', () => {
  const check = (posted: number, obstacles: object = {}, share: object = { maxPostedShare: 0.5 }) => {
    const counted = { posted, of: 10, obstacles: new Map(Object.entries(obstacles)) as never };
    return complaint(() => checkPosted(counted, { ...limits, ...share }, source));
  };
  const message = (missing: string) =>
    `too-many-posted: 6 of 10 bookings of day.csv lack a field or hold one that reads as NULL, so they cannot be in the review file and would go by body, which brings no result: more than file.maxPostedShare allows (50%).${missing} Complete the source; or set file.incomplete: leave-empty, if the service accepts empty cells; or raise file.maxPostedShare; or set delivery: body`;
  expect(check(5)).toBeUndefined();
  expect(check(10, {}, {})).toBeUndefined();
  expect(check(6)).toBe(message(''));
  expect(check(6, { CheckInDate: 6 })).toBe(message(' Missing most often: CheckInDate (6).'));
  expect(check(6, { ProviderName: 1, CheckInDate: 2, CheckOutDate: 5 })).toBe(
    message(' Missing most often: CheckOutDate (5), then CheckInDate (2), ProviderName (1).'),
  );
});

it('the count that the hook expects is that of the records without those that the filter left out', () => {
  const check = (read: number, filtered: number, expected?: number) =>
    complaint(() => checkExpected({ read, filtered }, expected, source));
  expect(check(12, 2, 10)).toBeUndefined();
  expect(check(12, 2)).toBeUndefined();
  const but = 'but the end-of-day hook expected 11: check that the export was complete';
  expect(check(12, 0, 11)).toBe(`unexpected-count: day.csv holds 12 records, ${but}`);
  expect(check(12, 2, 11)).toBe(
    `unexpected-count: day.csv holds 10 records, without the 2 that source.where excludes, ${but}`,
  );
});
