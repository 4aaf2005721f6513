import type { BookingKeys } from '../../booking/booking-keys.js';
import type { Collect, CollectedBatch } from '../collected.js';
import { createBufferPool } from '../lines/buffer-pool.js';
import type { BookingForm } from '../step.js';
import type { DeliveredIndex } from './delivered-lines.js';
import { createLineIndex, type LineIndex } from './line-index.js';

const lineFeed = 0x0a;
/** Initial capacity per line of a batch. */
const expectedLineBytes = 120;

/**
 * Rendered lines, each ended by a line feed. The memory must not be overwritten before `releaseBlock` was called.
 */
export interface LineBlock {
  readonly bytes: Buffer;
  /** The same bytes, for hashing. */
  readonly view: DataView;
}

/**
 * Groups the lines of one form into batches and detects exact duplicates.
 *
 * Two bookings are the same if all their normalised fields are equal, that is, if their lines are. Lines stay bytes:
 * hashing bytes is four times as fast as hashing strings, and consecutive lines are copied in one piece.
 */
export function createBatcher(
  form: BookingForm,
  batchSize: number,
  stored: Pick<Collect, 'holds'>,
  memory: Pick<LineIndex, 'findOrRemember'> = createLineIndex(),
) {
  /** Lines that share a hash with a different line: hardly ever any. */
  const collided = new Set<string>();
  /** Full batches that are not stored yet. */
  let whole: (Pick<CollectedBatch, 'referenceHashes' | 'stays'> & { readonly lines: Buffer<ArrayBuffer> })[] =
    [];
  const pool = createBufferPool();
  /** Batches that were handed out and may still be read. */
  let handedOut: Buffer<ArrayBuffer>[] = [];
  /** The current batch: lines already copied, followed by a run of lines of the current block. */
  let lines = Buffer.allocUnsafeSlow(0);
  let length = 0;
  let run: { readonly block: LineBlock; readonly start: number; end: number } | undefined;
  let referenceHashes: number[] = [];
  let stays = noStays();
  let accepted = 0;
  /** The number of the first batch that is not stored yet. */
  let firstWaiting = 0;

  /** Copies the run, because the block's memory will be reused. */
  function endRun(): void {
    if (!run) return;
    const { block, start, end } = run;
    run = undefined;
    reserve(end - start);
    length += block.bytes.copy(lines, length, start, end);
  }

  function reserve(more: number): void {
    if (length + more <= lines.length) return;
    const larger = pool.take(Math.max(batchSize * expectedLineBytes, 2 * (length + more)));
    lines.copy(larger, 0, 0, length);
    pool.giveBack(lines.buffer);
    lines = larger;
  }

  function add(block: LineBlock, start: number, end: number, keys: BookingKeys): true {
    if (run?.block !== block || run.end !== start) {
      endRun();
      run = { block, start, end: start };
    }
    run.end = end + 1;
    referenceHashes.push(keys.referenceHash);
    stays.hotelHashes.push(keys.hotelHash);
    stays.checkIns.push(keys.checkIn);
    accepted += 1;
    if (referenceHashes.length === batchSize) finishBatch();
    return true;
  }

  function finishBatch(): void {
    endRun();
    whole.push({ lines: lines.subarray(0, length), referenceHashes, stays });
    lines = Buffer.allocUnsafeSlow(0);
    length = 0;
    referenceHashes = [];
    stays = noStays();
  }

  async function isHeldAt(position: number, line: Buffer): Promise<boolean> {
    const number = Math.floor(position / batchSize);
    if (number < firstWaiting) return stored.holds(form, number, line.toString());
    endRun();
    const batch = whole[number - firstWaiting] ?? { lines };
    return findLine(batch.lines, position % batchSize).equals(line);
  }

  async function takeCandidate(
    earlier: number,
    block: LineBlock,
    start: number,
    end: number,
    keys: BookingKeys,
  ): Promise<boolean> {
    const line = block.bytes.subarray(start, end);
    if (await isHeldAt(earlier, line)) return false;
    const text = line.toString();
    if (collided.has(text)) return false;
    collided.add(text);
    return add(block, start, end, keys);
  }

  function takeUnknown(
    block: LineBlock,
    start: number,
    end: number,
    keys: BookingKeys,
  ): boolean | Promise<boolean> {
    const earlier = memory.findOrRemember(block.view, start, end, accepted);
    return earlier === undefined
      ? add(block, start, end, keys)
      : takeCandidate(earlier, block, start, end, keys);
  }

  return {
    get accepted(): number {
      return accepted;
    },
    /** The number of bookings in full batches, ready to be stored. */
    get ready(): number {
      return whole.length * batchSize;
    },
    /**
     * Takes the line of a block from `start` to its line feed at `end`. Returns false for a duplicate or an already
     * delivered booking. Only candidates for these need a promise.
     */
    take(
      block: LineBlock,
      start: number,
      end: number,
      keys: BookingKeys,
      known?: Pick<DeliveredIndex, 'has'>,
    ): boolean | Promise<boolean> {
      const isKnown = known?.has(form, block.view, start, end) ?? false;
      if (isKnown === true) return false;
      if (isKnown === false) return takeUnknown(block, start, end, keys);
      return isKnown.then((is) => !is && takeUnknown(block, start, end, keys));
    },
    /** Copies what it still needs of the current block. */
    releaseBlock: endRun,
    /** Hands out the full batches; at the end also the last one, which may be short. */
    takeBatches({ isLast }: { readonly isLast: boolean }): CollectedBatch[] {
      if (isLast && referenceHashes.length > 0) finishBatch();
      const taken: CollectedBatch[] = [];
      for (const batch of whole) {
        taken.push({ form, number: firstWaiting + taken.length, ...batch });
      }
      firstWaiting += taken.length;
      handedOut = whole.map((batch) => batch.lines);
      whole = [];
      return taken;
    },
    /** The batches handed out last are stored: their memory can be reused. */
    reuse(): void {
      for (const { buffer } of handedOut) pool.giveBack(buffer);
      handedOut = [];
    },
  };
}

function noStays() {
  return { hotelHashes: [] as number[], checkIns: [] as number[] };
}

/** Walks to the line with that index. Candidates are few. */
function findLine(lines: Buffer, index: number): Buffer {
  let start = 0;
  for (let passed = 0; passed < index; passed += 1) start = lines.indexOf(lineFeed, start) + 1;
  return lines.subarray(start, lines.indexOf(lineFeed, start));
}
