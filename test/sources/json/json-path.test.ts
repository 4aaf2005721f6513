import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listElements, readJsonPath } from '../../../src/sources/json/json-text.js';

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
    ['t.0', 'absent'],
    ['s.x', 'absent'],
    ['n.m', 'ambiguous'],
    ['n.m.x', 'ambiguous'],
    ['.', 'absent'],
  ])('%j is %s', (path, kind) => {
    expect(readJsonPath(json, path)).toEqual({ kind });
  });
});
