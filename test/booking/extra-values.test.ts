import { describe, expect, it } from 'vitest';
import { readExtraValue } from '../../src/booking/extra-values.js';

describe('the value of an extra column', () => {
  it.each([
    ['  120.50 ', '120.50'],
    ['two\r\nlines\tand\u0000more', 'two lines and more'],
    [0, '0'],
    [false, 'false'],
    [`${'x'.repeat(199)} y`, 'x'.repeat(199)],
    ['broken \ud83d surrogate', 'broken \ufffd surrogate'],
  ])('%j is kept as text: %j', (value, text) => {
    expect(readExtraValue(value)).toBe(text);
  });

  it.each([[undefined], [null], [''], [' \u00a0\t'], [Number.NaN], [{}], [['a']], [new Uint8Array(2)]])(
    '%j is missing',
    (value) => {
      expect(readExtraValue(value)).toBeUndefined();
    },
  );

  it('is cut after 200 characters, and stays well-formed', () => {
    expect(readExtraValue('x'.repeat(201))).toBe('x'.repeat(200));
    expect(readExtraValue(`${'x'.repeat(199)}😀`)).toBe(`${'x'.repeat(199)}\ufffd`);
  });
});
