import { describe, expect, it } from 'vitest';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import { findDayInName } from '../../../src/checks/setup/day-in-name.js';
import { parsePathTemplate } from '../../../src/sources/files/day-file.js';

const day = createBusinessDay('2026-11-20', 'Europe/Madrid');
const find = (path: string, beside: readonly string[] = []) => findDayInName(path, beside, day.zone);

describe('The day in the path of an export', () => {
  it.each([
    ['exports/bookings-2026-11-20.csv', 'exports/bookings-{day}.csv'],
    ['20112026.csv', '{day:ddMMyyyy}.csv'],
    ['a 20.11.2026.ndjson', 'a {day:dd.MM.yyyy}.ndjson'],
    ['../in/2026/11/20.csv', '../in/{day:yyyy/MM/dd}.csv'],
    ['2026-11/2026-11-20/2026/20112026.csv', '{day:yyyy-MM}/{day}/{day:yyyy}/{day:ddMMyyyy}.csv'],
    ['of 2026-11-20/and 2026-11-20.csv', 'of {day}/and {day}.csv'],
  ])('of %s makes it %s', (path, template) => {
    expect(find(path)).toMatchObject({ iso: day.iso });
    expect(find(path)?.template(false)).toBe(template);
    expect(parsePathTemplate(template)(day)).toBe(path);
  });

  it('may be the one after that of its bookings', () => {
    const template = find('2026/11/b-20261120.csv')?.template(true) ?? '';
    expect(template).toBe('{day+1:yyyy/MM}/b-{day+1:yyyyMMdd}.csv');
    expect(parsePathTemplate(template)(day.previous())).toBe('2026/11/b-20261120.csv');
    expect(find('2026-11-20.csv')?.template(true)).toBe('{day+1}.csv');
  });

  it('is written as in most files beside it where two patterns fit', () => {
    const path = 'in/b-11122026.csv';
    expect(find(path)?.template(false)).toBe('in/b-{day:ddMMyyyy}.csv');
    const american = ['b-11122026.csv', 'b-11132026.csv', 'b-11302026.csv', 'other-31122026.csv'];
    expect(find(path, american)).toMatchObject({ iso: '2026-11-12' });
    expect(find(path, american)?.template(false)).toBe('in/b-{day:MMddyyyy}.csv');
  });

  it.each(['bookings.csv', 'bookings-20261120021500.csv', '20261320.csv', 'b-2026-02-30.csv'])(
    'is not found in %s',
    (path) => {
      expect(find(path)).toBeUndefined();
    },
  );
});
