import { setTimeout as wait } from 'node:timers/promises';
import { type ObjectBlock, S3Error } from './bucket.js';

/** An object, or what of it lies behind a place, as it begins to arrive. */
export interface ArrivingObject {
  readonly body: AsyncIterable<Uint8Array>;
  /** Of the whole object. */
  readonly size: number;
  readonly etag: string;
  /** Where in the object the body begins. */
  readonly from: number;
  /** Ends it, where nobody reads the body. */
  readonly drop: () => void;
}

export interface ObjectReading {
  /** For messages. */
  readonly place: string;
  /**
   * Asks for the object, or for the rest of one that has begun.
   *
   * @throws S3Error
   */
  readonly get: (rest?: { readonly from: number; readonly etag: string }) => Promise<ArrivingObject>;
  readonly signal?: AbortSignal | undefined;
}

/** How often it is asked again without a byte having come. */
const mostTries = 4;
const firstPauseMs = 250;

/**
 * Streams an object. When the connection is lost, or the body ends early, the rest is asked for, of the very same object.
 *
 * @throws S3Error that of the first call; `changed`; `unreachable` after the last try
 */
export async function* readObject({ place, get, signal }: ObjectReading): AsyncGenerator<ObjectBlock> {
  const { etag, size, body } = await get();
  let done = 0;
  let arriving: AsyncIterable<Uint8Array> | undefined = body;
  for (let tries = 0; ; ) {
    if (arriving !== undefined) {
      for await (const bytes of untilLost(arriving, signal)) {
        done += bytes.length;
        tries = 0;
        yield { bytes, size };
        signal?.throwIfAborted();
      }
    }
    if (done === size) return;
    if (done > size) throw new S3Error('changed', 'TooLong', place, 'more came than was told');
    tries += 1;
    if (tries > mostTries) throw cutOff(place, done, size);
    await wait(firstPauseMs * 2 ** (tries - 1), undefined, { signal }).catch(() => signal?.throwIfAborted());
    arriving = await get({ from: done, etag }).then(
      (rest) => {
        const isSame = rest.etag === etag && rest.size === size;
        if (isSame && rest.from === done) return rest.body;
        rest.drop();
        throw isSame
          ? new S3Error('failed', 'NoRange', place, "the server can't go on in mid-object")
          : changed(place);
      },
      (error: unknown) => {
        if (error instanceof S3Error && error.fault === 'unreachable') return undefined;
        throw error instanceof S3Error && error.fault === 'missing' ? changed(place) : error;
      },
    );
  }
}

/** Ends where the connection does: the bytes tell whether that was the end of the object. */
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

function changed(place: string): S3Error {
  return new S3Error('changed', 'Changed', place, 'the object has changed meanwhile');
}

function cutOff(place: string, done: number, size: number): S3Error {
  const come = `the connection was lost ${mostTries + 1} times after ${done} of ${size} bytes`;
  return new S3Error('unreachable', 'CutOff', place, come);
}
