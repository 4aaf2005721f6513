import type { Collect, CollectedBatch } from '../ledger/ledger.js';
import type { KnownLines } from './known-lines.js';
import { createLineMemory, type LineMemory } from './line-memory.js';
import type { BookingForm } from './step.js';

/** Rendered lines, each ended by a line feed, in memory that nobody writes to any more. */
export interface LineBlock {
  readonly bytes: Buffer;
  /** The same bytes. */
  readonly view: DataView;
}

interface WholeBatch {
  /** The lines, each ended by a line feed. */
  readonly lines: Buffer;
  /** Where each line's line feed stands. */
  readonly ends: readonly number[];
  readonly references: readonly (string | undefined)[];
}

/**
 * Gathers the lines of one form into batches and tells exact duplicates.
 *
 * Two bookings are one when all of their normalised fields are equal, which is when their lines are. Lines stay bytes:
 * they are hashed four times as fast as a string, and what follows on one another is copied at once.
 */
export function createBatching(
  form: BookingForm,
  batchSize: number,
  stored: Pick<Collect, 'holds'>,
  memory: Pick<LineMemory, 'findOrRemember'> = createLineMemory(),
) {
  /** Lines whose hash was taken by a different one: with 64 bits, next to never. */
  const collided = new Set<string>();
  /** Batches that are full and that the ledger does not hold yet. */
  let whole: WholeBatch[] = [];
  /** The lines of the batch at hand, in their order: pieces, and behind them a run of a block that is being taken. */
  let pieces: Buffer[] = [];
  let run: { readonly block: LineBlock; readonly start: number; end: number } | undefined;
  let ends: number[] = [];
  let references: (string | undefined)[] = [];
  let accepted = 0;
  /** The number of the first batch that the ledger does not hold. */
  let firstWaiting = 0;

  function endRun(): void {
    if (run) pieces.push(run.block.bytes.subarray(run.start, run.end));
    run = undefined;
  }

  function add(block: LineBlock, start: number, end: number, reference: string | undefined): true {
    if (run?.block !== block || run.end !== start) {
      endRun();
      run = { block, start, end: start };
    }
    run.end = end + 1;
    ends.push(startOf(ends.length, ends) + end - start);
    references.push(reference);
    accepted += 1;
    if (ends.length === batchSize) finishBatch();
    return true;
  }

  function finishBatch(): void {
    endRun();
    whole.push({ lines: Buffer.concat(pieces), ends, references });
    pieces = [];
    ends = [];
    references = [];
  }

  async function isHeldAt(position: number, line: Buffer): Promise<boolean> {
    const number = Math.floor(position / batchSize);
    if (number < firstWaiting) return stored.holds(form, number, line.toString());
    const index = position % batchSize;
    const batch = whole[number - firstWaiting] ?? { lines: joinLines(), ends };
    return batch.lines.subarray(startOf(index, batch.ends), batch.ends[index]).equals(line);
  }

  /** Of the batch at hand. */
  function joinLines(): Buffer {
    endRun();
    const lines = Buffer.concat(pieces);
    pieces = [lines];
    return lines;
  }

  async function takeCandidate(
    earlier: number,
    block: LineBlock,
    start: number,
    end: number,
    reference: string | undefined,
  ): Promise<boolean> {
    const line = block.bytes.subarray(start, end);
    if (await isHeldAt(earlier, line)) return false;
    const text = line.toString();
    if (collided.has(text)) return false;
    collided.add(text);
    return add(block, start, end, reference);
  }

  function takeUnknown(
    block: LineBlock,
    start: number,
    end: number,
    reference: string | undefined,
  ): boolean | Promise<boolean> {
    const earlier = memory.findOrRemember(block.view, start, end, accepted);
    return earlier === undefined
      ? add(block, start, end, reference)
      : takeCandidate(earlier, block, start, end, reference);
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
      reference: string | undefined,
      known?: Pick<KnownLines, 'has'>,
    ): boolean | Promise<boolean> {
      const isKnown = known?.has(block.view, start, end) ?? false;
      if (isKnown === true) return false;
      if (isKnown === false) return takeUnknown(block, start, end, reference);
      return isKnown.then((is) => !is && takeUnknown(block, start, end, reference));
    },
    /** Hands out the whole batches; at the end also the last one, which may be short. */
    takeBatches({ isLast }: { readonly isLast: boolean }): CollectedBatch[] {
      if (isLast && ends.length > 0) finishBatch();
      const taken: CollectedBatch[] = [];
      for (const batch of whole) {
        taken.push({
          form,
          number: firstWaiting + taken.length,
          lines: batch.lines,
          references: batch.references,
        });
      }
      firstWaiting += taken.length;
      whole = [];
      return taken;
    },
  };
}

/** Where a line begins that follows on so many others. */
function startOf(index: number, ends: readonly number[]): number {
  return index === 0 ? 0 : (ends[index - 1] ?? 0) + 1;
}
