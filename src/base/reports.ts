import { once } from 'node:events';
import { print } from './foreign-text.js';

/** The JSON that a command prints on standard output with `--json`. */
export interface Reports {
  readonly isJson: boolean;
  /** @param more whether another object follows; otherwise this one closes the output */
  write(report: object, options?: { readonly more?: boolean }): void;
  /** Writes one closing object as fast as it is read: the pieces together are its JSON. */
  writeInPieces(pieces: AsyncIterable<string>, signal: AbortSignal): Promise<void>;
  /** Closes the output with an error, unless it is already closed. */
  fail(failure: { readonly class: string; readonly message: string }): void;
}

/** Programs expect one closing object, however the command ends. Without `--json` nothing is written. */
export function createReports(output: NodeJS.WritableStream, isJson: boolean): Reports {
  let isClosed = false;
  /** Whether an object was started but not finished. */
  let isCutOff = false;

  function write(report: object, { more = false }: { readonly more?: boolean } = {}): void {
    if (!isJson) return;
    isClosed ||= !more;
    print(output, `${isCutOff ? '\n' : ''}${JSON.stringify(report)}\n`);
    isCutOff = false;
  }

  return {
    isJson,
    write,
    async writeInPieces(pieces, signal) {
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
    fail({ class: name, message }) {
      if (!isClosed) write({ error: { class: name, message } });
    },
  };
}
