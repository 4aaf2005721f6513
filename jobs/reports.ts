import { once } from 'node:events';
import { print } from '../src/base/foreign-text.js';

export type Reports = ReturnType<typeof createReports>;

/**
 * The JSON that a command prints on standard output with `--json`; without it, nothing is written. Programs expect one closing object,
 * however the command ends.
 */
export function createReports(output: NodeJS.WritableStream, isJson: boolean) {
  let isClosed = false;
  /** Whether an object was started but not finished. */
  let isCutOff = false;

  /** @param more whether another object follows; otherwise this one closes the output */
  function write(report: object, { more = false }: { readonly more?: boolean } = {}): void {
    if (!isJson) return;
    isClosed ||= !more;
    print(output, `${isCutOff ? '\n' : ''}${JSON.stringify(report)}\n`);
    isCutOff = false;
  }

  return {
    isJson,
    write,
    /** Writes one closing object as fast as it is read: the pieces together are its JSON. */
    async writeInPieces(pieces: AsyncIterable<string>, signal: AbortSignal): Promise<void> {
      if (!isJson) return;
      for await (const piece of pieces) {
        signal.throwIfAborted();
        // The reader may close the pipe, as `head` does.
        if (isClosed || !output.writable) return;
        isCutOff = true;
        if (!print(output, piece)) await once(output, 'drain', { signal }).catch(() => undefined);
      }
      signal.throwIfAborted();
      if (isClosed) return;
      print(output, '\n');
      isCutOff = false;
      isClosed = true;
    },
    /** Closes the output with an error, unless it is already closed. */
    fail({ class: name, message }: { readonly class: string; readonly message: string }): void {
      if (!isClosed) write({ error: { class: name, message } });
    },
  };
}

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
