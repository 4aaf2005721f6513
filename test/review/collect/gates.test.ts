import { describe, expect, it } from 'vitest';
import { noDates } from '../../../src/booking/normalise.js';
import { SourceError } from '../../../src/booking/source.js';
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
} from '../../../src/rules/gates.js';

const limits: CollectLimits = { maxRejectedShare: 0.1, emptyDay: 'fail', batchSize: 500 };
const source = '/exports/day.csv';

/** What a check complains about: its code and its words. */
function complaint(check: () => unknown): object | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    const { name, code, message } = error as { name: string; code: string; message: string };
    expect(name).toBe('CollectError');
    return { code, message };
  }
}

describe('rejects', () => {
  it.each([
    [2, 20, false],
    [3, 20, true],
    // Half of a day with fewer records.
    [9, 19, false],
    [10, 19, true],
    [1, 1, false],
    [2, 2, true],
    [0, 0, false],
  ])('%d of %d records: too many is %s', (rejected, considered, areTooMany) => {
    expect(areTooManyRejects(rejected, considered, 0.1)).toBe(areTooMany);
  });

  it('may be more than half of a small day, if the setting says so', () => {
    expect(areTooManyRejects(7, 10, 0.8)).toBe(false);
    expect(areTooManyRejects(9, 10, 0.8)).toBe(true);
  });

  it('are a share of the records that the filter left', () => {
    const day = { read: 120, filtered: 100, rejected: 3, dates: noDates() };
    expect(complaint(() => checkGates(day, limits, source))).toEqual({
      code: 'too-many-rejects',
      message: '3 of 20 records of /exports/day.csv cannot be sent, more than maxRejectedShare allows (10%)',
    });
    expect(complaint(() => checkGates({ ...day, rejected: 2 }, limits, source))).toBeUndefined();
  });

  it.each([
    [19, false],
    [20, true],
    [21, true],
  ])('on a day that is not over, %d are a fault: %s', (rejected, isFault) => {
    const day = { read: 40, filtered: 0, rejected, dates: noDates() };
    const found = complaint(() => checkGates(day, limitsOfUnfinishedDay(limits), source));
    expect(found !== undefined).toBe(isFault);
  });
});

describe('a day without a booking', () => {
  const empty = { read: 0, filtered: 0, rejected: 0, dates: noDates() };
  const advice = 'if days without bookings are normal, set emptyDay: succeed';
  const check = (day: typeof empty, emptyDay: CollectLimits['emptyDay'] = 'fail') =>
    complaint(() => checkGates(day, { ...limits, emptyDay }, source));

  it('fails, unless the setting says that it is normal', () => {
    const message = `/exports/day.csv holds no booking; ${advice}`;
    expect(check(empty)).toEqual({ code: 'empty-day', message });
    expect(check(empty, 'succeed')).toBeUndefined();
    expect(check({ ...empty, read: 1 })).toBeUndefined();
  });

  it('says what the filter took, and what cannot be sent', () => {
    expect(check({ ...empty, read: 6, filtered: 5, rejected: 1 })).toEqual({
      code: 'empty-day',
      message: `/exports/day.csv holds no booking that source.where takes (5 filtered), only 1 record that cannot be sent; ${advice}`,
    });
  });
});

describe('dates that nobody can read', () => {
  const check = (unreadable: number, given: number, of = limits) =>
    complaint(() =>
      checkGates(
        { read: 100, filtered: 0, rejected: 0, dates: { ...noDates(), given, unreadable } },
        of,
        source,
      ),
    );

  it('fail a day if they are too many: the format is wrong', () => {
    expect(check(10, 100)).toBeUndefined();
    expect(check(11, 100)).toEqual({
      code: 'too-many-unreadable-dates',
      message: '11 of 100 dates of /exports/day.csv are not calendar dates: check source.dateFormat',
    });
  });

  it('are expected in small numbers on a day that is not over', () => {
    expect(check(19, 40, limitsOfUnfinishedDay(limits))).toBeUndefined();
    expect(check(20, 40, limitsOfUnfinishedDay(limits))).toBeDefined();
  });
});

describe('check-ins far from the business day', () => {
  const check = (implausible: number, checkIns: number, of = limits) =>
    complaint(() =>
      checkGates(
        { read: 100, filtered: 0, rejected: 0, dates: { ...noDates(), given: 200, checkIns, implausible } },
        of,
        source,
      ),
    );

  it('fail a day if they are too many of all check-ins: the format is wrong', () => {
    expect(check(10, 100)).toBeUndefined();
    expect(check(11, 100)).toEqual({
      code: 'too-many-implausible-dates',
      message:
        '11 of 100 check-ins of /exports/day.csv are more than 2 years before or 5 years after the business day: check source.dateFormat',
    });
  });

  it('are a slip if there is only one, and expected in small numbers on a day that is not over', () => {
    expect(check(1, 1)).toBeUndefined();
    expect(check(2, 2)).toBeDefined();
    expect(check(19, 40, limitsOfUnfinishedDay(limits))).toBeUndefined();
    expect(check(20, 40, limitsOfUnfinishedDay(limits))).toBeDefined();
  });
});

describe('a day that is not over', () => {
  const unfinished = limitsOfUnfinishedDay({
    ...limits,
    maxRepeatedShare: 0.5,
    incomplete: { maxShare: 0.5, provider: true, hotelId: true },
    volume: {} as never,
  });

  it('may be empty or missing, and is not compared', () => {
    expect(unfinished).toEqual({ ...limits, emptyDay: 'succeed', leastFaults: 20, mayBeMissing: true });
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
  /** Bookings that lack nothing, the provider, its hotel id, both. */
  const check = (lacking: readonly number[], incomplete: CollectLimits['incomplete'] = all) =>
    complaint(() => checkIncomplete(lacking, { ...limits, incomplete }, source));

  it('fail a day of twenty or more if they are too many, and the message says what they lack', () => {
    expect(check([9, 4, 5, 2])).toEqual({
      code: 'too-many-incomplete',
      message:
        '11 of 20 bookings of /exports/day.csv lack ProviderName (6) and ProviderHotelId (7), more than maxIncompleteShare allows (50%); nothing was sent. ' +
        'Check the export and source.columns; if the source has none, say so with source.columns: { ProviderName: false, ProviderHotelId: false }; if so many bookings lack it, raise maxIncompleteShare',
    });
    expect(check([10, 4, 4, 2])).toBeUndefined();
    expect(check([8, 4, 5, 2])).toBeUndefined();
  });

  it('are counted by the fields that the source has', () => {
    const only = (changes: object) => check([5, 12, 3, 0], { ...all, ...changes });
    expect(only({ provider: false })).toBeUndefined();
    expect(only({ hotelId: false })).toMatchObject({
      message: expect.stringContaining('12 of 20 bookings of /exports/day.csv lack ProviderName (12), more'),
    });
    expect(check([0, 20, 0, 0], { ...all, hotelId: false, provider: false })).toBeUndefined();
    expect(complaint(() => checkIncomplete([0, 99, 0, 0], limits, source))).toBeUndefined();
  });

  it('are named by what some of them lack, and nothing else', () => {
    expect(check([0, 0, 20, 0])).toMatchObject({
      message: expect.stringMatching(
        /lack ProviderHotelId \(20\), .* source.columns: { ProviderHotelId: false };/,
      ),
    });
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

  const day = '2026-11-20';
  const check = (bookings: number, isEstimate = false, maxRepeatedShare?: number) =>
    complaint(() =>
      checkRepeated(
        { bookings, isEstimate, days: ['2026-11-18', '2026-11-19'], sent: 8, incomparable: 0 },
        40,
        { ...limits, ...(maxRepeatedShare !== undefined && { maxRepeatedShare }) },
        { source, day },
      ),
    );

  it('fail the day if they are too many: it may be the file of another one', () => {
    expect(check(20, false, 0.5)).toBeUndefined();
    expect(check(40)).toBeUndefined();
    const message =
      '21 of 40 bookings of /exports/day.csv are equal in all fields to bookings that 2026-11-18, 2026-11-19 sent, more than source.maxRepeatedShare allows (50%); nothing was sent: ' +
      'check that the source holds this day and not an earlier one, or accept it with run --day 2026-11-20 --accept-repeated';
    expect(check(21, false, 0.5)).toEqual({ code: 'source-repeated', message });
    expect(check(21, true, 0.5)).toEqual({ code: 'source-repeated', message: `about ${message}` });
  });
});

describe('bookings that a file run would post', () => {
  const check = (
    posted: number,
    obstacles: readonly (readonly [string, number])[],
    maxPostedShare?: number,
  ) =>
    complaint(() =>
      checkPosted(
        { posted, of: 10, obstacles: new Map(obstacles) as never },
        { ...limits, ...(maxPostedShare !== undefined && { maxPostedShare }) },
        source,
      ),
    );

  it('fail the day if they are too many, and the field to complete first is named first', () => {
    expect(check(5, [], 0.5)).toBeUndefined();
    expect(check(10, [])).toBeUndefined();
    const before =
      '6 of 10 bookings of /exports/day.csv lack a field or hold one that reads as NULL, so they cannot be in the review file and would go by body, which brings no result: more than file.maxPostedShare allows (50%).';
    const after =
      ' Complete the source; or set file.incomplete: leave-empty, if the service accepts empty cells; or raise file.maxPostedShare; or set delivery: body';
    const code = 'too-many-posted';
    expect(check(6, [], 0.5)).toEqual({ code, message: `${before}${after}` });
    expect(check(6, [['CheckInDate', 6]], 0.5)).toEqual({
      code,
      message: `${before} Missing most often: CheckInDate (6).${after}`,
    });
    const several = [
      ['ProviderName', 1],
      ['CheckInDate', 2],
      ['CheckOutDate', 5],
    ] as const;
    expect(check(6, several, 0.5)).toEqual({
      code,
      message: `${before} Missing most often: CheckOutDate (5), then CheckInDate (2), ProviderName (1).${after}`,
    });
  });
});

describe('the count that the hook expects', () => {
  const check = (read: number, filtered: number, expected?: number) => {
    try {
      checkExpected({ read, filtered }, expected, source);
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  };

  it('is that of the records without those that the filter left out', () => {
    expect(check(12, 2, 10)).toBeUndefined();
    expect(check(12, 2)).toBeUndefined();
    const but = 'but the end-of-day hook expected 11: check that the export was complete';
    expect(check(12, 0, 11)).toBe(`/exports/day.csv holds 12 records, ${but}`);
    expect(check(12, 2, 11)).toBe(
      `/exports/day.csv holds 10 records, without the 2 that source.where excludes, ${but}`,
    );
    const failed = complaint(() => checkExpected({ read: 1, filtered: 0 }, 2, source));
    expect(failed).toMatchObject({ code: 'unexpected-count' });
  });
});
