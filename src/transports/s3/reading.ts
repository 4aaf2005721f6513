import { setTimeout as wait } from 'node:timers/promises';
import { type ObjectBlock, S3Error } from './bucket.js';

/** An object, or the rest of one, that starts to arrive. */
export interface ArrivingObject {
  readonly body: AsyncIterable<Uint8Array>;
  /** Size of the whole object. */
  readonly size: number;
  readonly etag: string;
  /** The offset in the object at which the body starts. */
  readonly from: number;
  /** Discards the body. */
  readonly drop: () => void;
}

interface ObjectReading {
  /** For messages. */
  readonly what: string;
  /**
   * Requests the object, or the rest of it.
   *
   * @throws S3Error
   */
  readonly get: (rest?: { readonly from: number; readonly etag: string }) => Promise<ArrivingObject>;
  readonly signal?: AbortSignal | undefined;
}

/** Maximum number of consecutive retries without progress. */
const maxTries = 4;
const firstPauseMs = 250;

/**
 * Streams an object. When the connection is lost, or the body ends early, it requests the rest of the same object.
 *
 * @throws S3Error of the first call; `changed`; `unreachable` after the last try
 */
export async function* readObject({ what, get, signal }: ObjectReading): AsyncGenerator<ObjectBlock> {
  const { etag, size, body } = await get();
  let done = 0;
  let arriving: AsyncIterable<Uint8Array> | undefined = body;
  for (let tries = 0; ; ) {
    if (arriving !== undefined) {
      for await (const bytes of untilLost(arriving, signal)) {
        done += bytes.length;
        // Checked at once: nothing says that it ends.
        if (done > size) throw new S3Error('changed', 'TooLong', what, 'more bytes arrived than announced');
        tries = 0;
        yield { bytes, size };
        signal?.throwIfAborted();
      }
    }
    if (done === size) return;
    tries += 1;
    if (tries > maxTries) throw cutOff(what, done, size);
    await wait(firstPauseMs * 2 ** (tries - 1), undefined, { signal }).catch(() => signal?.throwIfAborted());
    arriving = await get({ from: done, etag }).then(
      (rest) => {
        const isSame = rest.etag === etag && rest.size === size;
        if (isSame && rest.from === done) return rest.body;
        rest.drop();
        throw isSame
          ? new S3Error(
              'failed',
              'NoRange',
              what,
              'the server does not support reading from the middle of an object',
            )
          : changed(what);
      },
      (error: unknown) => {
        if (error instanceof S3Error && error.fault === 'unreachable') return undefined;
        throw error instanceof S3Error && error.fault === 'missing' ? changed(what) : error;
      },
    );
  }
}

/** Ends when the connection does; the number of bytes shows whether the object was complete. */
async function* untilLost(
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  const arriving = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await arriving.next().catch(() => undefined);
      signal?.throwIfAborted();
      if (next === undefined || next.done === true) return;
      yield next.value;
    }
  } finally {
    await arriving.return?.();
  }
}

function changed(what: string): S3Error {
  return new S3Error('changed', 'Changed', what, 'the object has changed meanwhile');
}

function cutOff(what: string, done: number, size: number): S3Error {
  const why = `the connection was lost ${maxTries + 1} times after ${done} of ${size} bytes`;
  return new S3Error('unreachable', 'CutOff', what, why, 'passing');
}
