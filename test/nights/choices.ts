import { createPick } from '../../src/sandbox/common/random.js';
import { allGuests, allSingles, crowd, type Guest } from './guests.js';

/** Random choices, always the same for a seed. */
export interface Choices {
  pick<Item>(items: readonly Item[]): Item;
  isOneIn(number: number): boolean;
  /** A number from 0 up to this one. */
  below(limit: number): number;
  some<Item>(items: readonly Item[], most?: number): Item[];
  /** One of them, rather one of these. */
  pickAmong(guests: readonly Guest[], rather: readonly Guest[]): Guest;
  guests(): Guest[];
  /** What lies in an export. @param hasBoth whether both rooms of a booking are booked on that day */
  source(hasBoth: boolean): readonly Guest[];
}

/** Versions of one booking: a source has one of them. */
const versions: readonly (readonly [Guest, Guest])[] = [
  ['tom', 'tomMoved'],
  ['zoe', 'zoeLater'],
];

export function createChoices(random: () => number): Choices {
  const pick = createPick(random);
  const isOneIn = (number: number) => random() * number < 1;
  const some = <Item>(items: readonly Item[], most = items.length): Item[] => {
    const share = random();
    return items.filter(() => random() < share).slice(0, most);
  };
  return {
    pick,
    isOneIn,
    some,
    pickAmong(guests, rather) {
      const preferred = guests.filter((guest) => rather.includes(guest));
      return pick(preferred.length > 0 ? preferred : guests);
    },
    below: (limit) => Math.floor(random() * limit),
    guests: () => [...some(allSingles), ...crowd.slice(0, pick([0, 0, 19, 20, crowd.length]))],

    source(hasBoth) {
      const chosen = new Set<Guest>(some(allSingles, 8));
      // Each of the crowd takes as long as anybody else.
      if (isOneIn(8)) for (const guest of crowd) chosen.add(guest);
      for (const pair of versions) if (pair.every((guest) => chosen.has(guest))) chosen.delete(pick(pair));
      // Each room has a verdict of its own, and the model has one for both: so both are booked all along, or one.
      chosen.delete('bob');
      if (hasBoth && chosen.has('ana')) chosen.add('bob');
      if (chosen.size === 0) chosen.add('eva');
      return allGuests.filter((guest) => chosen.has(guest));
    },
  };
}
