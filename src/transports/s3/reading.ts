import type { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { type ObjectBlock, S3Error } from './bucket.js';

/** An object, or the rest of one, that starts to arrive. */
export interface ArrivingObject {
  readonly body: Readable;
  /** Size of the whole object. */
  readonly size: number;
  readonly etag: string;
  /** The offset in the object at which the body starts. */
  readonly from: number;
}

/** The rest of an object that began to arrive. */
export interface ObjectRest {
  readonly from: number;
  readonly etag: string;
}

/** Maximum number of consecutive retries without progress. */
const maxTries = 4;
const firstPauseMs = 250;

/**
 * Streams an object. When the connection is lost, or the body ends early, it requests the rest of the same object.
 *
 * @param what for messages
 * @param get requests the object, or the rest of it; throws S3Error
 * @throws S3Error of the first call; `changed`; `unreachable` after the last try
 */
export async function* readObject(
  what: string,
  get: (rest?: ObjectRest) => Promise<ArrivingObject>,
  signal?: AbortSignal,
): AsyncGenerator<ObjectBlock> {
  const { etag, size, body } = await get();
  let done = 0;
  let arriving: AsyncIterable<Uint8Array> | Iterable<Uint8Array> = body;
  for (let tries = 0; ; tries += 1) {
    for await (const bytes of untilLost(arriving, signal)) {
      done += bytes.length;
      // Checked at once: nothing says that it ends.
      if (done > size) throw new S3Error('changed', 'TooLong', what, 'more bytes arrived than announced');
      tries = 0;
      yield { bytes, size };
      signal?.throwIfAborted();
    }
    if (done === size) return;
    if (tries === maxTries) {
      const why = `the connection was lost ${maxTries + 1} times after ${done} of ${size} bytes`;
      throw new S3Error('unreachable', 'CutOff', what, why, 'passing');
    }
    await wait(firstPauseMs * 2 ** tries, undefined, { signal }).catch(() => signal?.throwIfAborted());
    arriving = await getRest(what, get, { from: done, etag, size });
  }
}

/** Ends when the connection does; the number of bytes shows whether the object was complete. */
async function* untilLost(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, signal?: AbortSignal) {
  try {
    yield* body;
  } catch {
    signal?.throwIfAborted();
  }
}

/** @returns nothing where the server is unreachable. @throws S3Error when it is no longer the same object */
async function getRest(
  what: string,
  get: (rest: ObjectRest) => Promise<ArrivingObject>,
  { from, etag, size }: ObjectRest & { readonly size: number },
): Promise<AsyncIterable<Uint8Array> | Iterable<Uint8Array>> {
  const changed = () => new S3Error('changed', 'Changed', what, 'the object has changed meanwhile');
  try {
    const rest = await get({ from, etag });
    const isSame = rest.etag === etag && rest.size === size;
    if (isSame && rest.from === from) return rest.body;
    rest.body.destroy();
    if (!isSame) throw changed();
    const why = 'the server does not support reading from the middle of an object';
    throw new S3Error('failed', 'NoRange', what, why);
  } catch (error) {
    if (error instanceof S3Error && error.fault === 'unreachable') return [];
    throw error instanceof S3Error && error.fault === 'missing' ? changed() : error;
  }
}
