/** Records to be written as a JSON array, chunk by chunk. */
export type RecordChunks = () => AsyncIterable<readonly object[]>;

/**
 * The JSON of an object with members that are lists too long for memory: a million bookings exceed the longest string. Each
 * piece holds one chunk.
 *
 * @param indent as for `JSON.stringify`
 */
export async function* renderLargeObject(
  members: Readonly<Record<string, unknown>>,
  indent = 0,
): AsyncGenerator<string, void, undefined> {
  let before = '{';
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined) continue;
    yield `${before}${startOfLine(1, indent)}${JSON.stringify(name)}:${indent > 0 ? ' ' : ''}`;
    before = ',';
    if (typeof value === 'function') yield* renderArray((value as RecordChunks)(), indent);
    else yield renderAt(1, value, indent);
  }
  yield before === '{' ? '{}' : `${startOfLine(0, indent)}}`;
}

async function* renderArray(
  chunks: AsyncIterable<readonly object[]>,
  indent: number,
): AsyncGenerator<string> {
  let before = '[';
  for await (const records of chunks) {
    if (records.length === 0) continue;
    yield before + records.map((record) => startOfLine(2, indent) + renderAt(2, record, indent)).join(',');
    before = ',';
  }
  yield before === '[' ? '[]' : `${startOfLine(1, indent)}]`;
}

function startOfLine(level: number, indent: number): string {
  return indent === 0 ? '' : `\n${' '.repeat(level * indent)}`;
}

function renderAt(level: number, value: unknown, indent: number): string {
  const rendered = JSON.stringify(value, null, indent);
  return indent === 0 ? rendered : rendered.replaceAll('\n', startOfLine(level, indent));
}
