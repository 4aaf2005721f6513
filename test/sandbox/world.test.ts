import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { channelIdsOf, locationCodeOf } from '../../src/sandbox/world/mapping-fields.js';
import { createWorld, type Mapping, type World, worldBeginning } from '../../src/sandbox/world/world.js';
import { compiled } from '../support/compiled.js';

const since = Date.UTC(2026, 10, 20);
const second = 1_000;
const built = `${compiled}src/sandbox/`;

type Hotel = Readonly<Record<'providerName' | 'providerHotelId', string>>;

const hotelOf = ({ providerName, providerHotelId }: Hotel) => `${providerName} ${providerHotelId}`;
const keyOf = (mapping: Hotel & { readonly serviceId: number }) => `${mapping.serviceId} ${hotelOf(mapping)}`;
const digestOf = ({ history }: World) => createHash('sha256').update(JSON.stringify(history)).digest('hex');

function changedWorld(changes: number, options: Parameters<typeof createWorld>[0] = { hotels: 200 }): World {
  const world = createWorld(options);
  for (let made = 1; made <= changes; made += 1) world.change(since + made * second);
  return world;
}

describe('The world', () => {
  it('is always the same, with other hotels and mappings for another seed', () => {
    expect(createWorld()).toMatchObject({ hotels: { length: 2_000 } });
    expect(digestOf(createWorld())).toBe(digestOf(createWorld({ seed: 1, hotels: 2_000 })));
    expect(digestOf(createWorld({ seed: 2 }))).not.toBe(digestOf(createWorld()));
  });

  it('is the same in another process', () => {
    const script = `
      import { createHash } from 'node:crypto';
      import { createWorld } from '${built}world/world.js';
      const world = createWorld({ hotels: 200 });
      for (let made = 1; made <= 500; made += 1) world.change(${since} + made * 1000);
      process.stdout.write(createHash('sha256').update(JSON.stringify(world.history)).digest('hex'));`;
    const other = execFileSync(process.execPath, ['--input-type=module', '--eval', script], {
      cwd: fileURLToPath(new URL('.', import.meta.url)),
    });
    expect(other.toString()).toBe(digestOf(changedWorld(500)));
  });

  it('came about in the half year before its changes, which ended before it began, in order', () => {
    const { history } = createWorld({ hotels: 500 });
    const instants = history.map(({ changedAt }) => changedAt);
    expect(instants).toEqual(instants.toSorted((one, other) => one - other));
    expect(instants.at(0)).toBeGreaterThanOrEqual(Date.UTC(2025, 0, 1));
    expect(instants.at(-1)).toBeLessThan(worldBeginning);
    const unchanged = history.filter(({ changedAt }) => changedAt < worldBeginning - 182 * 86_400_000);
    expect(unchanged.length / history.length).toBeGreaterThan(0.7);
    expect(unchanged.length / history.length).toBeLessThan(0.9);
    const older = unchanged.filter(({ createdAt, changedAt }) => createdAt < changedAt);
    expect(older.length / unchanged.length).toBeCloseTo(0.5, 1);
  });

  it('has moved, merged and deleted mappings from the start', () => {
    const { history } = createWorld();
    const standing = new Set(history.filter(({ isDeleted }) => !isDeleted).map(hotelOf));
    const moved = history.filter((mapping) => mapping.isDeleted && standing.has(hotelOf(mapping)));
    const moves = moved.map(({ serviceId, changedAt }) => `${serviceId} ${changedAt}`);
    const gone = history.filter(({ isDeleted }) => isDeleted).length - moved.length;
    expect(moved.length).toBeGreaterThan(100);
    // Everything that was sold as one hotel moved at once.
    expect(new Set(moves).size).toBeLessThan(moves.length);
    expect(gone).toBeGreaterThan(100);
  });

  it.each([0, 600])('maps each provider hotel as of its last change, after %d further changes', (changes) => {
    const world = changedWorld(changes);
    expect(new Set(world.history.map(keyOf)).size).toBe(world.history.length);
    const active = world.history.filter(({ isDeleted }) => !isDeleted);
    expect(world.mappings.map(keyOf)).toEqual(active.map(keyOf));
    const standing = new Map(active.map((mapping) => [hotelOf(mapping), mapping.serviceId]));
    expect(standing.size).toBe(active.length);
    for (const { providerName, providerHotelId, serviceId } of world.history) {
      expect(world.serviceIdOf(providerName, providerHotelId)).toBe(
        standing.get(hotelOf({ providerName, providerHotelId })),
      );
      expect(world.hotelOf(serviceId)?.serviceId).toBe(serviceId);
    }
    expect(world.serviceIdOf('Bedlink', 'unheard-of')).toBeUndefined();
    expect(world.hotelOf(99_999)).toBeUndefined();
  });

  it('deletes, restores and moves mappings, merges hotels, and updates channels and locations', () => {
    const world = createWorld({ hotels: 200 });
    const met = new Set<string>();
    const show = (mapping: Mapping) => {
      const hotel = world.hotelOf(mapping.serviceId);
      if (!hotel) throw new Error(`no hotel ${mapping.serviceId}`);
      return {
        ...{ isDeleted: mapping.isDeleted, channels: channelIdsOf(mapping).join() },
        location: locationCodeOf(mapping, hotel),
      };
    };
    const known = new Map(world.history.map((mapping) => [keyOf(mapping), show(mapping)]));
    for (let instant = since; instant < since + 400 * second; instant += second) {
      world.change(instant);
      const changed = world.history.filter(({ changedAt }) => changedAt === instant);
      expect(world.history.slice(world.history.length - changed.length)).toEqual(changed);
      for (const mapping of changed) {
        const old = known.get(keyOf(mapping));
        const now = show(mapping);
        if (changed.length > 1) met.add(changed.length > 2 ? 'merged' : 'moved');
        else if (!old) met.add('added');
        else if (now.isDeleted) met.add('deleted');
        else if (old.isDeleted) met.add('returned');
        else if (old.channels !== now.channels) met.add('channels');
        else if (old.location !== now.location) met.add('location');
        known.set(keyOf(mapping), now);
      }
    }
    expect([...met].sort()).toEqual(['channels', 'deleted', 'location', 'merged', 'moved', 'returned']);
  });

  it('has one mapping for a provider hotel that moved back', () => {
    const { history } = changedWorld(3_000, { hotels: 3 });
    expect(new Set(history.map(keyOf)).size).toBe(history.length);
  });

  it('keeps changing with only two hotels', () => {
    expect(digestOf(changedWorld(5_000, { hotels: 2 }))).not.toBe(digestOf(createWorld({ hotels: 2 })));
  });
});
