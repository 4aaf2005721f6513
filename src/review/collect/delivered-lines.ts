import { type GuestNames, writeNames } from '../../booking/guest-names.js';
import type { BookingForm } from '../../booking/line-form.js';
import { createLineBuffer, type LineBuffer } from '../../booking/render-line.js';
import { readReviewLine } from '../../booking/review-line.js';
import { readBooking } from '../../booking/stored-line.js';
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
 * @param names the form in which the names of all these runs and of this one can be compared: see `findComparableNames`
 */
export async function indexDelivered(
  ledger: ReadOnlyLedger,
  runId: string,
  delivery: Delivery,
  signal: AbortSignal,
  { names = delivery.names, memory = createLineIndex() }: { names?: GuestNames; memory?: LineIndex } = {},
) {
  // With names in the form of today, a delivered line is compared as it would be sent today.
  const isAsToday = names === delivery.names;
  const toKeys = isAsToday ? renderDelivered : renderNameless;
  /** Of each chunk, the cursor from which the ledger returns it, and the index of its first line among all. */
  const places: { readonly after: DeliveredCursor | undefined; readonly first: number }[] = [];
  const cache = new Map<number, DeliveredChunk>();
  /** Lines that share a hash with a different line: hardly ever any. */
  const collided = new Set<string>();
  let count = 0;

  async function* readChunks(render: typeof renderDelivered) {
    let after: DeliveredCursor | undefined;
    for (let first = 0; ; ) {
      signal.throwIfAborted();
      const delivered = await ledger.bookings.nextDelivered(runId, after);
      if (!delivered) return;
      const chunk = render(delivered, delivery);
      yield { ...chunk, trigger: delivered.trigger, after, first };
      after = delivered.cursor;
      first += chunk.ends.length;
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

  async function readAgain(index: number): Promise<DeliveredChunk> {
    const delivered = await ledger.bookings.nextDelivered(runId, places[index]?.after);
    if (!delivered) throw new RangeError('the delivered bookings are no longer in the ledger');
    const chunk = toKeys(delivered, delivery);
    const oldest = cache.size < cachedChunks ? undefined : cache.keys().next().value;
    if (oldest !== undefined) cache.delete(oldest);
    cache.set(index, chunk);
    return chunk;
  }

  async function isAt(position: number, line: Buffer): Promise<boolean> {
    const index = findPlace(position);
    const chunk = cache.get(index) ?? (await readAgain(index));
    return lineOf(chunk, position - (places[index]?.first ?? 0)).equals(line);
  }

  async function has(block: LineBlock, index: number): Promise<boolean> {
    const position = memory.find(block, index);
    if (position === undefined) return false;
    const line = lineOf(block, index);
    return (await isAt(position, line)) || collided.has(line.toString());
  }

  for await (const chunk of readChunks(toKeys)) {
    // Of two chunks with the same first position, the later one has the lines.
    places.push({ after: chunk.after, first: chunk.first });
    for (let index = 0; index < chunk.ends.length; index += 1) {
      const earlier = memory.findOrRemember(chunk, index, count);
      count += 1;
      if (earlier === undefined) continue;
      const line = lineOf(chunk, index);
      if (!(await isAt(earlier, line))) collided.add(line.toString());
    }
  }

  return {
    /** True if that line was delivered. */
    has(form: BookingForm, block: LineBlock, index: number): Promise<boolean> {
      if (isAsToday) return has(block, index);
      const lines = block.bytes.subarray(startOf(block, index), (block.ends[index] ?? 0) + 1);
      return has(renderNameless({ form, lines }, delivery), 0);
    },
    /**
     * The lines that make the next review file cover the whole day, in delivery order; only those of the form `file` belong
     * there, and some may be repeated. What runs of today delivered is not sent again: the nightly run adds to it.
     */
    async *ofFile(): AsyncGenerator<DeliveredChunk, void, undefined> {
      for await (const chunk of readChunks(renderDelivered)) if (mayCompleteDay(chunk)) yield chunk;
    },
  };
}

const lineFeed = Buffer.from('\n');
const emptyCell = Buffer.from(',,');

/** Delivered lines, rendered as the current delivery would render them. */
export interface DeliveredChunk extends LineBlock {
  readonly forms: readonly BookingForm[];
}

/**
 * Renders what was delivered as the current delivery would send it: the line of a booking differs between body and
 * file, and changes with the configured name of the master id. Bookings that the delivery doesn't carry are left out.
 */
export function renderDelivered(
  { form, guestNames, lines }: Pick<DeliveredLines, 'form' | 'guestNames' | 'lines'>,
  delivery: Delivery,
): DeliveredChunk {
  // All lines of a chunk were rendered alike, so comparing the first one is enough, unless a name was erased meanwhile.
  const first = lines.subarray(0, lines.indexOf(lineFeed) + 1);
  const isAsItWas =
    form === delivery.kind &&
    guestNames === delivery.names &&
    !(form === 'file' && lines.includes(emptyCell)) &&
    renderAgain(form, first, delivery).bytes.equals(first);
  if (!isAsItWas) return renderAgain(form, lines, delivery);
  const chunk = chunkOf(lines);
  return { ...chunk, forms: Array.from(chunk.ends, () => form) };
}

function renderAgain(form: BookingForm, lines: Buffer, delivery: Delivery): DeliveredChunk {
  return renderLines(lines, (line, rendered) => {
    // What stood in the file under its reference can stand there again.
    const sent = form === 'file' ? readReviewLine(line) : readBooking(line, form);
    const booking = writeNames(sent, delivery.names);
    const now = delivery.formOf(booking);
    if (now !== undefined) delivery.render(booking, now, rendered);
    return now;
  });
}

/** The same bookings without names, all as items of a body: to compare them whatever became of their names. */
function renderNameless(
  { form, lines }: Pick<DeliveredLines, 'form' | 'lines'>,
  delivery: Delivery,
): DeliveredChunk {
  return renderLines(lines, (line, rendered) => {
    delivery.render(writeNames(readBooking(line, form), 'omit'), 'body', rendered);
    return form;
  });
}

/** @param render writes a line again and returns its form; undefined for one that is left out */
function renderLines(
  lines: Buffer,
  render: (line: string, rendered: LineBuffer) => BookingForm | undefined,
): DeliveredChunk {
  const rendered = createLineBuffer(lines.length);
  const forms: BookingForm[] = [];
  for (const line of splitStoredLines(lines)) {
    const form = render(line, rendered);
    if (form === undefined) continue;
    rendered.constant(lineFeed);
    forms.push(form);
  }
  return { ...chunkOf(rendered.handOver()), forms };
}

function chunkOf(bytes: Buffer): LineBlock {
  const ends: number[] = [];
  for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, end + 1)) ends.push(end);
  return blockOf(bytes, ends);
}

/** In which forms the names of what these runs delivered are now. */
export function listNameForms(runs: readonly Run[]): readonly GuestNames[] {
  return runs.map(({ guestNames = 'send', linesBlanked }) => (linesBlanked ? 'omit' : guestNames));
}

/** The number of runs to compare with before topping up a day. */
export const runsCompared = 1_000;

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
