import { describe, expect, it } from 'vitest';
import { readKeptValue } from '../../src/booking/kept-values.js';

describe('the value of a kept column', () => {
  it.each([
    ['  120.50 ', '120.50'],
    ['two\r\nlines\tand\u0000more', 'two lines and more'],
    [120.5, '120.5'],
    [0, '0'],
    [false, 'false'],
    ['none', 'none'],
    ['broken \ud83d surrogate', 'broken \ufffd surrogate'],
  ])('%j is kept as text: %j', (value, text) => {
    expect(readKeptValue(value)).toBe(text);
  });

  it.each([[undefined], [null], [''], [' \u00a0\t'], [Number.NaN], [{}], [['a']], [new Uint8Array(2)]])(
    '%j is missing',
    (value) => {
      expect(readKeptValue(value)).toBeUndefined();
    },
  );

  it('is cut after 200 characters, and stays well-formed', () => {
    expect(readKeptValue('x'.repeat(201))).toBe('x'.repeat(200));
    expect(readKeptValue(`${'x'.repeat(199)}😀`)).toBe(`${'x'.repeat(199)}\ufffd`);
  });
});
