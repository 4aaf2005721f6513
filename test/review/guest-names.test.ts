import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readsAsNull } from '../../src/booking/field-text.js';
import { createNormaliser } from '../../src/booking/normalise.js';
import { createErasedTest, rememberName } from '../../src/review/erasures.js';
import { findFileObstacle } from '../../src/review/file/review-line.js';
import { createGuestNames, createPseudonyms, writeNames } from '../../src/review/guest-names.js';
import { keyIdOf } from '../../src/review/hash-key.js';

const hashKey = 'a key of these tests';
const complete = {
  serviceId: 7,
  bookingReferenceId: 'BR-1',
  bookingClientName: 'Null',
  providerName: 'Meridian',
  providerHotelId: 'H1',
  checkInDate: '2026-12-01',
  checkOutDate: '2026-12-05',
};

describe('a pseudonym', () => {
  const pseudonymOf = createPseudonyms(hashKey);

  it('is a value that stays unchanged, in the file too, whatever the name is', () => {
    const normalise = createNormaliser();
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('Null', 'none', '')), (name) => {
        const pseudonym = pseudonymOf(name);
        expect(readsAsNull(pseudonym)).toBe(false);
        expect(normalise({ ServiceId: 1, BookingClientName: pseudonym })).toMatchObject({
          booking: { bookingClientName: pseudonym },
        });
        expect(pseudonym).toMatch(/^guest-[0-9a-f]{32}$/);
      }),
    );
    const names = createGuestNames({ guestNames: 'pseudonym', hashKey });
    expect(findFileObstacle(complete)).toBeDefined();
    expect(findFileObstacle(writeNames(complete, names))).toBeUndefined();
  });

  it('is the same for every spelling that `guest erase --name` takes for the same name, and for no other', () => {
    const names = ['Ana Muñoz', ' ana MUÑOZ ', 'Ana Mun\u0303oz', 'Ana Munoz', 'Ana  Muñoz', 'Ben'];
    const { is } = createErasedTest({
      hashKey,
      bits: new Set(),
      references: new Set(),
      names: new Set([rememberName('Ana Muñoz', hashKey, 0).hash]),
    });
    const erased = names.filter((bookingClientName) => is({ serviceId: 1, bookingClientName }));
    expect(names.filter((name) => pseudonymOf(name) === pseudonymOf('Ana Muñoz'))).toEqual(erased);
    expect(erased).toHaveLength(3);
  });

  it('depends on the key, and reveals nothing that is remembered about erased guests', () => {
    const other = createPseudonyms('another key of these');
    expect(other('Ana')).not.toBe(pseudonymOf('Ana'));
    expect(rememberName('Ana', hashKey, 0).hash).not.toContain(pseudonymOf('Ana').slice('guest-'.length));
    const { form } = createGuestNames({ guestNames: 'pseudonym', hashKey });
    expect(form).toBe(`pseudonym ${keyIdOf(hashKey)}`);
  });

  it('is given to no booking without a name', () => {
    const { bookingClientName: _, ...nameless } = complete;
    const names = createGuestNames({ guestNames: 'pseudonym', hashKey });
    expect(writeNames(nameless, names)).toEqual(nameless);
  });
});
