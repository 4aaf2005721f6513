import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { plusCodeOf } from '../../src/sandbox/world/hotel-content.js';
import { createWorld, type Mapping, type World } from '../../src/sandbox/world/world.js';

const since = Date.UTC(2026, 10, 20);
type Hotel = Readonly<Record<'providerName' | 'providerHotelId', string>>;
const hotelOf = ({ providerName, providerHotelId }: Hotel) => `${providerName} ${providerHotelId}`;
const keyOf = (mapping: Mapping) => `${mapping.serviceId} ${hotelOf(mapping)}`;
const digestOf = ({ history }: World) => createHash('sha256').update(JSON.stringify(history)).digest('hex');

function changedWorld(changes: number, options: Parameters<typeof createWorld>[0] = { hotels: 200 }): World {
  const world = createWorld(options);
  for (let made = 1; made <= changes; made += 1) world.change(since + made * 1_000);
  return world;
}

it('a world is the same for the same seed, in every process, and another for another seed', () => {
  expect(digestOf(changedWorld(500))).toBe(
    '60d3710e0f5d7259b8d95f4484e9616a0019e102aff6c23c23ad2b0f15fc0323',
  );
  expect(digestOf(createWorld({ seed: 2 }))).not.toBe(digestOf(createWorld()));
  expect(digestOf(createWorld())).toBe(digestOf(createWorld({ seed: 1, hotels: 2_000 })));
});

it.each([
  [0, 200],
  [600, 200],
  [3_000, 3],
  [5_000, 2],
])('after %d changes, %d hotels map each provider hotel as of its last change', (changes, hotels) => {
  const world = changedWorld(changes, { hotels });
  expect(new Set(world.history.map(keyOf)).size).toBe(world.history.length);
  const active = world.history.filter(({ isDeleted }) => !isDeleted);
  expect(world.mappings.map(keyOf)).toEqual(active.map(keyOf));
  const standing = new Map(active.map((mapping) => [hotelOf(mapping), mapping.serviceId]));
  expect(standing.size).toBe(active.length);
  for (const { providerName, providerHotelId, serviceId } of world.history) {
    const mapped = standing.get(hotelOf({ providerName, providerHotelId }));
    expect(world.serviceIdOf(providerName, providerHotelId)).toBe(mapped);
    expect(world.hotelOf(serviceId)?.serviceId).toBe(serviceId);
  }
  expect(world.serviceIdOf('Bedlink', 'unheard-of')).toBeUndefined();
});

it.each([
  [20.3700625, 2.7821875, '7FG49QCJ+2V'],
  [-41.2730625, 174.7859375, '4VCPPQGP+Q9'],
])('the plus code of %d, %d is %s', (latitude, longitude, code) => {
  expect(plusCodeOf(latitude, longitude)).toBe(code);
});
