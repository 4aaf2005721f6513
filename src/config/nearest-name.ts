/** How many letters two words may differ in and still be taken for one another: a third of them, at least two. */
const allowedDistance = (word: string) => Math.max(2, Math.floor(word.length / 3));

/** The name that was probably meant, or undefined when none is near. Case does not count. */
export function findNearestName(word: string, names: readonly string[]): string | undefined {
  let nearest: { name: string; distance: number } | undefined;
  for (const name of names) {
    const distance = measureDistance(word.toLowerCase(), name.toLowerCase());
    // A name of which no letter is left was not meant.
    if (distance > allowedDistance(name) || distance >= name.length) continue;
    if (nearest === undefined || distance < nearest.distance) nearest = { name, distance };
  }
  return nearest?.name;
}

/** Levenshtein: how many letters must be put in, left out or exchanged. */
function measureDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [done, letter] of [...from].entries()) {
    const next = [done + 1];
    for (const [index, wanted] of [...to].entries()) {
      const exchanged = (row[index] ?? 0) + (letter === wanted ? 0 : 1);
      next.push(Math.min(exchanged, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
