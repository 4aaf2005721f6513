import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readExactNumber } from '../../../src/sources/json/json-text.js';

it('A decimal number is exact if JavaScript writes the same number, in any notation', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.nat(3), (value, zeros) => {
      fc.pre(!Object.is(value, -0));
      const text = String(value);
      const [mantissa = '', exponent] = text.split('e');
      const padded = `${mantissa}${mantissa.includes('.') ? '' : '.0'}${'0'.repeat(zeros)}`;
      const written = exponent === undefined ? padded : `${padded}E${exponent}`;
      expect(readExactNumber(written)).toBe(value);
      expect(readExactNumber(value.toExponential())).toBe(value);
    }),
    { numRuns: 1000 },
  );
});

it('A decimal number with more digits than JavaScript can represent is NaN', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000_000 }), fc.integer({ min: 1, max: 9 }), (whole, digit) => {
      expect(readExactNumber(`${whole}.00000000000000000000${digit}`)).toBeNaN();
    }),
  );
});

it('A number with a million digits is read quickly', () => {
  expect(readExactNumber(`0.${'0'.repeat(500_000)}1${'0'.repeat(500_000)}1`)).toBeNaN();
  expect(readExactNumber(`1${'0'.repeat(1_000_000)}`)).toBe(Number.POSITIVE_INFINITY);
  expect(readExactNumber(`1${'0'.repeat(20)}1.0`)).toBeNaN();
});
