/** Small numbers by position, 0 where none was written; 4 bytes each. */
export interface Tally {
  get(position: number): number;
  set(position: number, value: number): void;
}

export function createTally(): Tally {
  let values = new Uint32Array(2 ** 10);
  return {
    get: (position) => values[position] ?? 0,
    set(position, value) {
      if (position >= values.length) {
        const larger = new Uint32Array(2 * (position + 1));
        larger.set(values);
        values = larger;
      }
      values[position] = value;
    },
  };
}
