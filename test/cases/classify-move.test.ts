import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classifyMove } from '../../src/cases/follow-mappings.js';
import type { LeftHotel } from '../../src/ledger/mappings.js';

const left = (providerName: string, copyServiceId?: number): LeftHotel => ({
  providerName,
  ...(copyServiceId !== undefined && { copyServiceId }),
});

describe('a booked mapping', () => {
  const booked = { serviceId: 7, copyServiceId: 8 };

  it('that is as booked did not move, whatever the others did', () => {
    const others = { hotels: 1, left: [left('a', 8), left('b', 8), left('c', 8)] };
    expect(classifyMove({ serviceId: 7, copyServiceId: 7 }, others)).toBeUndefined();
  });

  it('that was deleted is unmapped, whatever the others did', () => {
    expect(classifyMove({ serviceId: 7 }, { hotels: 0, left: [left('a'), left('b', 8), left('c', 8)] })).toBe(
      'unmapped',
    );
  });

  it.each([
    ['alone', { hotels: 0, left: [left('a', 8)] }],
    ['from a master hotel that the copy never had', undefined],
  ])('is re-pointed if it moved %s', (_, master) => {
    expect(classifyMove(booked, master)).toBe('re-pointed');
  });

  it('is merged only if two providers and more than half agree, for any master hotel', () => {
    const anyLeft = fc.record(
      { providerName: fc.constantFrom('a', 'b', 'c'), copyServiceId: fc.constantFrom(8, 9) },
      { requiredKeys: ['providerName'] },
    );
    fc.assert(
      fc.property(fc.nat(4), fc.array(anyLeft, { maxLength: 8 }), (hotels, hotelsLeft) => {
        const agree = hotelsLeft.filter(({ copyServiceId }) => copyServiceId === 8);
        const isMerged =
          agree.some(({ providerName }) => providerName !== agree[0]?.providerName) &&
          agree.length > (hotels + hotelsLeft.length) / 2;
        expect(classifyMove(booked, { hotels, left: hotelsLeft })).toBe(isMerged ? 'merged' : 're-pointed');
      }),
    );
  });
});
