import { hashReference, noReference } from '../../booking/reference-hash.js';
import type { Collect, ReasonCount, Reject } from '../ledger.js';
import { bookingForms } from '../step.js';
import { readReference } from '../stored/stored-line.js';
import { createFilledPlaces } from '../suspects/filled-places.js';
import { createBatching } from './batching.js';
import type { KnownLines } from './known-lines.js';
import { createLineMemory, type LineMemory } from './line-memory.js';
import type { RenderedChunk } from './rendering.js';

/** Bookings a transaction: large enough that a commit costs nothing, small enough that nobody waits for it. */
const bookingsPerTransaction = 5_000;

/** Takes a day's chunks in their order, and stores what is new in them by the transaction. */
export function createIntake(
  { batchSize }: { readonly batchSize: number },
  collect: Pick<Collect, 'store' | 'holds'>,
  known?: KnownLines,
) {
  const batching = {
    body: createBatching('body', batchSize, collect),
    file: createBatching('file', batchSize, collect),
  };
  const filledPlaces = createFilledPlaces(batchSize);
  /** Bookings that were filled in and are known: by their hash, for nothing hangs on one that is taken for another. */
  let filledBefore: LineMemory | undefined;
  const dates = { given: 0, unreadable: 0 };
  const warnings = new Map<ReasonCount['reason'], { count: number; readonly firstPlace?: number }>();
  let rejects: Reject[] = [];
  let read = 0;
  let rejected = 0;
  let duplicates = 0;

  function warn({ reason, count, ...first }: ReasonCount): void {
    const warning = warnings.get(reason);
    if (warning) warning.count += count;
    else warnings.set(reason, { count, ...first });
  }

  /** Only whole batches are stored in mid-day, and counted with them, so that the sums hold in every transaction. */
  async function store(isLast: boolean): Promise<void> {
    const batches = [...batching.body.takeBatches({ isLast }), ...batching.file.takeBatches({ isLast })];
    const chunk = {
      batches: batches.map(filledPlaces.tell),
      rejects,
      duplicates,
      warnings: [...warnings].map(([reason, counted]) => ({ reason, ...counted })),
    };
    rejects = [];
    duplicates = 0;
    warnings.clear();
    await collect.store(chunk);
    batching.body.reuse();
    batching.file.reuse();
  }

  function isFull(): boolean {
    return batching.body.ready + batching.file.ready + rejects.length >= bookingsPerTransaction;
  }

  function noteFilledBefore(view: DataView, start: number, end: number): void {
    filledBefore ??= createLineMemory();
    filledBefore.findOrRemember(view, start, end, 0);
  }

  async function takeLines({ lines }: RenderedChunk): Promise<void> {
    const { ends, forms, referenceHashes, filledIn } = lines;
    const { buffer, byteOffset, byteLength } = lines.bytes;
    const block = {
      bytes: Buffer.from(buffer, byteOffset, byteLength),
      view: new DataView(buffer, byteOffset, byteLength),
    };
    let start = 0;
    for (let index = 0; index < ends.length; index += 1) {
      const end = ends[index] ?? 0;
      const form = bookingForms[forms[index] ?? 0] ?? 'body';
      const batches = batching[form];
      const taken = batches.take(block, start, end, referenceHashes[index] ?? noReference, known);
      // A day has millions of lines: there is something to wait for only for a candidate of a duplicate.
      const isNew = typeof taken === 'boolean' ? taken : await taken;
      if (filledIn?.has(index)) {
        if (isNew) filledPlaces.note(form, batches.accepted - 1);
        else if (known) noteFilledBefore(block.view, start, end);
      }
      start = end + 1;
      if (!isNew) duplicates += 1;
      else if (isFull()) await store(false);
    }
    batching.body.leaveBlock();
    batching.file.leaveBlock();
  }

  return {
    warn,
    dates,
    get read() {
      return read;
    },
    get rejected() {
      return rejected;
    },
    get accepted() {
      return { body: batching.body.accepted, file: batching.file.accepted };
    },
    storeRest: () => store(true),
    /** Where there is a file, it is the whole day's: what was delivered before stands in it behind what is new. */
    async addKnown(): Promise<void> {
      if (!known || batching.file.accepted === 0) return;
      for await (const { piece, line } of known.ofFile()) {
        const { start, end } = line;
        const hash = hashReference(readReference(piece.bytes.toString('utf8', start, end), 'file'));
        if (!(await batching.file.take(piece, start, end, hash))) continue;
        if (filledBefore?.find(piece.view, start, end) !== undefined)
          filledPlaces.note('file', batching.file.accepted - 1);
        if (isFull()) await store(false);
      }
    },
    /** Once it answers, nothing of the chunk's memory is needed any more. */
    async take(chunk: RenderedChunk): Promise<void> {
      read += chunk.read;
      rejected += chunk.rejects.length;
      rejects = rejects.concat(chunk.rejects);
      chunk.warnings.forEach(warn);
      dates.given += chunk.dates.given;
      dates.unreadable += chunk.dates.unreadable;
      await takeLines(chunk);
      if (isFull()) await store(false);
    },
  };
}
