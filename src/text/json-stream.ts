/** Records to be written as a JSON array, chunk by chunk. */
export type RecordChunks = () => AsyncIterable<readonly object[]>;

/**
 * The JSON of an object with members that are lists too long for memory: a million bookings exceed the longest string. Each
 * piece holds one chunk.
 */
export async function* renderLargeObject(
  members: Readonly<Record<string, unknown>>,
): AsyncGenerator<string, void, undefined> {
  let before = '{';
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    before = ',';
    if (typeof value === 'function') yield* renderArray((value as RecordChunks)());
    else yield JSON.stringify(value);
  }
  yield before === '{' ? '{}' : '}';
}

async function* renderArray(chunks: AsyncIterable<readonly object[]>): AsyncGenerator<string> {
  let before = '[';
  for await (const records of chunks) {
    if (records.length === 0) continue;
    yield before + records.map((record) => JSON.stringify(record)).join(',');
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}
