import type { Booking } from '../../booking/booking.js';
import { createLineBuffer, renderLine } from '../../booking/render-line.js';
import { type GuestNames, streamOf, writeNames } from '../../booking/sending.js';
import { blankNames, readBooking } from '../../booking/stored-line.js';
import { type DeliveredCursor, type DeliveredLines, splitStoredLines } from '../../ledger/batches.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import { mayCompleteDay, type Run } from '../../rules/run.js';
import type { Delivery } from '../delivery.js';
import { blockOf, createLineIndex, type LineBlock, type LineIndex, lineOf, startOf } from './line-index.js';

/** Chunks kept in memory: a source mostly returns bookings in the order in which they were delivered. */
const cachedChunks = 32;

/** What the other runs of a day have delivered. */
export type DeliveredIndex = Awaited<ReturnType<typeof indexDelivered>>;

/**
 * Indexes what other runs of the day have delivered, by hash and position in compact memory. A hash is only a hint: a
 * line counts as delivered only after comparing it with the delivered line.
 *
 * @param names how the lines of all these runs and of this one can be compared: see `findComparableNames`
 */
export async function indexDelivered(
  ledger: ReadOnlyLedger,
  runId: string,
  delivery: Delivery,
  signal: AbortSignal,
  { names = delivery.names, memory = createLineIndex() }: { names?: GuestNames; memory?: LineIndex } = {},
) {
  /** Of each chunk, the cursor from which the ledger returns it, and the index of its first line among all. */
  const starts: { readonly after: DeliveredCursor | undefined; readonly first: number }[] = [];
  const cache = new Map<number, LineBlock>();
  /** Lines that share a hash with a different line: hardly ever any. */
  const collided = new Set<string>();
  let count = 0;

  async function* readChunks() {
    let after: DeliveredCursor | undefined;
    for (;;) {
      signal.throwIfAborted();
      const delivered = await ledger.bookings.nextDelivered(runId, after);
      if (!delivered) return;
      yield { ...delivered, after };
      after = delivered.cursor;
    }
  }

  function findChunk(position: number): number {
    let low = 0;
    for (let high = starts.length; high - low > 1; ) {
      const middle = (low + high) >> 1;
      if ((starts[middle]?.first ?? 0) <= position) low = middle;
      else high = middle;
    }
    return low;
  }

  async function readAgain(index: number): Promise<LineBlock> {
    const delivered = await ledger.bookings.nextDelivered(runId, starts[index]?.after);
    if (!delivered) throw new RangeError('the delivered bookings are no longer in the ledger');
    const block = toComparable(delivered.lines, names);
    const oldest = cache.size < cachedChunks ? undefined : cache.keys().next().value;
    if (oldest !== undefined) cache.delete(oldest);
    cache.set(index, block);
    return block;
  }

  async function isAt(position: number, line: Buffer): Promise<boolean> {
    const index = findChunk(position);
    const block = cache.get(index) ?? (await readAgain(index));
    return lineOf(block, position - (starts[index]?.first ?? 0)).equals(line);
  }

  for await (const { after, lines } of readChunks()) {
    const block = toComparable(lines, names);
    starts.push({ after, first: count });
    for (let index = 0; index < block.ends.length; index += 1) {
      const earlier = memory.findOrRemember(block, index, count);
      count += 1;
      if (earlier === undefined) continue;
      const line = lineOf(block, index);
      if (!(await isAt(earlier, line))) collided.add(line.toString());
    }
  }

  async function has(block: LineBlock, index: number): Promise<boolean> {
    const position = memory.find(block, index);
    if (position === undefined) return false;
    const line = lineOf(block, index);
    return (await isAt(position, line)) || collided.has(line.toString());
  }

  return {
    /** True if that line was delivered. */
    has(block: LineBlock, index: number): Promise<boolean> {
      if (names === delivery.names) return has(block, index);
      const line = block.bytes.subarray(startOf(block, index), (block.ends[index] ?? 0) + 1);
      return has(toComparable(line, names), 0);
    },
    /**
     * What makes the next review file cover the whole day, in delivery order; some may be repeated. What runs of today delivered is
     * not sent again: the nightly run adds to it.
     */
    async *ofFile(): AsyncGenerator<FileChunk, void, undefined> {
      for await (const chunk of readChunks()) if (mayCompleteDay(chunk)) yield renderForFile(chunk, delivery);
    },
  };
}

const lineFeed = Buffer.from('\n');

/** Stored lines in the form in which they can be compared with those of other runs. */
export function toComparable(lines: Buffer, names: GuestNames): LineBlock {
  const bytes = names === 'omit' ? blankNames(lines) : lines;
  const ends: number[] = [];
  for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, end + 1)) ends.push(end);
  return blockOf(bytes, ends);
}

/** Bookings for the review file, each with its line. */
interface FileChunk extends LineBlock {
  readonly bookings: readonly Booking[];
}

/** Those of the delivered bookings that the current delivery would put into the file. */
function renderForFile({ stream, guestNames, lines }: DeliveredLines, delivery: Delivery): FileChunk {
  const rendered = createLineBuffer(lines.length);
  const bookings: Booking[] = [];
  const ends: number[] = [];
  for (const line of splitStoredLines(lines)) {
    const stored = readBooking(line);
    // What stood in the file under its reference can stand there again.
    const sent = stream === 'file' && guestNames === 'omit' ? nameByReference(stored) : stored;
    const booking = writeNames(sent, delivery.names);
    if (streamOf(booking, delivery) !== 'file') continue;
    renderLine(booking, rendered);
    ends.push(rendered.length);
    rendered.constant(lineFeed);
    bookings.push(booking);
  }
  return { ...blockOf(rendered.handOver(), ends), bookings };
}

function nameByReference(booking: Booking): Booking {
  const { bookingReferenceId } = booking;
  return bookingReferenceId === undefined ? booking : { ...booking, bookingClientName: bookingReferenceId };
}

/** In which forms the names of what these runs delivered are now. */
export function listNameForms(runs: readonly Run[]): readonly GuestNames[] {
  return runs.map(({ guestNames = 'send', linesBlanked }) => (linesBlanked ? 'omit' : guestNames));
}

/**
 * Why a day can't be topped up: the delivered bookings no longer have their guest names, so they can't be compared.
 * Those that runs of today delivered are compared without them: a day must be completed even if its nightly run comes
 * late.
 */
export function describeIncomparable(runs: readonly Run[]): string | undefined {
  const blanked = runs.find((run) => run.linesBlanked && run.counts.delivered > 0 && mayCompleteDay(run));
  return (
    blanked &&
    `late bookings of ${blanked.day} can't be told apart from those that run ${blanked.id} delivered, because its guest names ` +
      `were blanked after guestNameDays; to send the whole day again: \`replay ${blanked.day} --reason TEXT\``
  );
}
