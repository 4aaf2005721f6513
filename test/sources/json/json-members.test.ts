import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createJsonPicker, scanMembers } from '../../../src/sources/json/json-text.js';

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
