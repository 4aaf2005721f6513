/** Mulberry32: the same numbers in [0, 1) for the same seed. For made-up data only. */
export function createSeededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Picks items of a list with equal probability. */
export function createPick(random: () => number) {
  return <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
}

/**
 * Selects a share of a sequence, evenly spread: one item in each stretch of 1/share, at a random place within it. So the
 * number selected is known to within one, whatever the random numbers are.
 *
 * @param share from 0 to 1
 * @param first the places, counted from 0, between which the first selected item falls (`to` exclusive)
 * @returns whether the next item of the sequence is selected
 */
export function createEvenSelector(
  share: number,
  random: () => number,
  first: { readonly from: number; readonly to: number } = { from: 0, to: Number.POSITIVE_INFINITY },
): () => boolean {
  if (share === 0) return () => false;
  const stretch = 1 / share;
  const { from, to } = first;
  let place = 0;
  let selected = 0;
  let next = Math.floor(from + random() * (Math.min(Math.max(stretch, from + 1), to) - from));

  return () => {
    const isSelected = place === next;
    place += 1;
    if (isSelected) {
      selected += 1;
      next = Math.max(place, Math.floor((selected + random()) * stretch));
    }
    return isSelected;
  };
}
