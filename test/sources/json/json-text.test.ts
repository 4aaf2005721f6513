import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createJsonPicker,
  listElements,
  readExactNumber,
  readJsonPath,
  scanMembers,
} from '../../../src/sources/json/json-text.js';

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

it('A whole number that was rounded stays as written', () => {
  const json =
    '{ "ServiceId": 100, "ProviderHotelId": 1.23457E+11, "BookingReferenceId": 15e+2, "price": 1.5e+3 }';
  expect(createJsonPicker({ extraColumns: ['price'] }).pick(1, json)).toMatchObject({
    fields: { ServiceId: 100, ProviderHotelId: '1.23457E+11', BookingReferenceId: 1500 },
    extraValues: [1500],
  });
});

const awkward = fc.string({
  unit: fc.constantFrom('"', '\\', '{', '}', '[', ']', ',', ':', ' ', '\n', 'a', 'é'),
});
const values = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    awkward,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(null, true, false),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(awkward, tie('value'), { maxKeys: 3 }),
  ),
})).value;

it('The members of an object are scanned in order, each with its value as written', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(awkward, values), { maxLength: 6 }),
      fc.constantFrom('', ' ', '\t', ' \r\n '),
      (members, space) => {
        const written = members.map(
          ([name, value]) => [name, JSON.stringify(value, undefined, space)] as const,
        );
        const text = written
          .map(([name, value]) => `${space}${JSON.stringify(name)}${space}:${space}${value}${space}`)
          .join(',');
        const json = `${space}{${text}${space}}${space}`;
        const scanned: (readonly [string, string])[] = [];
        scanMembers(json, (name, from, to) => scanned.push([name, json.slice(from, to)]));
        expect(scanned).toEqual(written);
      },
    ),
    { numRuns: 2000 },
  );
});

describe('the elements of a JSON array', () => {
  it('are those that JSON.parse finds, in any notation', () => {
    const spaces = fc.constantFrom('', ' ', '\n\t', '\r\n');
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), spaces, fc.constantFrom(0, 2), (values, space, indent) => {
        const elements = values.map((value) => `${space}${JSON.stringify(value, null, indent)}${space}`);
        const json = `[${space}${elements.join(',')}${space}]`;
        expect([...listElements(json)].map((element) => JSON.parse(element))).toEqual(JSON.parse(json));
      }),
    );
  });
});

describe('a path into JSON text', () => {
  const json =
    '{"a.b": 1, "a" : {"b":[ 2 ], "c":{"d":"x"}, "c.d": 3}, "t":[{"b":1}], "n":{"m":1,"m":2}, "s":"{}"}';

  it.each([
    ['', json],
    ['a.b', '1'],
    ['a', '{"b":[ 2 ], "c":{"d":"x"}, "c.d": 3}'],
    ['a.c.d', '"x"'],
  ])('%j finds %s', (path, found) => {
    expect(readJsonPath(json, path)).toEqual({ kind: 'found', json: found });
  });

  it.each([
    ['b', 'absent'],
    ['a.x', 'absent'],
    ['a.c.d.e', 'absent'],
    ['t.b', 'absent'],
    ['n.m', 'ambiguous'],
  ])('%j is %s', (path, kind) => {
    expect(readJsonPath(json, path)).toEqual({ kind });
  });
});
