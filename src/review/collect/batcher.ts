import type { Collect, CollectedBatch } from '../../ledger/collecting.js';
import type { BookingForm } from '../../ledger/step.js';
import { createBufferPool } from '../lines/buffer-pool.js';
import type { DeliveredIndex } from './delivered-lines.js';
import { createLineIndex, type LineIndex } from './line-index.js';
import { copyLineKeys, createLineKeys, type LineKeys, sliceLineKeys } from './line-keys.js';

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
  /** The offset of each line's line feed. */
  readonly ends: Uint32Array;
  readonly keys: LineKeys;
}

/**
 * Groups the lines of one form into batches and detects exact duplicates.
 *
 * Two bookings are the same if all their normalised fields are equal, that is, if their lines are. Lines stay bytes:
 * hashing bytes is four times as fast as hashing strings, and consecutive lines and their keys are copied in one piece.
 */
export function createBatcher(
  form: BookingForm,
  batchSize: number,
  stored: Pick<Collect, 'holds'>,
  memory: LineIndex = createLineIndex(),
) {
  /** Lines that share a hash with a different line: hardly ever any. */
  const collided = new Set<string>();
  /** Full batches that are not stored yet. */
  let whole: WholeBatch[] = [];
  const pool = createBufferPool();
  /** Batches that were handed out and may still be read. */
  let handedOut: Buffer<ArrayBuffer>[] = [];
  /** The current batch: lines already copied, followed by a run of lines of the current block. */
  let lines = Buffer.allocUnsafeSlow(0);
  let length = 0;
  let keys = createLineKeys(0);
  let copied = 0;
  let run: { readonly block: LineBlock; readonly first: number; end: number } | undefined;
  let accepted = 0;
  /** The number of the first batch that is not stored yet. */
  let firstWaiting = 0;

  /** Copies the run, because the block's memory will be reused. */
  function endRun(): void {
    if (!run) return;
    const { block, first, end } = run;
    run = undefined;
    const [start, afterLast] = [startOf(block, first), startOf(block, end)];
    reserve(afterLast - start);
    length += block.bytes.copy(lines, length, start, afterLast);
    if (copied === 0) keys = createLineKeys(batchSize);
    copyLineKeys(sliceLineKeys(block.keys, first, end), keys, copied);
    copied += end - first;
  }

  function reserve(more: number): void {
    if (length + more <= lines.length) return;
    const larger = pool.take(Math.max(batchSize * expectedLineBytes, 2 * (length + more)));
    lines.copy(larger, 0, 0, length);
    pool.giveBack(lines.buffer);
    lines = larger;
  }

  function add(block: LineBlock, index: number): true {
    if (run?.block !== block || run.end !== index) {
      endRun();
      run = { block, first: index, end: index };
    }
    run.end = index + 1;
    accepted += 1;
    if (accepted % batchSize === 0) finishBatch();
    return true;
  }

  function finishBatch(): void {
    endRun();
    const { referenceHashes, hotelHashes, lastDays } = sliceLineKeys(keys, 0, copied);
    whole.push({ lines: lines.subarray(0, length), referenceHashes, stays: { hotelHashes, lastDays } });
    lines = Buffer.allocUnsafeSlow(0);
    length = 0;
    copied = 0;
  }

  async function isHeldAt(position: number, line: Buffer): Promise<boolean> {
    const number = Math.floor(position / batchSize);
    if (number < firstWaiting) return stored.holds(form, number, line);
    endRun();
    const batch = whole[number - firstWaiting] ?? { lines };
    return findLine(batch.lines, position % batchSize).equals(line);
  }

  async function takeCandidate(earlier: number, block: LineBlock, index: number): Promise<boolean> {
    const line = block.bytes.subarray(startOf(block, index), block.ends[index]);
    if (await isHeldAt(earlier, line)) return false;
    const text = line.toString();
    if (collided.has(text)) return false;
    collided.add(text);
    return add(block, index);
  }

  function takeUnknown(block: LineBlock, index: number): boolean | Promise<boolean> {
    const earlier = memory.findOrRemember(
      block.view,
      startOf(block, index),
      block.ends[index] ?? 0,
      accepted,
    );
    return earlier === undefined ? add(block, index) : takeCandidate(earlier, block, index);
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
     * Takes a line of a block. Returns false for a duplicate or an already delivered booking. Only candidates for these
     * need a promise.
     */
    take(block: LineBlock, index: number, known?: Pick<DeliveredIndex, 'has'>): boolean | Promise<boolean> {
      const isKnown = known?.has(form, block.view, startOf(block, index), block.ends[index] ?? 0) ?? false;
      if (isKnown === true) return false;
      if (isKnown === false) return takeUnknown(block, index);
      return isKnown.then((is) => !is && takeUnknown(block, index));
    },
    /** The position of an accepted line with the same hash. */
    find: memory.find,
    /** Copies what it still needs of the current block. */
    releaseBlock: endRun,
    /** Hands out the full batches; at the end also the last one, which may be short. */
    takeBatches({ isLast }: { readonly isLast: boolean }): CollectedBatch[] {
      if (isLast && (run || copied > 0)) finishBatch();
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

type WholeBatch = Pick<CollectedBatch, 'referenceHashes' | 'stays'> & { readonly lines: Buffer<ArrayBuffer> };

/** Where a line begins; of the line after the last one, where the block ends. */
function startOf({ ends }: Pick<LineBlock, 'ends'>, index: number): number {
  return index === 0 ? 0 : (ends[index - 1] ?? 0) + 1;
}

/** Walks to the line with that index. Candidates are few. */
function findLine(lines: Buffer, index: number): Buffer {
  let start = 0;
  for (let passed = 0; passed < index; passed += 1) start = lines.indexOf(lineFeed, start) + 1;
  return lines.subarray(start, lines.indexOf(lineFeed, start));
}
