import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createDateReader } from '../../src/booking/written-date.js';
import { guessDateFormat } from '../../src/setup/guess-date-format.js';

describe('The date format of an export', () => {
  it.each([[[]], [['', '  ']], [['NULL', 'null']], [['2026-11-20', 'NULL', '2026-11-21T10:00:00Z']]])(
    'is the usual one for %j',
    (dates) => {
      expect(guessDateFormat(dates)).toEqual({ kind: 'usual' });
    },
  );

  it.each([
    [['20/11/2026'], 'dd/MM/yyyy'],
    [['01/02/2026', '', '13/02/2026'], 'dd/MM/yyyy'],
    [['11/20/2026'], 'MM/dd/yyyy'],
    [['20.11.2026'], 'dd.MM.yyyy'],
    [['01.02.2026'], 'dd.MM.yyyy'],
    [['20-11-2026'], 'dd-MM-yyyy'],
    [['20112026'], 'ddMMyyyy'],
    [['20261120'], 'yyyyMMdd'],
    // Else also the 20th of October 1112.
    [['20101112'], 'yyyyMMdd'],
    [['2026/11/20'], 'yyyy/MM/dd'],
    [['20 Nov 2026'], 'dd MMM yyyy'],
    [['2026-11-20', '20/11/2026 14:00'], 'dd/MM/yyyy'],
    [['NULL', '20/11/2026'], 'dd/MM/yyyy'],
  ])('is found from %j', (dates, format) => {
    expect(guessDateFormat(dates)).toEqual({ kind: 'one', format });
  });

  it('is told to be ambiguous when day and month could be one another', () => {
    expect(guessDateFormat(['01/02/2026', '03/04/2026'])).toEqual({
      kind: 'several',
      formats: ['dd/MM/yyyy', 'MM/dd/yyyy'],
    });
  });

  it('is unknown for anything else', () => {
    expect(guessDateFormat(['tomorrow'])).toEqual({ kind: 'unknown' });
    expect(guessDateFormat(['20/11/2026', '20.11.2026'])).toEqual({ kind: 'unknown' });
  });

  it('reads every date that it was found from', () => {
    const part = fc.integer({ min: 0, max: 40 }).map((number) => String(number).padStart(2, '0'));
    const written = fc
      .tuple(part, part, fc.integer({ min: 1990, max: 2060 }), fc.constantFrom('/', '.', '-', ''))
      .map(([first, second, year, sign]) => [first, second, year].join(sign));
    fc.assert(
      fc.property(fc.array(written, { minLength: 1, maxLength: 3 }), (dates) => {
        const guess = guessDateFormat(dates);
        if (guess.kind !== 'one') return;
        const read = createDateReader(guess.format);
        for (const date of dates) expect(read(date)).toBeDefined();
      }),
    );
  });
});
