import { expect, it } from 'vitest';
import { plusCodeOf } from '../../src/sandbox/world/hotel-content.js';

it.each([
  [20.3700625, 2.7821875, '7FG49QCJ+2V'],
  [47.36559, 8.524997, '8FVC9G8F+6X'],
  [-41.2730625, 174.7859375, '4VCPPQGP+Q9'],
])('the plus code of %d, %d is %s', (latitude, longitude, code) => {
  expect(plusCodeOf(latitude, longitude)).toBe(code);
});
