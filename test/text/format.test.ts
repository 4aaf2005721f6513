import { describe, expect, it } from 'vitest';
import {
  formatByteRate,
  formatBytes,
  formatCount,
  formatCountOf,
  formatDay,
  formatDayAndTime,
  formatDuration,
  formatInstant,
  formatLocalInstant,
  formatRate,
  wrapText,
} from '../../src/base/format.js';

describe('for display,', () => {
  it.each([
    ['2026-11-26', '26 Nov 2026'],
    ['2027-01-01', '1 Jan 2027'],
  ])('the day %s is written %s', (iso, text) => {
    expect(formatDay(iso)).toBe(text);
  });

  it.each([
    ['UTC', '31 Dec 2026, 23:30'],
    ['Europe/Madrid', '1 Jan 2027, 00:30'],
  ])('an instant is written in the time zone %s: %s', (timezone, text) => {
    expect(formatDayAndTime(Date.parse('2026-12-31T23:30:59Z'), timezone)).toBe(text);
  });

  it.each([
    [0, '0'],
    [999, '999'],
    [1_234_567, '1,234,567'],
  ])('a count of %d is written %s', (count, text) => {
    expect(formatCount(count)).toBe(text);
  });

  it.each([
    [0, '0 steps'],
    [1, '1 step'],
    [2, '2 steps'],
    [1_234, '1,234 steps'],
  ])('a count of %d things names them: %s', (count, text) => {
    expect(formatCountOf(count, 'step')).toBe(text);
  });

  it.each([
    [-5, '0.0 s'],
    [0, '0.0 s'],
    [1_240, '1.2 s'],
    [59_949, '59.9 s'],
    [59_999, '1 min'],
    [60_000, '1 min'],
    [125_900, '2 min 5 s'],
    [3_600_000, '1 h'],
    [90_061_000, '1 d 1 h 1 min 1 s'],
  ])('%d milliseconds are %s', (milliseconds, text) => {
    expect(formatDuration(milliseconds)).toBe(text);
  });

  it.each([
    [10_000, 2_000, '5,000/s'],
    [10, 499, ''],
    [0, 10_000, '0/s'],
  ])('%d in %d milliseconds is a rate of "%s"', (done, milliseconds, text) => {
    expect(formatRate(done, milliseconds)).toBe(text);
  });

  it.each([
    [0, '0.0 MB'],
    [49_999, '0.0 MB'],
    [50_000, '0.1 MB'],
    [1_234_567, '1.2 MB'],
    [2_500_000_000, '2500.0 MB'],
  ])('%d bytes are %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });

  it.each([
    [10_000_000, 2_000, '5.0 MB/s'],
    [10_000_000, 499, ''],
    [10_000_000, 500, '20.0 MB/s'],
  ])('%d bytes in %d milliseconds are a rate of "%s"', (bytes, milliseconds, text) => {
    expect(formatByteRate(bytes, milliseconds)).toBe(text);
  });

  it('an instant is written in UTC', () => {
    expect(formatInstant(Date.parse('2026-11-21T02:30:12.345+01:00'))).toBe('2026-11-21 01:30:12Z');
  });

  it('a long text becomes indented lines of 80 columns, without broken words', () => {
    const path = `/exports/${'folder/'.repeat(14)}bookings.csv`;
    expect(wrapText(`${'word '.repeat(17)}${path} is missing`)).toEqual([
      `  ${'word '.repeat(14)}word`,
      '  word word',
      `  ${path}`,
      '  is missing',
    ]);
    expect(wrapText('')).toEqual([]);
  });

  it('an instant in UTC reads the same as in a zone with its time', () => {
    const instant = Date.UTC(2026, 0, 2, 3, 4, 59);
    expect(formatLocalInstant(instant, 'UTC')).toBe('2026-01-02 03:04');
    expect(formatLocalInstant(instant, 'Africa/Abidjan')).toBe('2026-01-02 03:04');
  });
});
