import type { Collect, CollectedBatch } from '../ledger/ledger.js';
import { createLineMemory, type LineMemory } from './line-memory.js';
import type { BookingForm } from './step.js';

interface WaitingBatch {
  readonly lines: string[];
  readonly references: (string | undefined)[];
}

/**
 * Gathers the rendered lines of one form into batches and tells exact duplicates.
 *
 * Two bookings are one when all of their normalised fields are equal, which is when their lines are.
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

  async function isHeldAt(position: number, line: string): Promise<boolean> {
    if (position < firstWaiting) return stored.holds(form, Math.floor(position / batchSize), line);
    const offset = position - firstWaiting;
    return waiting[Math.floor(offset / batchSize)]?.lines[offset % batchSize] === line;
  }

  function take(line: string, reference: string | undefined): void {
    let batch = waiting.at(-1);
    if (!batch || batch.lines.length === batchSize) {
      batch = { lines: [], references: [] };
      waiting.push(batch);
    }
    batch.lines.push(line);
    batch.references.push(reference);
    accepted += 1;
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
      const earlier = memory.findOrRemember(line, accepted);
      if (earlier !== undefined) {
        return isHeldAt(earlier, line).then((isHeld) => {
          if (isHeld || collided.has(line)) return false;
          collided.add(line);
          take(line, reference);
          return true;
        });
      }
      take(line, reference);
      return true;
    },
    /** Hands out the whole batches; at the end also the last one, which may be short. */
    takeBatches({ isLast }: { readonly isLast: boolean }): CollectedBatch[] {
      const count = isLast ? waiting.length : fullBatches();
      const firstNumber = firstWaiting / batchSize;
      const taken = waiting.slice(0, count).map(({ lines, references }, index) => ({
        form,
        number: firstNumber + index,
        lines: Buffer.from(`${lines.join('\n')}\n`),
        references,
      }));
      waiting = waiting.slice(count);
      firstWaiting = Math.min(accepted, firstWaiting + count * batchSize);
      return taken;
    },
  };
}
