import type { Delivery } from '../delivery.js';
import type { DeliveredCursor, Ledger } from '../ledger.js';
import { type KnownLine, type KnownPiece, toKnownPiece } from './known-piece.js';
import { createLineMemory, type LineMemory } from './line-memory.js';

/** Pieces that are kept at hand: a day's source mostly has its bookings in the order in which they were delivered. */
const cachedPieces = 32;

/** What the other runs of a day have delivered. */
export interface KnownLines {
  /** True when that line was delivered: it is what stands in `bytes` from `start` up to `end`. */
  has(bytes: DataView, start: number, end: number): boolean | Promise<boolean>;
  /** Those that can stand in the review file, in the order in which they were delivered; some come more than once. */
  ofFile(): AsyncIterable<{ readonly piece: KnownPiece; readonly line: KnownLine }>;
}

interface Place {
  /** Where the ledger's list is to be read on to get the piece. */
  readonly after: DeliveredCursor | undefined;
  /** The position of its first line among all. */
  readonly first: number;
}

/**
 * Remembers what other runs of the day have delivered, by hashes and places in flat memory. A hash alone tells nothing:
 * before a line is said to be known, it is compared with the one that was delivered.
 */
export async function readKnownLines(
  ledger: Pick<Ledger, 'nextDelivered'>,
  runId: string,
  delivery: Delivery,
  signal: AbortSignal,
  memory: LineMemory = createLineMemory(),
): Promise<KnownLines> {
  const places: Place[] = [];
  const cache = new Map<number, KnownPiece>();
  /** Lines whose hash was taken by a different one: next to never. */
  const collided = new Set<string>();
  let count = 0;

  async function* readPieces(): AsyncGenerator<KnownPiece & Place> {
    let after: DeliveredCursor | undefined;
    for (let first = 0; ; ) {
      signal.throwIfAborted();
      const delivered = await ledger.nextDelivered(runId, after);
      if (!delivered) return;
      const piece = toKnownPiece(delivered, delivery);
      yield { ...piece, after, first };
      after = delivered.cursor;
      first += piece.lines.length;
    }
  }

  function findPlace(position: number): number {
    let low = 0;
    for (let high = places.length; high - low > 1; ) {
      const middle = (low + high) >> 1;
      if ((places[middle]?.first ?? 0) <= position) low = middle;
      else high = middle;
    }
    return low;
  }

  async function readAgain(index: number): Promise<KnownPiece> {
    const delivered = await ledger.nextDelivered(runId, places[index]?.after);
    if (!delivered) throw new RangeError('what was delivered is not in the ledger any more');
    const piece = toKnownPiece(delivered, delivery);
    const oldest = cache.size < cachedPieces ? undefined : cache.keys().next().value;
    if (oldest !== undefined) cache.delete(oldest);
    cache.set(index, piece);
    return piece;
  }

  /** Whether the line stands at that position; answers at once where the piece is at hand. */
  function standsAt(position: number, line: Buffer): boolean | Promise<boolean> {
    const index = findPlace(position);
    const compare = (piece: KnownPiece): boolean => {
      const known = piece.lines[position - (places[index]?.first ?? 0)];
      return known !== undefined && piece.bytes.subarray(known.start, known.end).equals(line);
    };
    const piece = cache.get(index);
    return piece ? compare(piece) : readAgain(index).then(compare);
  }

  for await (const { view, bytes, lines, after, first } of readPieces()) {
    // Two that begin at the same place: the later one has the lines.
    places.push({ after, first });
    for (const { start, end } of lines) {
      const earlier = memory.findOrRemember(view, start, end, count);
      count += 1;
      if (earlier === undefined) continue;
      const line = bytes.subarray(start, end);
      if (!(await standsAt(earlier, line))) collided.add(line.toString());
    }
  }

  return {
    has(bytes, start, end) {
      const position = memory.find(bytes, start, end);
      if (position === undefined) return false;
      // A copy: whoever asked may write over it before the answer is there.
      const line = Buffer.from(new Uint8Array(bytes.buffer, bytes.byteOffset + start, end - start));
      const stands = standsAt(position, line);
      if (stands === true || collided.size === 0) return stands;
      const isCollided = collided.has(line.toString());
      return stands === false ? isCollided : stands.then((is) => is || isCollided);
    },
    async *ofFile() {
      for await (const piece of readPieces())
        for (const line of piece.lines) if (line.form === 'file') yield { piece, line };
    },
  };
}
