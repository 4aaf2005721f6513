import type { Collect, CollectedBatch } from '../collected.js';
import { createBufferPool } from '../lines/buffer-pool.js';
import type { BookingForm } from '../step.js';
import type { DeliveredIndex } from './delivered-lines.js';
import { createLineIndex, type LineIndex } from './line-index.js';

const lineFeed = 0x0a;
/** Room for a line that a batch begins with. */
const expectedLineBytes = 120;

/** Rendered lines, each ended by a line feed. Nobody writes to this memory before `releaseBlock` was called. */
export interface LineBlock {
  readonly bytes: Buffer;
  /** The same bytes. */
  readonly view: DataView;
}

/**
 * Gathers the lines of one form into batches and tells exact duplicates.
 *
 * Two bookings are one when all of their normalised fields are equal, which is when their lines are. Lines stay bytes:
 * they are hashed four times as fast as a string, and what follows on one another is copied at once.
 */
export function createBatcher(
  form: BookingForm,
  batchSize: number,
  stored: Pick<Collect, 'holds'>,
  memory: Pick<LineIndex, 'findOrRemember'> = createLineIndex(),
) {
  /** Lines whose hash was taken by a different one: next to never. */
  const collided = new Set<string>();
  /** Batches that are full and that the ledger does not hold yet. */
  let whole: { readonly lines: Buffer<ArrayBuffer>; readonly referenceHashes: readonly number[] }[] = [];
  const pool = createBufferPool();
  /** What was handed out and may be read still. */
  let handedOut: Buffer<ArrayBuffer>[] = [];
  /** The batch at hand: lines that were copied, and behind them a run of a block that is being taken. */
  let lines = Buffer.allocUnsafeSlow(0);
  let length = 0;
  let run: { readonly block: LineBlock; readonly start: number; end: number } | undefined;
  let referenceHashes: number[] = [];
  let accepted = 0;
  /** The number of the first batch that the ledger does not hold. */
  let firstWaiting = 0;

  /** Copies it, for the block's memory will be used again. */
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

  function add(block: LineBlock, start: number, end: number, referenceHash: number): true {
    if (run?.block !== block || run.end !== start) {
      endRun();
      run = { block, start, end: start };
    }
    run.end = end + 1;
    referenceHashes.push(referenceHash);
    accepted += 1;
    if (referenceHashes.length === batchSize) finishBatch();
    return true;
  }

  function finishBatch(): void {
    endRun();
    whole.push({ lines: lines.subarray(0, length), referenceHashes });
    lines = Buffer.allocUnsafeSlow(0);
    length = 0;
    referenceHashes = [];
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
    referenceHash: number,
  ): Promise<boolean> {
    const line = block.bytes.subarray(start, end);
    if (await isHeldAt(earlier, line)) return false;
    const text = line.toString();
    if (collided.has(text)) return false;
    collided.add(text);
    return add(block, start, end, referenceHash);
  }

  function takeUnknown(
    block: LineBlock,
    start: number,
    end: number,
    referenceHash: number,
  ): boolean | Promise<boolean> {
    const earlier = memory.findOrRemember(block.view, start, end, accepted);
    return earlier === undefined
      ? add(block, start, end, referenceHash)
      : takeCandidate(earlier, block, start, end, referenceHash);
  }

  return {
    get accepted(): number {
      return accepted;
    },
    /** Bookings in whole batches, ready to be stored. */
    get ready(): number {
      return whole.length * batchSize;
    },
    /**
     * Takes the line of a block that stands from `start` up to its line feed at `end`; false for a duplicate, or for one
     * that is known. Answers at once for all but candidates of these.
     */
    take(
      block: LineBlock,
      start: number,
      end: number,
      referenceHash: number,
      known?: Pick<DeliveredIndex, 'has'>,
    ): boolean | Promise<boolean> {
      const isKnown = known?.has(block.view, start, end) ?? false;
      if (isKnown === true) return false;
      if (isKnown === false) return takeUnknown(block, start, end, referenceHash);
      return isKnown.then((is) => !is && takeUnknown(block, start, end, referenceHash));
    },
    /** Takes what it needs of the block at hand into memory of its own. */
    releaseBlock: endRun,
    /** Hands out the whole batches; at the end also the last one, which may be short. */
    takeBatches({ isLast }: { readonly isLast: boolean }): CollectedBatch[] {
      if (isLast && referenceHashes.length > 0) finishBatch();
      const taken: CollectedBatch[] = [];
      for (const batch of whole) {
        taken.push({
          form,
          number: firstWaiting + taken.length,
          lines: batch.lines,
          referenceHashes: batch.referenceHashes,
        });
      }
      firstWaiting += taken.length;
      handedOut = whole.map((batch) => batch.lines);
      whole = [];
      return taken;
    },
    /** The ledger holds the batches that were handed out last: their memory is used again. */
    reuse(): void {
      for (const { buffer } of handedOut) pool.giveBack(buffer);
      handedOut = [];
    },
  };
}

/** The line that stands behind so many others, found by walking: candidates are few. */
function findLine(lines: Buffer, index: number): Buffer {
  let start = 0;
  for (let passed = 0; passed < index; passed += 1) start = lines.indexOf(lineFeed, start) + 1;
  return lines.subarray(start, lines.indexOf(lineFeed, start));
}
