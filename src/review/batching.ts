import type { Collect, CollectedBatch } from '../ledger/ledger.js';
import type { KnownLines } from './known-lines.js';
import { createLineBuffer } from './line-buffer.js';
import { createLineMemory, type LineMemory } from './line-memory.js';
import type { LineWriter } from './line-writer.js';
import type { BookingForm } from './step.js';

const lineFeed = Buffer.from('\n');
/** Room for a line that a batch begins with. */
const expectedLineBytes = 256;

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
 * Two bookings are one when all of their normalised fields are equal, which is when their lines are. A line is rendered
 * where its batch will have it, as bytes: they are hashed four times as fast as a string, and a million strings need
 * not be kept.
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
  /** The lines of the batch at hand and, behind them, one that is not taken yet. */
  const lines = createLineBuffer(batchSize * expectedLineBytes);
  let ends: number[] = [];
  let references: (string | undefined)[] = [];
  let accepted = 0;
  /** The number of the first batch that the ledger does not hold. */
  let firstWaiting = 0;

  function begin(): LineWriter {
    // Where the last line was not taken, or broke off in the middle, it is overwritten.
    lines.cutBack(startOf(ends.length, ends));
    return lines;
  }

  function take(reference: string | undefined): true {
    ends.push(lines.length);
    lines.constant(lineFeed);
    references.push(reference);
    accepted += 1;
    if (ends.length === batchSize) finishBatch();
    return true;
  }

  function finishBatch(): void {
    whole.push({ lines: lines.handOver(), ends, references });
    ends = [];
    references = [];
  }

  async function isHeldAt(position: number, line: Buffer): Promise<boolean> {
    const number = Math.floor(position / batchSize);
    if (number < firstWaiting) return stored.holds(form, number, line.toString());
    const index = position % batchSize;
    const batch = whole[number - firstWaiting];
    const found =
      batch === undefined
        ? lines.slice(startOf(index, ends), ends[index] ?? 0)
        : batch.lines.subarray(startOf(index, batch.ends), batch.ends[index]);
    return found.equals(line);
  }

  async function endCandidate(
    earlier: number,
    line: Buffer,
    reference: string | undefined,
  ): Promise<boolean> {
    if (await isHeldAt(earlier, line)) return false;
    const text = line.toString();
    if (collided.has(text)) return false;
    collided.add(text);
    begin().constant(line);
    return take(reference);
  }

  function endNew(reference: string | undefined): boolean | Promise<boolean> {
    const start = startOf(ends.length, ends);
    const earlier = memory.findOrRemember(lines.view, start, lines.length, accepted);
    if (earlier === undefined) return take(reference);
    // A copy: whoever begins the next line overwrites this one.
    return endCandidate(earlier, Buffer.from(lines.slice(start, lines.length)), reference);
  }

  async function endUnlessKnown(
    isKnown: Promise<boolean>,
    line: Buffer,
    reference: string | undefined,
  ): Promise<boolean> {
    if (await isKnown) return false;
    begin().constant(line);
    return endNew(reference);
  }

  return {
    get accepted(): number {
      return accepted;
    },
    /** Bookings in whole batches, ready to be stored. */
    get ready(): number {
      return whole.length * batchSize;
    },
    /** Where the next line is to be rendered, without a line end; `end` then takes it. */
    begin,
    /**
     * True when the line that was begun last was taken, false for a duplicate, or for one that is known. Answers at
     * once for all but candidates of these.
     */
    end(reference: string | undefined, known?: Pick<KnownLines, 'has'>): boolean | Promise<boolean> {
      const start = startOf(ends.length, ends);
      const isKnown = known?.has(lines.view, start, lines.length) ?? false;
      if (isKnown === true) return false;
      if (isKnown === false) return endNew(reference);
      return endUnlessKnown(isKnown, Buffer.from(lines.slice(start, lines.length)), reference);
    },
    /** Hands out the whole batches; at the end also the last one, which may be short. */
    takeBatches({ isLast }: { readonly isLast: boolean }): CollectedBatch[] {
      begin();
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
