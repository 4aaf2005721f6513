import { createPick } from '../common/random.js';
import type { Mapping, MappingBook } from './world.js';

/** What changes in the world, in percent of the changes. */
const shares = {
  'channels-updated': 46,
  'location-updated': 20,
  'mapping-moved': 11,
  'hotels-merged': 4,
  'mapping-deleted': 15,
  'mapping-returned': 4,
} as const;

type ChangeKind = keyof typeof shares;

/** How many mappings to try for a change that needs a fitting one; after that nothing changes. */
const maxAttempts = 50;

/**
 * Makes the changes of a world. Each change depends only on the random numbers and the changes before it.
 *
 * @returns makes the next change, at an instant not before the last one
 */
export function createChange(book: MappingBook, random: () => number): (instant: number) => void {
  const pick = createPick(random);

  function draw(fits: (mapping: Mapping) => boolean): Mapping | undefined {
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const mapping = pick(book.all);
      if (fits(mapping)) return mapping;
    }
    return undefined;
  }

  /** A mapping that a provider's hotel moved away from stays deleted, unless the hotel moves back. */
  function canReturn(mapping: Mapping): boolean {
    return mapping.isDeleted && book.find(mapping.providerName, mapping.providerHotelId) === mapping;
  }

  /** A provider's hotel becomes another hotel, or everything that is sold as one hotel is sold as another. */
  function move(changedAt: number, listMoved: (from: Mapping) => readonly Mapping[]): void {
    const to = draw(isActive);
    const from = to && draw((mapping) => isActive(mapping) && mapping.serviceId !== to.serviceId);
    if (from) for (const mapping of listMoved(from)) book.move(mapping, to.serviceId, changedAt);
  }

  return (changedAt) => {
    const kind = drawKind(random);
    switch (kind) {
      case 'mapping-moved':
        return move(changedAt, (from) => [from]);
      case 'hotels-merged':
        return move(changedAt, ({ serviceId }) => book.ofHotel(serviceId).filter(isActive));
      default: {
        const mapping = draw(kind === 'mapping-returned' ? canReturn : isActive);
        if (mapping) book.change(mapping, { ...differ(kind, mapping, changedAt), changedAt });
      }
    }
  };
}

function differ(
  kind: Exclude<ChangeKind, 'mapping-moved' | 'hotels-merged'>,
  { channelsEdition, locationEdition }: Mapping,
  changedAt: number,
): Partial<Mapping> {
  switch (kind) {
    case 'channels-updated':
      return { channelsEdition: channelsEdition + 1 };
    case 'location-updated':
      return { locationEdition: locationEdition + 1 };
    case 'mapping-deleted':
      return { isDeleted: true };
    case 'mapping-returned':
      return { isDeleted: false, createdAt: changedAt };
  }
}

function drawKind(random: () => number): ChangeKind {
  let left = random() * 100;
  for (const [kind, share] of Object.entries(shares) as [ChangeKind, number][]) {
    left -= share;
    if (left < 0) return kind;
  }
  return 'channels-updated';
}

function isActive({ isDeleted }: Mapping): boolean {
  return !isDeleted;
}
