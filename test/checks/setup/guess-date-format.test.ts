import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createDateReader } from '../../../src/booking/written-date.js';
import { guessDateFormat } from '../../../src/checks/setup/examine-export.js';

describe('The date format of an export', () => {
  it.each([[[]], [['', '  ']], [['NULL', 'null']], [['2026-11-20', 'NULL', '2026-11-21T10:00:00Z']]])(
    'is the usual one for %j',
    (dates) => {
      expect(guessDateFormat(dates)).toMatchObject([{ format: 'yyyy-MM-dd' }]);
    },
  );

  it.each([
    [['20/11/2026'], 'dd/MM/yyyy'],
    [['01/02/2026', '', '13/02/2026'], 'dd/MM/yyyy'],
    [['11/20/2026'], 'MM/dd/yyyy'],
    [['20.11.2026'], 'dd.MM.yyyy'],
    [['20261120'], 'yyyyMMdd'],
    // As ddMMyyyy it would be the 20th of October 1112.
    [['20101112'], 'yyyyMMdd'],
    [['20 Nov 2026'], 'dd MMM yyyy'],
    [['2026-11-20', '20/11/2026 14:00'], 'dd/MM/yyyy'],
  ])('is found from %j', (dates, format) => {
    expect(guessDateFormat(dates)).toMatchObject([{ format }]);
  });

  it('is ambiguous if day and month could be swapped', () => {
    expect(guessDateFormat(['01/02/2026', '03/04/2026'])).toEqual([
      { format: 'dd/MM/yyyy', read: 2, seen: 2 },
      { format: 'MM/dd/yyyy', read: 2, seen: 2 },
    ]);
  });

  const repeat = (text: string, times: number) => Array.from({ length: times }, () => text);

  it.each(['31.02.2027', 'n.a.'])('is found although one date is %j', (broken) => {
    const dates = [broken, ...repeat('20.11.2026', 100), ...repeat('01.02.2027', 99)];
    expect(guessDateFormat(dates)).toEqual([{ format: 'dd.MM.yyyy', read: 199, seen: 200 }]);
  });

  it('is found if it reads nine of ten dates, but not if it reads fewer', () => {
    expect(guessDateFormat([...repeat('20/11/2026', 9), 'soon'])).toMatchObject([{ format: 'dd/MM/yyyy' }]);
    expect(guessDateFormat([...repeat('20/11/2026', 8), 'soon'])).toEqual([]);
    expect(guessDateFormat([...repeat('2026-11-20', 8), 'soon'])).toEqual([]);
  });

  it('stays ambiguous if one date is broken, and if there is evidence for both', () => {
    const unclear = repeat('01/02/2026', 30);
    expect(guessDateFormat([...unclear, '31/31/2026'])).toMatchObject([{ read: 30 }, { read: 30 }]);
    const mixed = [...unclear, '13/02/2026', '14/02/2026', '02/13/2026'];
    expect(guessDateFormat(mixed)).toMatchObject([{ read: 32 }, { read: 31 }]);
    expect(guessDateFormat([...unclear, '13/02/2026'])).toMatchObject([{ format: 'dd/MM/yyyy' }]);
  });

  it('is unknown for anything else', () => {
    expect(guessDateFormat(['tomorrow'])).toEqual([]);
    expect(guessDateFormat(['20/11/2026', '20.11.2026'])).toEqual([]);
  });

  it('reads as many dates as reported', () => {
    const part = fc.integer({ min: 0, max: 40 }).map((number) => String(number).padStart(2, '0'));
    const written = fc
      .tuple(part, part, fc.integer({ min: 1990, max: 2060 }), fc.constantFrom('/', '.', '-', ''))
      .map(([first, second, year, sign]) => [first, second, year].join(sign));
    fc.assert(
      fc.property(fc.array(written, { minLength: 1, maxLength: 12 }), (dates) => {
        for (const { format, read, seen } of guessDateFormat(dates)) {
          const readDate = createDateReader(format);
          expect(dates.filter((date) => readDate(date) !== undefined)).toHaveLength(read);
          expect(seen).toBe(dates.length);
        }
      }),
    );
  });
});
