import type { Collect, CollectedBatch } from '../../ledger/collecting.js';
import type { BookingForm } from '../../ledger/step.js';
import { createLineBuffer } from '../line-buffer.js';
import type { DeliveredIndex } from './delivered-lines.js';
import { createLineIndex, type LineIndex } from './line-index.js';
import { copyLineKeys, createLineKeys, type LineKeys, sliceLineKeys } from './line-keys.js';

const lineFeed = 0x0a;
/** Initial capacity per line of a batch. */
const expectedLineBytes = 120;

/** Rendered lines, each ended by a line feed. */
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
 * hashing bytes is four times as fast as hashing strings.
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
  /** The current batch. */
  const lines = createLineBuffer(batchSize * expectedLineBytes);
  let keys = createLineKeys(batchSize);
  let accepted = 0;
  /** The number of the first batch that is not stored yet. */
  let firstWaiting = 0;

  function add(block: LineBlock, index: number): true {
    lines.constant(block.bytes.subarray(startOf(block, index), (block.ends[index] ?? 0) + 1));
    copyLineKeys(block.keys, index, keys, accepted % batchSize);
    accepted += 1;
    if (accepted % batchSize === 0) finishBatch();
    return true;
  }

  function finishBatch(): void {
    const bookings = accepted - batchSize * (firstWaiting + whole.length);
    const { referenceHashes, hotelHashes, lastDays } = sliceLineKeys(keys, 0, bookings);
    whole.push({ lines: lines.handOver(), referenceHashes, stays: { hotelHashes, lastDays } });
    keys = createLineKeys(batchSize);
  }

  async function isHeldAt(position: number, line: Buffer): Promise<boolean> {
    const number = Math.floor(position / batchSize);
    if (number < firstWaiting) return stored.holds(form, number, line);
    const batch = whole[number - firstWaiting]?.lines ?? lines.written();
    return findLine(batch, position % batchSize).equals(line);
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
    /** Hands out the full batches; at the end also the last one, which may be short. */
    takeBatches({ isLast }: { readonly isLast: boolean }): CollectedBatch[] {
      if (isLast && lines.length > 0) finishBatch();
      const taken = whole.map((batch, index) => ({ form, number: firstWaiting + index, ...batch }));
      firstWaiting += whole.length;
      whole = [];
      return taken;
    },
  };
}

type WholeBatch = Pick<CollectedBatch, 'referenceHashes' | 'stays' | 'lines'>;

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
