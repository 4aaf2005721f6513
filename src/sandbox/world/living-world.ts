import { SandboxError } from '../common/errors.js';
import { createSeededRandom } from '../common/random.js';
import { createChanges } from './changes.js';
import { createMappingLog, type MappingLog } from './mapping-log.js';
import type { MappingVersion } from './mapping-version.js';
import { createMistakes } from './mistakes.js';
import type { Pace } from './pace.js';
import { type BookableWorld, findHotel, type Hotel, type HotelDirectory, type World } from './world.js';

/** A world that changes over time. Every question is answered as of now. */
export interface LivingWorld extends HotelDirectory {
  readonly providers: readonly string[];
  /** Its hotels and stated mappings as they are now. */
  readBookable(): BookableWorld;
  /** The world as it is now, to be read later or in parts. */
  takeSnapshot(): Snapshot;
  /** An earlier snapshot, by its number. */
  recall(number: number): Snapshot;
}

/** The world at one moment, unaffected by later changes. */
export interface Snapshot {
  readonly number: number;
  /** The sequence of the first change at or after an instant (epoch milliseconds). */
  firstSince(instant: number): number;
  at(sequence: number): MappingVersion;
  /** Each mapping whose last change has at least this sequence, in the order of those changes, including deleted ones. */
  read(from: number): Iterable<MappingVersion>;
}

interface LivingWorldOptions {
  readonly world: World;
  /** Without it, the world never changes. */
  readonly pace?: Pace | undefined;
  /** Epoch milliseconds. When it is set back, the world stays as it is. */
  readonly clock: () => number;
}

/** The initial mappings were last changed during the year before this instant. */
export const worldBeginning = Date.UTC(2026, 0, 1);
const yearMs = 365 * 86_400_000;
/** Every other initial mapping was created this long before its last change. */
const olderByMs = 100 * 86_400_000;
/** Catching up with more would take too long. */
const maxMissedChanges = 1_000_000;
const hourMs = 3_600_000;

/**
 * Makes a world change. Two worlds of the same seed, size and pace are equal at the same instant, in every process.
 *
 * @throws SandboxError when too many changes have been missed since the pace started
 */
export function createLivingWorld({ world, pace, clock }: LivingWorldOptions): LivingWorld {
  const log = createMappingLog();
  const hotels: Hotel[] = [...world.hotels];
  enterInitialMappings(log, world);
  const mistakes = createMistakes(
    world.corrections,
    ({ providerName, providerHotelId }) => log.find(providerName, providerHotelId)?.serviceId,
  );
  const change = createChanges({ log, hotels, mistakes, random: createSeededRandom(~world.seed) });
  const changesPerHour = pace?.changesPerHour ?? 0;
  const since = Math.max(pace?.since ?? 0, worldBeginning);
  let made = 0;

  function countDue(): number {
    return Math.floor(((clock() - since) * changesPerHour) / hourMs);
  }

  function makeDueChanges(): void {
    for (const due = countDue(); made < due; made += 1) {
      change(since + Math.floor(((made + 1) * hourMs) / changesPerHour));
    }
  }

  if (countDue() > maxMissedChanges)
    throw new SandboxError(
      `the world would have changed more than ${maxMissedChanges} times since it started; choose a slower pace, or another folder`,
    );

  function serviceIdOf(providerName: string, providerHotelId: string): number | undefined {
    makeDueChanges();
    const version = log.find(providerName, providerHotelId);
    if (!version || version.isDeleted) return undefined;
    return mistakes.find(version) ?? version.serviceId;
  }

  const hotelOf = (serviceId: number) => findHotel(hotels, serviceId);

  return {
    providers: world.providers,
    serviceIdOf,
    hotelOf,
    readBookable() {
      makeDueChanges();
      const mappings = [...log.read(0, log.size)].filter(({ isDeleted }) => !isDeleted);
      return { hotels: [...hotels], mappings, serviceIdOf, hotelOf };
    },
    takeSnapshot() {
      makeDueChanges();
      return snapshotOf(log, log.size);
    },
    recall: (number) => snapshotOf(log, number),
  };
}

function snapshotOf(log: MappingLog, number: number): Snapshot {
  return { number, firstSince: log.firstSince, at: log.at, read: (from) => log.read(from, number) };
}

/** Enters the initial mappings in an order that differs from that of their hotels. */
function enterInitialMappings(log: MappingLog, { mappings }: World): void {
  const count = mappings.length;
  const step = findStride(count);
  for (let place = 0; place < count; place += 1) {
    const mapping = mappings[(place * step) % count];
    if (!mapping) continue;
    const changedAt = worldBeginning - yearMs + Math.floor((yearMs * place) / count);
    const createdAt = place % 2 === 0 ? changedAt : changedAt - olderByMs;
    log.add(mapping, { createdAt, changedAt });
  }
}

/** A step of about five eighths of a circle that visits each place once: it is coprime to the circle's length. */
function findStride(count: number): number {
  let step = Math.max(1, Math.floor(count * 0.618));
  while (greatestCommonDivisor(step, count) > 1) step += 1;
  return step;
}

function greatestCommonDivisor(one: number, other: number): number {
  return other === 0 ? one : greatestCommonDivisor(other, one % other);
}
