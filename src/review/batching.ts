import type { Collect, CollectedBatch } from '../ledger/ledger.js';
import { createLineMemory, type LineMemory } from './line-memory.js';
import type { BookingForm } from './step.js';

const lineFeed = 0x0a;
/** Room for a line that a batch begins with; it grows as it must. */
const expectedLineBytes = 256;
/** A UTF-16 unit takes three bytes at most. */
const bytesPerUnit = 3;

interface WaitingBatch {
  /** The lines, each ended by a line feed, and free room behind them. */
  bytes: Buffer;
  /** Where each line's line feed stands. */
  readonly ends: number[];
  readonly references: (string | undefined)[];
}

/**
 * Gathers the rendered lines of one form into batches and tells exact duplicates.
 *
 * Two bookings are one when all of their normalised fields are equal, which is when their lines are. A line is written
 * down as bytes at once: bytes are hashed four times as fast as a string, and a million strings need not be kept.
 */
export function createBatching(
  form: BookingForm,
  batchSize: number,
  stored: Pick<Collect, 'holds'>,
  memory: LineMemory = createLineMemory(),
) {
  /** Lines whose hash was taken by a different one: with 64 bits, next to never. */
  const collided = new Set<string>();
  /** Batches that the ledger does not hold yet; all but the last are full. */
  let waiting: WaitingBatch[] = [];
  let accepted = 0;
  /** The position of the first line that waits: always the first of a batch. */
  let firstWaiting = 0;

  function batchWithRoomFor(line: string): WaitingBatch {
    let batch = waiting.at(-1);
    if (!batch || batch.ends.length === batchSize) {
      batch = { bytes: Buffer.allocUnsafe(batchSize * expectedLineBytes), ends: [], references: [] };
      waiting.push(batch);
    }
    const needed = endOf(batch) + line.length * bytesPerUnit + 1;
    if (needed > batch.bytes.length) {
      const larger = Buffer.allocUnsafe(2 * needed);
      batch.bytes.copy(larger);
      batch.bytes = larger;
    }
    return batch;
  }

  /** Writes a line behind the last one of its batch, where it stays only once it is taken. */
  function write(batch: WaitingBatch, line: string): number {
    const start = endOf(batch);
    const end = start + batch.bytes.write(line, start);
    batch.bytes[end] = lineFeed;
    return end;
  }

  function take(batch: WaitingBatch, end: number, reference: string | undefined): true {
    batch.ends.push(end);
    batch.references.push(reference);
    accepted += 1;
    return true;
  }

  async function isHeldAt(position: number, line: string): Promise<boolean> {
    if (position < firstWaiting) return stored.holds(form, Math.floor(position / batchSize), line);
    const offset = position - firstWaiting;
    const batch = waiting[Math.floor(offset / batchSize)];
    const index = offset % batchSize;
    const start = index === 0 ? 0 : (batch?.ends[index - 1] ?? 0) + 1;
    return batch?.bytes.subarray(start, batch.ends[index]).equals(Buffer.from(line)) ?? false;
  }

  async function addCandidate(
    earlier: number,
    line: string,
    reference: string | undefined,
  ): Promise<boolean> {
    if ((await isHeldAt(earlier, line)) || collided.has(line)) return false;
    collided.add(line);
    const batch = batchWithRoomFor(line);
    return take(batch, write(batch, line), reference);
  }

  const fullBatches = () => Math.floor((accepted - firstWaiting) / batchSize);

  return {
    get accepted(): number {
      return accepted;
    },
    /** Bookings in whole batches, ready to be stored. */
    get ready(): number {
      return fullBatches() * batchSize;
    },
    /** True when the line was taken, false for a duplicate. Answers at once for all but candidates of a duplicate. */
    add(line: string, reference: string | undefined): boolean | Promise<boolean> {
      const batch = batchWithRoomFor(line);
      const start = endOf(batch);
      const end = write(batch, line);
      const earlier = memory.findOrRemember(batch.bytes, start, end, accepted);
      return earlier === undefined ? take(batch, end, reference) : addCandidate(earlier, line, reference);
    },
    /** Hands out the whole batches; at the end also the last one, which may be short. */
    takeBatches({ isLast }: { readonly isLast: boolean }): CollectedBatch[] {
      const isTaken = ({ ends }: WaitingBatch) => (isLast ? ends.length > 0 : ends.length === batchSize);
      const firstNumber = firstWaiting / batchSize;
      const taken = waiting.filter(isTaken).map((batch, index) => ({
        form,
        number: firstNumber + index,
        lines: batch.bytes.subarray(0, endOf(batch)),
        references: batch.references,
      }));
      waiting = waiting.filter((batch) => !isTaken(batch));
      firstWaiting = Math.min(accepted, firstWaiting + taken.length * batchSize);
      return taken;
    },
  };
}

/** Where the next line begins. */
function endOf({ ends }: WaitingBatch): number {
  const last = ends.at(-1);
  return last === undefined ? 0 : last + 1;
}
