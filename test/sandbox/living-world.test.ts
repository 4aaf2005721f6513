import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createLivingWorld, type Snapshot, worldBeginning } from '../../src/sandbox/world/living-world.js';
import { channelIdsOf, locationCodeOf } from '../../src/sandbox/world/mapping-version.js';
import { createWorld } from '../../src/sandbox/world/world.js';

const since = Date.UTC(2026, 10, 20);
const second = 1_000;
const built = new URL('../../dist/src/sandbox/', import.meta.url).href;

/** A world of 200 hotels that changes every second, and its clock. */
function liveWorld({ seed = 1, hotels = 200, changesPerHour = 3_600 } = {}) {
  const time = { now: since };
  const first = createWorld({ seed, hotels });
  const world = createLivingWorld({
    world: first,
    pace: { changesPerHour, since },
    clock: () => time.now,
  });
  return { world, first, time };
}

type Live = ReturnType<typeof liveWorld>['world'];

type Hotel = Readonly<Record<'providerName' | 'providerHotelId', string>>;

const hotelOf = ({ providerName, providerHotelId }: Hotel) => `${providerName} ${providerHotelId}`;
const pairOf = ({ providerName, providerHotelId }: Hotel) => [providerName, providerHotelId] as const;
const keyOf = (mapping: Hotel & { readonly serviceId: number }) => `${mapping.serviceId} ${hotelOf(mapping)}`;

/** The mappings of a snapshot, keyed by both hotels. */
function stateOf(world: Live, snapshot: Snapshot) {
  return new Map(
    [...snapshot.read(0)].map((version) => {
      const hotel = world.hotelOf(version.serviceId);
      if (!hotel) throw new Error(`no hotel ${version.serviceId}`);
      const location = locationCodeOf(version, hotel);
      const { serviceId, isDeleted, changedAt } = version;
      return [
        keyOf(version),
        JSON.stringify({ serviceId, isDeleted, changedAt, location, channels: channelIdsOf(version) }),
      ];
    }),
  );
}

const digestOf = (world: Live) =>
  createHash('sha256')
    .update(JSON.stringify([...stateOf(world, world.takeSnapshot())]))
    .digest('hex');

describe('A world without changes', () => {
  it('always equals the world as it was made', () => {
    const first = createWorld({ seed: 3, hotels: 50 });
    let now = 0;
    const world = createLivingWorld({ world: first, clock: () => now });
    const before = [...world.takeSnapshot().read(0)];
    now = Date.UTC(2030, 0, 1);
    expect([...world.takeSnapshot().read(0)]).toEqual(before);
    expect(new Set(before.map(keyOf))).toEqual(new Set(first.mappings.map(keyOf)));
    for (const { providerName, providerHotelId, serviceId } of first.mappings)
      expect(world.serviceIdOf(providerName, providerHotelId)).toBe(serviceId);
    expect(world.serviceIdOf('Bedlink', 'unheard-of')).toBeUndefined();
    expect(first.hotels.map(({ serviceId }) => world.hotelOf(serviceId))).toEqual(first.hotels);
    expect(world.hotelOf(99_999)).toBeUndefined();
  });

  it('has mappings last changed throughout the year before it began, in order', () => {
    const world = createLivingWorld({ world: createWorld({ seed: 1, hotels: 500 }), clock: () => since });
    const snapshot = world.takeSnapshot();
    const all = [...snapshot.read(0)];
    const instants = all.map(({ changedAt }) => changedAt);
    expect(instants).toEqual(instants.toSorted((one, other) => one - other));
    expect(instants.at(0)).toBe(Date.UTC(2025, 0, 1));
    expect(instants.at(-1)).toBeLessThan(worldBeginning);
    const july = [...snapshot.read(snapshot.firstSince(Date.UTC(2025, 6, 2)))];
    expect(july.length / all.length).toBeCloseTo(0.5, 1);
    expect(all.filter(({ createdAt, changedAt }) => createdAt < changedAt).length / all.length).toBeCloseTo(
      0.5,
      1,
    );
  });
});

describe('A changing world', () => {
  it('is the same at the same instant, regardless of intermediate queries', () => {
    const [small, large] = [liveWorld(), liveWorld()];
    for (small.time.now = since; small.time.now < since + 1_000 * second; small.time.now += 7 * second)
      small.world.takeSnapshot();
    small.time.now = large.time.now = since + 1_000 * second;
    expect(digestOf(small.world)).toBe(digestOf(large.world));
    const other = liveWorld({ seed: 2 });
    other.time.now = small.time.now;
    expect(digestOf(other.world)).not.toBe(digestOf(small.world));
  });

  it('is the same in another process', () => {
    const { world, time } = liveWorld();
    time.now = since + 500 * second;
    const script = `
      import { createHash } from 'node:crypto';
      import { createLivingWorld } from '${built}world/living-world.js';
      import { channelIdsOf, locationCodeOf } from '${built}world/mapping-version.js';
      import { createWorld } from '${built}world/world.js';
      const world = createLivingWorld({
        world: createWorld({ seed: 1, hotels: 200 }),
        pace: { changesPerHour: 3600, since: ${since} },
        clock: () => ${time.now},
      });
      const state = [...world.takeSnapshot().read(0)].map((version) => {
        const { serviceId, isDeleted, changedAt, providerName, providerHotelId } = version;
        const location = locationCodeOf(version, world.hotelOf(serviceId));
        const text = JSON.stringify({ serviceId, isDeleted, changedAt, location, channels: channelIdsOf(version) });
        return [serviceId + ' ' + providerName + ' ' + providerHotelId, text];
      });
      process.stdout.write(createHash('sha256').update(JSON.stringify(state)).digest('hex'));`;
    const program = ['--input-type=module', '--eval', script];
    const other = execFileSync(process.execPath, program, {
      cwd: fileURLToPath(new URL('.', import.meta.url)),
    });
    expect(other.toString()).toBe(digestOf(world));
  });

  it('makes each change when it is due', () => {
    const { world, time } = liveWorld({ changesPerHour: 60 });
    const before = world.takeSnapshot();
    time.now = since + 59_999;
    expect(world.takeSnapshot().number).toBe(before.number);
    time.now = since + 60_000;
    const after = world.takeSnapshot();
    expect(after.number).toBeGreaterThan(before.number);
    expect([...after.read(before.number)].map(({ changedAt }) => changedAt)).toEqual(
      Array.from({ length: after.number - before.number }, () => time.now),
    );
  });

  it('adds, deletes, restores and moves mappings, merges hotels, and updates channels and locations', () => {
    const { world, time } = liveWorld();
    const met = new Set<string>();
    let before = new Map([...world.takeSnapshot().read(0)].map((version) => [keyOf(version), version]));
    let number = world.takeSnapshot().number;
    for (time.now = since + second; time.now <= since + 400 * second; time.now += second) {
      const snapshot = world.takeSnapshot();
      const changed = [...snapshot.read(number)];
      number = snapshot.number;
      for (const version of changed) {
        const old = before.get(keyOf(version));
        const others = changed.filter((other) => hotelOf(other) === hotelOf(version) && other !== version);
        if (others.length > 0) met.add(changed.length > 2 ? 'merged' : 'moved');
        else if (!old) met.add('added');
        else if (version.isDeleted) met.add('deleted');
        else if (old.isDeleted) met.add('returned');
        else if (channelIdsOf(old).join() !== channelIdsOf(version).join()) met.add('channels');
        else met.add('location');
      }
      before = new Map([...before, ...changed.map((version) => [keyOf(version), version] as const)]);
    }
    expect([...met].sort()).toEqual([
      'added',
      'channels',
      'deleted',
      'location',
      'merged',
      'moved',
      'returned',
    ]);
  });

  it('maps each provider hotel as of its last change', () => {
    const { world, time } = liveWorld();
    time.now = since + 600 * second;
    const all = [...world.takeSnapshot().read(0)];
    const standing = new Map(
      all.filter(({ isDeleted }) => !isDeleted).map((version) => [hotelOf(version), version.serviceId]),
    );
    expect(standing.size).toBe(all.filter(({ isDeleted }) => !isDeleted).length);
    for (const version of all)
      expect(world.serviceIdOf(version.providerName, version.providerHotelId)).toBe(
        standing.get(hotelOf(version)),
      );
  });

  it('can be read as of a snapshot, each mapping once, while it keeps changing', () => {
    const { world, time } = liveWorld();
    time.now = since + 300 * second;
    const snapshot = world.takeSnapshot();
    const asItWas = stateOf(world, snapshot);
    const reading = snapshot.read(0)[Symbol.iterator]();
    const read: string[] = [];
    for (let next = reading.next(); !next.done; next = reading.next()) {
      time.now += second;
      world.takeSnapshot();
      read.push(keyOf(next.value));
    }
    expect(read).toEqual([...asItWas.keys()]);
    expect(new Set(read).size).toBe(read.length);
    expect(stateOf(world, world.recall(snapshot.number))).toEqual(asItWas);
    expect(stateOf(world, world.takeSnapshot())).not.toEqual(asItWas);
  });

  it('lists exactly the differences since an instant', () => {
    const { world, time } = liveWorld();
    time.now = since + 200 * second;
    const then = stateOf(world, world.takeSnapshot());
    time.now = since + 500 * second;
    const snapshot = world.takeSnapshot();
    const changes = [...snapshot.read(snapshot.firstSince(since + 200 * second + 1))].map(keyOf);
    const now = stateOf(world, snapshot);
    expect(new Map([...then, ...[...now].filter(([key]) => changes.includes(key))])).toEqual(now);
    expect(new Set(changes).size).toBe(changes.length);
  });

  it('has one mapping for a provider hotel that moved back', () => {
    const { world, time } = liveWorld({ hotels: 3 });
    time.now = since + 3_000 * second;
    const all = [...world.takeSnapshot().read(0)].map(keyOf);
    expect(new Set(all).size).toBe(all.length);
  });

  it('stays the same when its clock is set back', () => {
    const { world, time } = liveWorld();
    time.now = since + 100 * second;
    const digest = digestOf(world);
    time.now = since;
    expect(digestOf(world)).toBe(digest);
  });

  it('is refused when it would have missed more than a million changes', () => {
    const first = createWorld({ seed: 1, hotels: 10 });
    const pace = { changesPerHour: 360_000, since };
    expect(() => createLivingWorld({ world: first, pace, clock: () => since + 86_400_000 })).toThrow(
      'more than 1000000 times',
    );
  });

  it('does not change before its beginning', () => {
    let now = worldBeginning - 1;
    const pace = { changesPerHour: 3_600_000, since: worldBeginning - 10_000 };
    const world = createLivingWorld({ world: createWorld({ seed: 1, hotels: 10 }), pace, clock: () => now });
    const before = world.takeSnapshot().number;
    now = worldBeginning;
    expect(world.takeSnapshot().number).toBe(before);
    now = worldBeginning + 1;
    expect(world.takeSnapshot().number).toBeGreaterThan(before);
  });

  it('states some mappings wrongly, knows what they really are, and corrects them', () => {
    const first = createWorld({ seed: 1, hotels: 200, wrongMappings: 0.05 });
    const right = createWorld({ seed: 1, hotels: 200 });
    const time = { now: since };
    const world = createLivingWorld({
      world: first,
      pace: { changesPerHour: 3_600, since },
      clock: () => time.now,
    });
    const wrong = () =>
      world
        .readBookable()
        .mappings.filter((one) => world.serviceIdOf(one.providerName, one.providerHotelId) !== one.serviceId);
    expect(wrong().length).toBe(first.corrections.length);
    expect(wrong().length / first.mappings.length).toBeCloseTo(0.05, 2);
    expect(first.mappings.map(hotelOf)).toEqual(right.mappings.map(hotelOf));
    for (const { providerName, providerHotelId, serviceId } of right.mappings)
      expect(world.serviceIdOf(providerName, providerHotelId)).toBe(serviceId);

    const before = new Map(wrong().map((one) => [hotelOf(one), world.serviceIdOf(...pairOf(one))]));
    const corrected = new Set<string>();
    for (; wrong().length > 0; time.now += second) {
      const left = new Set(wrong().map(hotelOf));
      for (const [hotel, truth] of before) {
        const stated = world.readBookable().mappings.find((one) => hotelOf(one) === hotel);
        if (!left.has(hotel) && stated?.serviceId === truth) corrected.add(hotel);
      }
    }
    expect(corrected.size).toBeGreaterThan(before.size / 2);
  });

  it('keeps changing with only two hotels', () => {
    const { world, time } = liveWorld({ hotels: 2 });
    time.now = since + 5_000 * second;
    expect([...world.takeSnapshot().read(0)].length).toBeGreaterThan(2);
  });
});
