import stringWidth from 'fast-string-width';
import { describe, expect, it } from 'vitest';
import type { HotelPair, LocatedHotel } from '../../../src/mappings/hotels/compare-hotels.js';
import { renderPair } from '../../../src/mappings/hotels/shown-hotels.js';
import { unknownPair } from '../../support/unknown-pair.js';

const loadedAt = Date.UTC(2026, 10, 20);
const bookedHotel: LocatedHotel = {
  ...{ serviceId: 7, loadedAt, name: 'Grand Plaza', city: 'Madrid', country: 'Spain', countryCode: 'ES' },
  ...{ phones: '+34 91', timeZone: 'Europe/Madrid', localTime: '2026-11-20T22:30' },
  coordinates: { latitude: 40.4, longitude: -3.7 },
};
const copyHotel: LocatedHotel = { serviceId: 9, loadedAt, name: 'Park Inn', city: '東京', country: 'Japan' };
const pair: HotelPair = { bookedHotel, copyHotel, distanceKm: 417.23, hoursToCheckIn: 25 };

const ids = { serviceId: 7, copyServiceId: 9, copy: 'mapped' } as const;

describe('two hotels on a terminal', () => {
  it('fit into 80 columns', () => {
    const long = { ...copyHotel, name: '東京'.repeat(60), phones: 'x'.repeat(70), city: 'y'.repeat(30) };
    const lines = renderPair({ ...pair, copyHotel: long }, ids);
    expect(lines.length).toBeGreaterThan(4);
    for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(80);
    expect(lines.join('')).toContain('417 km away');
  });

  it('are unknown where there is no content', () => {
    expect(renderPair(unknownPair, ids)).toEqual([
      '    booked: unknown',
      '    copy:   unknown, distance unknown',
    ]);
    expect(renderPair(unknownPair, { ...ids, copyServiceId: null, copy: 'unmapped' })).toEqual([
      '    booked: unknown',
      '    copy:   no master hotel',
    ]);
    const neverSynced = { ...ids, copyServiceId: null, copy: 'never-synced' } as const;
    expect(renderPair(unknownPair, neverSynced)[1]).toBe(
      '    copy:   unknown: the mappings were never synced',
    );
    expect(renderPair(unknownPair, { ...ids, copyServiceId: 7 })[1]).toBe('    copy:   the same hotel');
  });

  it.each([
    [0.04, 'less than 0.1 km away'],
    [0.35, '0.3 km away'],
    [10_771.2, '10,771 km away'],
  ])('are %d km apart', (distanceKm, words) => {
    expect(renderPair({ ...pair, distanceKm }, ids).at(-1)).toContain(words);
  });

  it.each([
    [0, '0 h to check-in'],
    [71, '71 h to check-in'],
    [-1, 'the check-in day has begun'],
    [-25, 'the check-in day is over'],
  ])('say how much time is left: %d h', (hoursToCheckIn, words) => {
    expect(renderPair({ ...pair, hoursToCheckIn }, ids).join(' ')).toContain(words);
  });
});
