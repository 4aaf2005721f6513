/** Mulberry32: the same numbers for the same seed, uniform in [0, 1). For made-up data only. */
export function createSeededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Says which of the things in a row get what only a share of them has, evenly spread: one in each stretch of 1/share
 * of them, at a random place of it. So the count is known to within one, whatever the random numbers are.
 *
 * @param share from 0 to 1
 * @param first the places, counted from 0, between which the first one falls (`to` exclusive)
 */
export function createSprinkling(
  share: number,
  random: () => number,
  first: { readonly from: number; readonly to: number } = { from: 0, to: Number.POSITIVE_INFINITY },
): () => boolean {
  if (share === 0) return () => false;
  const stretch = 1 / share;
  const { from, to } = first;
  let place = 0;
  let hits = 0;
  let next = Math.floor(from + random() * (Math.min(Math.max(stretch, from + 1), to) - from));

  return () => {
    const isHit = place === next;
    place += 1;
    if (isHit) {
      hits += 1;
      next = Math.max(place, Math.floor((hits + random()) * stretch));
    }
    return isHit;
  };
}
