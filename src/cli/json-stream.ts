/** Records to be written as a JSON array, chunk by chunk. */
export type RecordChunks = () => AsyncIterable<readonly object[]>;

/**
 * The JSON of an object, some of whose members are lists too long to be held: a million bookings are more than one string can
 * carry. Each piece holds one chunk.
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
