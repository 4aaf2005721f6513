import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderHotelSketch } from '../../src/charts/hotel-sketch.js';
import { broken } from './broken-chart.js';

const ritz = { name: 'Hotel Ritz', place: { latitude: 40.4155, longitude: -3.6927 } };

function sketchWith(latitude: number, longitude: number): string {
  return renderHotelSketch(ritz, { name: 'Palace', place: { latitude, longitude } })?.markup ?? '';
}

/** The centres of the circle and the square. */
function findPoints(sketch: string) {
  const [, ax, ay] = /<circle class="hotel" cx="([\d.]+)" cy="([\d.]+)"/.exec(sketch) ?? [];
  const [, bx, by] = /<rect class="hotel" x="([\d.]+)" y="([\d.]+)"/.exec(sketch) ?? [];
  return { a: { x: Number(ax), y: Number(ay) }, b: { x: Number(bx) + 8, y: Number(by) + 8 } };
}

describe('the sketch of two hotels', () => {
  it('shows both with north up, and their distance in metres or kilometres', () => {
    const near = sketchWith(40.4175, -3.689);
    expect(near).toContain('aria-label="B is 384 m north-east of A."');
    expect(near).toContain('>384 m<');
    const { a, b } = findPoints(near);
    expect(b.x).toBeGreaterThan(a.x);
    expect(b.y).toBeLessThan(a.y);
    expect(sketchWith(41.3874, 2.1686)).toContain('>504 km<');
  });

  it.each([
    ['north', 40.5, -3.6927],
    ['south', 40.3, -3.6927],
    ['east', 40.4155, -3.6],
    ['west', 40.4155, -3.8],
  ])('names the direction %s', (direction, latitude, longitude) => {
    expect(sketchWith(latitude, longitude)).toMatch(new RegExp(`km ${direction} of A`));
  });

  it('takes the short way across the date line', () => {
    const fiji = { name: 'Suva', place: { latitude: -18, longitude: 179.9 } };
    const other = { name: 'Lau', place: { latitude: -18, longitude: -179.9 } };
    expect(renderHotelSketch(fiji, other)?.markup).toContain('B is 21.2 km east of A.');
  });

  it('says that two hotels are in one place', () => {
    const sketch = sketchWith(40.4155, -3.6927);
    expect(sketch).toContain('A and B are at the same place.');
    expect(sketch).not.toContain('class="way"');
  });

  it('is left out where a place is unknown', () => {
    expect(renderHotelSketch(ritz, { name: 'Palace' })).toBeUndefined();
    expect(renderHotelSketch({ name: 'Palace' }, ritz)).toBeUndefined();
    expect(sketchWith(91, 0)).toBe('');
    expect(sketchWith(0, Number.NaN)).toBe('');
  });

  it('escapes the names of hotels', () => {
    const hostile = { ...ritz, name: '<script>"\u202e' };
    expect(renderHotelSketch(hostile, hostile)?.markup).toContain('&lt;script&gt;&quot;\\u202e<');
  });

  it('keeps both points on the map, wherever they are', () => {
    const place = fc.record({
      latitude: fc.double({ min: -90, max: 90, noNaN: true }),
      longitude: fc.double({ min: -180, max: 180, noNaN: true }),
    });
    fc.assert(
      fc.property(place, place, (one, other) => {
        const sketch =
          renderHotelSketch({ name: 'A', place: one }, { name: 'B', place: other })?.markup ?? '';
        expect(sketch).not.toMatch(broken);
        const { a, b } = findPoints(sketch);
        for (const { x, y } of [a, b]) {
          expect(x).toBeGreaterThan(40);
          expect(x).toBeLessThan(280);
          expect(y).toBeGreaterThan(30);
          expect(y).toBeLessThan(160);
        }
        expect(sketch.length).toBeLessThan(2_500);
      }),
    );
  });
});
