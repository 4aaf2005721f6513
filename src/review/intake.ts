import { hashReference, noReference } from '../booking/reference-hash.js';
import type { Collect, ReasonCount, Reject } from '../ledger/ledger.js';
import { createBatching } from './batching.js';
import type { KnownLines } from './known-lines.js';
import type { RenderedChunk } from './reading/rendering.js';
import { bookingForms } from './step.js';
import { readReference } from './stored-line.js';

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
    const chunk = {
      batches: [...batching.body.takeBatches({ isLast }), ...batching.file.takeBatches({ isLast })],
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

  async function takeLines({ lines }: RenderedChunk): Promise<void> {
    const { ends, forms, referenceHashes } = lines;
    const { buffer, byteOffset, byteLength } = lines.bytes;
    const block = {
      bytes: Buffer.from(buffer, byteOffset, byteLength),
      view: new DataView(buffer, byteOffset, byteLength),
    };
    let start = 0;
    for (let index = 0; index < ends.length; index += 1) {
      const end = ends[index] ?? 0;
      const batches = batching[bookingForms[forms[index] ?? 0] ?? 'body'];
      const taken = batches.take(block, start, end, referenceHashes[index] ?? noReference, known);
      start = end + 1;
      // A day has millions of lines: there is something to wait for only for a candidate of a duplicate.
      if (!(typeof taken === 'boolean' ? taken : await taken)) duplicates += 1;
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
        if ((await batching.file.take(piece, start, end, hash)) && isFull()) await store(false);
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
