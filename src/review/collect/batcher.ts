import type { BookingKeys } from '../../booking/booking-keys.js';
import type { Collect, CollectedBatch } from '../../ledger/collecting.js';
import type { KeptRow } from '../../ledger/kept-columns.js';
import type { BookingForm } from '../../ledger/step.js';
import { createLineBuffer } from '../line-buffer.js';
import { createLineIndex, type LineIndex } from './line-index.js';

const lineFeed = 0x0a;
/** Initial capacity per line of a batch. */
const expectedLineBytes = 120;

/** Rendered lines, each ended by a line feed. */
export interface LineBlock {
  readonly bytes: Buffer;
  /** The same bytes, for hashing. */
  readonly view: DataView;
  /** The offset of each line's line feed. */
  readonly ends: ArrayLike<number>;
}

/** Where a line begins. */
export function startOf({ ends }: LineBlock, index: number): number {
  return index === 0 ? 0 : (ends[index - 1] ?? 0) + 1;
}

/** The line, without its line feed. */
export function lineOf(block: LineBlock, index: number): Buffer {
  return block.bytes.subarray(startOf(block, index), block.ends[index]);
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
  let columns = createColumns();
  let accepted = 0;
  /** The number of the first batch that is not stored yet. */
  let firstWaiting = 0;

  function add(block: LineBlock, index: number, keys: BookingKeys, row: KeptRow): true {
    lines.constant(block.bytes.subarray(startOf(block, index), (block.ends[index] ?? 0) + 1));
    columns.referenceHashes.push(keys.referenceHash);
    columns.hotelHashes.push(keys.hotelHash);
    columns.lastDays.push(keys.lastDay);
    columns.rows.push(row);
    accepted += 1;
    if (accepted % batchSize === 0) whole.push(finish());
    return true;
  }

  function finish(): WholeBatch {
    const { referenceHashes, hotelHashes, lastDays, rows } = columns;
    columns = createColumns();
    const number = firstWaiting + whole.length;
    const stays = { hotelHashes, lastDays };
    return { form, number, lines: lines.handOver(), referenceHashes, stays, rows };
  }

  async function isHeldAt(position: number, line: Buffer): Promise<boolean> {
    const number = Math.floor(position / batchSize);
    if (number < firstWaiting) return stored.holds(form, number, line);
    const batch = whole[number - firstWaiting]?.lines ?? lines.written();
    return findLine(batch, position % batchSize).equals(line);
  }

  async function isDuplicate(earlier: number, line: Buffer): Promise<boolean> {
    if (await isHeldAt(earlier, line)) return true;
    const text = line.toString();
    if (collided.has(text)) return true;
    collided.add(text);
    return false;
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
     * Takes a line of a block. Returns false for a duplicate. Only candidates for these need a promise.
     *
     * @param row the booking's kept columns
     */
    take(
      block: LineBlock,
      index: number,
      keys: BookingKeys,
      row: KeptRow = null,
    ): boolean | Promise<boolean> {
      const end = block.ends[index] ?? 0;
      const earlier = memory.findOrRemember(block.view, startOf(block, index), end, accepted);
      if (earlier === undefined) return add(block, index, keys, row);
      return isDuplicate(earlier, lineOf(block, index)).then((is) => !is && add(block, index, keys, row));
    },
    /** The position of an accepted line with the same hash. */
    find: (block: LineBlock, index: number): number | undefined =>
      memory.find(block.view, startOf(block, index), block.ends[index] ?? 0),
    /** Hands out the full batches; at the end also the last one, which may be short. */
    takeBatches({ isLast }: { readonly isLast: boolean }): readonly WholeBatch[] {
      if (isLast && lines.length > 0) whole.push(finish());
      const taken = whole;
      firstWaiting += taken.length;
      whole = [];
      return taken;
    },
  };
}

interface WholeBatch extends CollectedBatch {
  /** The kept columns of its bookings. */
  readonly rows: readonly KeptRow[];
}

/** What a batch knows of its lines, one entry per line. */
function createColumns() {
  return {
    referenceHashes: [] as number[],
    hotelHashes: [] as number[],
    lastDays: [] as number[],
    rows: [] as KeptRow[],
  };
}

/** Walks to the line with that index. Candidates are few. */
function findLine(lines: Buffer, index: number): Buffer {
  let start = 0;
  for (let passed = 0; passed < index; passed += 1) start = lines.indexOf(lineFeed, start) + 1;
  return lines.subarray(start, lines.indexOf(lineFeed, start));
}
