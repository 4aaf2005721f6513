import { createEvenSelector, createPick, createSeededRandom } from '../common/random.js';
import { isCorrectlyMapped, type World } from '../world/world.js';
import type { MadeRecord } from './made-record.js';

/** Bookings of earlier days that a day exports again. */
export interface NewVersions {
  /** Of the day's records, from 0 to 1, as long as there are bookings left to choose from. */
  readonly share: number;
  /** Each comes at most once. Incomplete and flawed ones, and duplicates, are left out. */
  readonly earlier: readonly MadeRecord[];
}

interface NewVersionsOptions extends Partial<NewVersions> {
  /** YYYY-MM-DD */
  readonly day: string;
  readonly seed: number;
  readonly world: World;
}

const dayMs = 86_400_000;
const maxDaysMoved = 10;

/**
 * Exports bookings again under their references: in turn with other dates, with another hotel, and unchanged.
 *
 * @returns whether the next record of the day is one of them, and which
 */
export function createNewVersions({ day, seed, world, share = 0, earlier = [] }: NewVersionsOptions) {
  const random = createSeededRandom(Math.imul(seed + 1, 0x9e3779b1) ^ Math.floor(Date.parse(day) / dayMs));
  const pick = createPick(random);
  const isNext = createEvenSelector(share, random);
  const left = earlier.filter(({ kind, missing }) => kind === 'booking' && missing === undefined);
  let made = 0;

  function moveStay({ checkInDate, checkOutDate }: MadeRecord): Partial<MadeRecord> {
    const moved = (1 + Math.floor(random() * maxDaysMoved)) * dayMs;
    const later = (date: string) => new Date(Date.parse(date) + moved).toISOString().slice(0, 10);
    if (typeof checkInDate !== 'string' || typeof checkOutDate !== 'string') return {};
    return { checkInDate: later(checkInDate), checkOutDate: later(checkOutDate) };
  }

  function changeHotel(): Partial<MadeRecord> {
    const { serviceId, providerName, providerHotelId } = pick(world.mappings);
    return { serviceId: String(serviceId), providerName, providerHotelId };
  }

  return (): MadeRecord | undefined => {
    if (!isNext() || left.length === 0) return undefined;
    const [booking] = left.splice(Math.floor(random() * left.length), 1) as [MadeRecord];
    const change = [moveStay, changeHotel, () => ({})][made % 3];
    made += 1;
    const version = { ...booking, ...change?.(booking) };
    return { ...version, isWrong: !isRight(version, world) };
  };
}

/** @param booking that lacks no field */
function isRight({ serviceId, providerName, providerHotelId }: MadeRecord, world: World): boolean {
  const [provider, hotel] = [providerName ?? undefined, providerHotelId ?? undefined];
  return isCorrectlyMapped(
    { serviceId: Number(serviceId), providerName: provider, providerHotelId: hotel },
    world,
  );
}
