/** Numbers in a row, without an object for each: a large world has millions of them. */
export interface NumberColumn {
  readonly length: number;
  push(value: number): void;
  /** @throws RangeError for a place that the column does not have */
  at(place: number): number;
  /** Puts another number in a place that the column has. */
  put(place: number, value: number): void;
}

const firstCapacity = 1_024;

export function createNumberColumn(): NumberColumn {
  let values = new Float64Array(firstCapacity);
  let length = 0;
  return {
    get length() {
      return length;
    },
    push(value) {
      if (length === values.length) {
        const larger = new Float64Array(2 * length);
        larger.set(values);
        values = larger;
      }
      values[length] = value;
      length += 1;
    },
    at(place) {
      const value = place < length ? values[place] : undefined;
      if (value === undefined) throw new RangeError(`expected a place below ${length}, got: ${place}`);
      return value;
    },
    put(place, value) {
      values[place] = value;
    },
  };
}
