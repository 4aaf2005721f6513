import { on } from 'node:events';
import type { MessagePort, Worker } from 'node:worker_threads';
import type { BusinessDay } from '../booking/business-day.js';
import type { DayReader, RenderedChunk } from '../review/collect/day-reader.js';
import type { BufferPool } from '../review/lines/buffer-pool.js';
import type { DeliveryKind } from '../review/run.js';
import { type BookingSource, SourceError, type SourceFault } from '../review/source.js';

/** Chunks in flight: enough to keep both threads busy, few enough to hold. */
const chunksAhead = 4;
/** Smaller sources are read faster than a thread starts. */
const leastBytes = 4 * 1024 * 1024;

type Message =
  | { readonly kind: 'chunk'; readonly chunk: RenderedChunk }
  | { readonly kind: 'end' }
  | { readonly kind: 'failed'; readonly error: PlainError };

/** An error loses its class on the way to another thread. */
interface PlainError {
  readonly message: string;
  readonly stack: string | undefined;
  readonly sourceFault: SourceFault | undefined;
}

export interface ThreadedReaderParts {
  /** Reads sources that are too small for a thread. */
  readonly reader: DayReader;
  readonly measure: BookingSource['measure'];
  /** Starts a thread that calls `sendChunks` for that day. */
  readonly startThread: (day: BusinessDay, kind: DeliveryKind) => Worker;
}

/**
 * Reads a large day in its own thread. While that thread parses and renders, this one detects duplicates and stores,
 * which saves about two thirds of the time that both take in sequence.
 */
export function createThreadedReader({ reader, measure, startThread }: ThreadedReaderParts): DayReader {
  return {
    ...reader,
    async *read(day, forms, options) {
      const bytes = await measure(day);
      yield* bytes === undefined || bytes < leastBytes
        ? reader.read(day, forms, options)
        : receiveChunks(startThread(day, forms.kind), options.signal);
    },
  };
}

async function* receiveChunks(
  thread: Worker,
  signal: AbortSignal,
): AsyncGenerator<RenderedChunk, void, undefined> {
  try {
    for await (const [message] of on(thread, 'message', { signal, close: ['exit'] })) {
      const received = message as Message;
      switch (received.kind) {
        case 'chunk':
          yield received.chunk;
          giveBack(thread, received.chunk);
          break;
        case 'failed':
          throw toError(received.error);
        case 'end':
          return;
      }
    }
    throw new Error('the reading thread ended before the source did');
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    await thread.terminate();
  }
}

/** Requests another chunk and returns the memory of one that was processed. */
export function giveBack(thread: Pick<MessagePort, 'postMessage'>, { lines }: RenderedChunk): void {
  thread.postMessage(lines.bytes.buffer, [lines.bytes.buffer]);
}

/** The thread's end: sends chunks as they are requested, then reports how reading ended. */
export async function sendChunks(
  chunks: AsyncIterable<RenderedChunk>,
  port: MessagePort,
  pool: Pick<BufferPool, 'giveBack'>,
): Promise<void> {
  let wanted = chunksAhead;
  let onWanted = () => {};
  port.on('message', (memory: ArrayBuffer) => {
    pool.giveBack(memory);
    wanted += 1;
    onWanted();
  });
  const send = (message: Message, moved: ArrayBuffer[] = []) => port.postMessage(message, moved);
  try {
    for await (const chunk of chunks) {
      if (wanted === 0) await new Promise<void>((resolve) => (onWanted = resolve));
      wanted -= 1;
      const { bytes, ...arrays } = chunk.lines;
      const { ends, forms, referenceHashes, providerOf } = arrays;
      const moved = [bytes, ends, forms, referenceHashes, providerOf].map(({ buffer }) => buffer);
      send({ kind: 'chunk', chunk }, moved);
    }
    send({ kind: 'end' });
  } catch (error) {
    send({ kind: 'failed', error: toPlainError(error) });
  }
}

function toPlainError(error: unknown): PlainError {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  return { message, stack, sourceFault: error instanceof SourceError ? error.fault : undefined };
}

function toError({ message, stack, sourceFault }: PlainError): Error {
  const error = sourceFault === undefined ? new Error(message) : new SourceError(sourceFault, message);
  if (stack !== undefined) error.stack = stack;
  return error;
}
