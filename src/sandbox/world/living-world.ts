import { SandboxError } from '../common/errors.js';
import { createSeededRandom } from '../common/random.js';
import { createChanges } from './changes.js';
import { createMappingLog, type MappingLog } from './mapping-log.js';
import type { MappingVersion } from './mapping-version.js';
import { findHotel, type Hotel, type HotelDirectory, type World } from './world.js';

/** A world that changes as time goes by. All that it is asked for, it answers as of the moment. */
export interface LivingWorld extends HotelDirectory {
  readonly providers: readonly string[];
  /** The world as it is now, to be read later or piece by piece. */
  takeSnapshot(): Snapshot;
  /** The snapshot that was taken when it had that number. */
  recall(number: number): Snapshot;
}

/** The world at one moment, whatever changes after it. */
export interface Snapshot {
  readonly number: number;
  /** The place of the first change that is not older than the instant, in epoch milliseconds. */
  firstSince(instant: number): number;
  /** The change at a place. */
  at(sequence: number): MappingVersion;
  /** Each mapping whose last change has that place or a later one, in the order of those changes; deleted ones too. */
  read(from: number): Iterable<MappingVersion>;
}

/** How a world changes. */
export interface Pace {
  readonly changesPerHour: number;
  /** When the first of them begins to be due, in epoch milliseconds; at the world's beginning at the earliest. */
  readonly since: number;
}

export interface LivingWorldOptions {
  readonly world: World;
  /** Without it, it stands still. */
  readonly pace?: Pace | undefined;
  /** Epoch milliseconds. When it is set back, the world stays as it is. */
  readonly clock: () => number;
}

/** More would take too long at once. */
const mostMissedChanges = 1_000_000;
const hourMs = 3_600_000;

/**
 * Brings a world to life: at the same instant, one of the same seed, size and pace is the same in every process.
 *
 * @throws SandboxError when too many changes have been missed since the pace began
 */
export function createLivingWorld({ world, pace, clock }: LivingWorldOptions): LivingWorld {
  const log = createMappingLog();
  const hotels: Hotel[] = [...world.hotels];
  enterFirstVersions(log, world);
  const change = createChanges({ log, hotels, random: createSeededRandom(~world.seed) });
  const changesPerHour = pace?.changesPerHour ?? 0;
  const since = Math.max(pace?.since ?? 0, worldBeginning);
  let made = 0;

  function countDue(): number {
    return Math.floor(((clock() - since) * changesPerHour) / hourMs);
  }

  /** Makes the changes that are due. */
  function catchUp(): void {
    for (const due = countDue(); made < due; made += 1) {
      change(since + Math.floor(((made + 1) * hourMs) / changesPerHour));
    }
  }

  if (countDue() > mostMissedChanges)
    throw new SandboxError(
      `the world would have changed more than ${mostMissedChanges} times since it began; give a slower pace, or another folder`,
    );

  return {
    providers: world.providers,
    serviceIdOf(providerName, providerHotelId) {
      catchUp();
      const version = log.find(providerName, providerHotelId);
      return version?.isDeleted ? undefined : version?.serviceId;
    },
    hotelOf: (serviceId) => findHotel(hotels, serviceId),
    takeSnapshot() {
      catchUp();
      return readAt(log, log.size);
    },
    recall: (number) => readAt(log, number),
  };
}

function readAt(log: MappingLog, number: number): Snapshot {
  return { number, firstSince: log.firstSince, at: log.at, read: (from) => log.read(from, number) };
}

/** The mappings that every world begins with were last changed at instants that are spread over the year before this one. */
export const worldBeginning = Date.UTC(2026, 0, 1);
const yearMs = 365 * 86_400_000;
/** The mappings in between are older: they were updated since they came to be. */
const olderByMs = 100 * 86_400_000;

/** Enters the mappings that a world begins with, in another order than that of its hotels. */
export function enterFirstVersions(log: MappingLog, { mappings }: World): void {
  const count = mappings.length;
  const step = strideThrough(count);
  for (let place = 0; place < count; place += 1) {
    const mapping = mappings[(place * step) % count];
    if (!mapping) continue;
    const changedAt = worldBeginning - yearMs + Math.floor((yearMs * place) / count);
    const createdAt = place % 2 === 0 ? changedAt : changedAt - olderByMs;
    log.add(mapping, { createdAt, changedAt });
  }
}

/** A step of about five eighths that comes by every place of a circle once: it has no divisor in common with its length. */
function strideThrough(count: number): number {
  let step = Math.max(1, Math.floor(count * 0.618));
  while (greatestDivisor(step, count) > 1) step += 1;
  return step;
}

function greatestDivisor(one: number, other: number): number {
  return other === 0 ? one : greatestDivisor(other, one % other);
}
