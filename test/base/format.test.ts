import { expect, it } from 'vitest';
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

const newYear = Date.parse('2026-12-31T23:30:59Z');

it.each([
  ['a day', formatDay('2027-01-01'), '1 Jan 2027'],
  ['an instant in UTC', formatDayAndTime(newYear, 'UTC'), '31 Dec 2026, 23:30'],
  ['an instant in its zone', formatDayAndTime(newYear, 'Europe/Madrid'), '1 Jan 2027, 00:30'],
  ['an instant', formatInstant(Date.parse('2026-11-21T02:30:12.345+01:00')), '2026-11-21 01:30:12Z'],
  ['one thing', formatCountOf(1, 'step'), '1 step'],
  ['many things', formatCountOf(1_234, 'step'), '1,234 steps'],
  ['a clock that was set back', formatDuration(-5), '0.0 s'],
  ['seconds', formatDuration(1_240), '1.2 s'],
  ['nearly a minute', formatDuration(59_999), '1 min'],
  ['a minute', formatDuration(60_000), '1 min'],
  ['a long time', formatDuration(90_061_000), '1 d 1 h 1 min 1 s'],
  ['a rate', formatRate(10_000, 2_000), '5,000/s'],
  ['a rate of less than half a second', formatRate(10, 499), ''],
  ['few bytes', formatBytes(49_999), '0.0 MB'],
  ['bytes, rounded', formatBytes(50_000), '0.1 MB'],
  ['bytes', formatBytes(1_234_567), '1.2 MB'],
  ['bytes of less than half a second', formatByteRate(10_000_000, 499), ''],
  ['bytes of half a second', formatByteRate(10_000_000, 500), '20.0 MB/s'],
])('for display, %s is written as "%s"', (_, written, expected) => {
  expect(written).toBe(expected);
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
