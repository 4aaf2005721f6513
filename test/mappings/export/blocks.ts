import fc from 'fast-check';

/** Cuts bytes into blocks at those places; overwrites the memory of each block after use, as a file reader does. */
export async function* cutIntoBlocks(
  bytes: Uint8Array,
  places: readonly number[],
): AsyncGenerator<Uint8Array> {
  const cuts = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  for (const [index, cut] of cuts.entries()) {
    const block = Uint8Array.from(bytes.subarray(cut, cuts[index + 1] ?? cut));
    yield block;
    block.fill(0);
  }
}

export const anyPlaces = fc.array(fc.nat(), { maxLength: 20 });

const anyCell = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.string({ unit: fc.constantFrom('"', ',', '\n', '\r', 'a', 'é', ' '), maxLength: 8 }),
);

/** CSV records of equal width, none of them blank. */
export const anyRecords = fc
  .integer({ min: 1, max: 4 })
  .chain((width) =>
    fc.array(fc.array(anyCell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 12 }),
  )
  .map((records) =>
    records.map(([first = '', ...others]) => [
      `x${first.replaceAll('\0', '')}`,
      ...others.map((cell) => cell.replaceAll('\0', '')),
    ]),
  );
