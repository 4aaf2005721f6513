import { describe, expect, it } from 'vitest';
import { compareKeptKeys, type KeptOrder, writeKeptKey } from '../../../src/review/verdicts/kept-order.js';

function sort(values: readonly (string | undefined)[], isDescending = false): (string | undefined)[] {
  const order: KeptOrder = { label: 'Price', isDescending };
  const items = values.map((value, index) => ({
    value,
    key: writeKeptKey(order, value === undefined ? undefined : { Price: value }, `2026-12-${10 + index}`),
  }));
  const compare = compareKeptKeys(
    order,
    items.map(({ key }) => key),
  );
  return items.toSorted((a, b) => compare(a.key, b.key)).map(({ value }) => value);
}

describe('the order by a kept column', () => {
  it('is that of numbers if all of them are numbers, with those without a value last', () => {
    expect(sort(['99', undefined, '1000.5', '-3', '120,50'])).toEqual([
      '-3',
      '99',
      '120,50',
      '1000.5',
      undefined,
    ]);
    expect(sort(['99', undefined, '1000.5'], true)).toEqual(['1000.5', '99', undefined]);
  });

  it.each([[['99', '1000', 'n/a']], [['99', '1,000', '5']]])(
    'is that of texts if one is not a number: %j',
    (values) => {
      expect(sort(values)).toEqual(values.toSorted());
    },
  );

  it('is by check-in, nearest first, where values are equal: in both directions', () => {
    const order = { label: 'Price', isDescending: true };
    const keys = ['2026-12-03', '2026-12-01'].map((checkIn) => writeKeptKey(order, { Price: '5' }, checkIn));
    expect(keys.toSorted(compareKeptKeys(order, keys))).toEqual(keys.toReversed());
  });
});
