import { describe, expect, it } from 'vitest';
import {
  formatByteRate,
  formatBytes,
  formatCountOf,
  formatDay,
  formatDayAndTime,
  formatDuration,
  formatInstant,
  formatRate,
  wrapText,
} from '../../src/base/format.js';

describe('for display,', () => {
  it('a day is written in words', () => {
    expect(formatDay('2027-01-01')).toBe('1 Jan 2027');
  });

  it.each([
    ['UTC', '31 Dec 2026, 23:30'],
    ['Europe/Madrid', '1 Jan 2027, 00:30'],
  ])('an instant is written in the time zone %s: %s', (timezone, text) => {
    expect(formatDayAndTime(Date.parse('2026-12-31T23:30:59Z'), timezone)).toBe(text);
  });

  it.each([
    [1, '1 step'],
    [1_234, '1,234 steps'],
  ])('a count of %d things names them: %s', (count, text) => {
    expect(formatCountOf(count, 'step')).toBe(text);
  });

  it.each([
    [-5, '0.0 s'],
    [1_240, '1.2 s'],
    [59_999, '1 min'],
    [60_000, '1 min'],
    [90_061_000, '1 d 1 h 1 min 1 s'],
  ])('%d milliseconds are %s', (milliseconds, text) => {
    expect(formatDuration(milliseconds)).toBe(text);
  });

  it.each([
    [10_000, 2_000, '5,000/s'],
    [10, 499, ''],
  ])('%d in %d milliseconds is a rate of "%s"', (done, milliseconds, text) => {
    expect(formatRate(done, milliseconds)).toBe(text);
  });

  it.each([
    [49_999, '0.0 MB'],
    [50_000, '0.1 MB'],
    [1_234_567, '1.2 MB'],
  ])('%d bytes are %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });

  it.each([
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
});
