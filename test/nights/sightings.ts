/** Which kinds of things have come about, and which pairs of them one after the other. */
export function createSightings() {
  const kinds = new Map<string, number>();
  const pairs = new Map<string, number>();
  const add = (counts: Map<string, number>, key: string) => counts.set(key, 1 + (counts.get(key) ?? 0));
  const pairsOf = (before: readonly string[], after: readonly string[]) =>
    before.flatMap((one) => after.map((other) => `${one} → ${other}`));
  return {
    kinds,
    pairs,
    note(before: readonly string[], after: readonly string[]): void {
      for (const kind of after) add(kinds, kind);
      for (const pair of pairsOf(before, after)) add(pairs, pair);
    },
    /** How many pairs would come about that are as rare as that. */
    countRare: (before: readonly string[], after: readonly string[], rare = 1) =>
      pairsOf(before, after).filter((pair) => (pairs.get(pair) ?? 0) < rare).length,
  };
}
