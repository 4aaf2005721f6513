import { readFieldText } from '../booking/field-text.js';
import { countDates, type Normalise } from '../booking/normalise.js';
import type { Collect, ReasonCount, Reject } from '../ledger/ledger.js';
import type { SourceRecord } from '../sources/source.js';
import { createBatching } from './batching.js';
import type { Delivery } from './delivery.js';
import type { KnownLines } from './known-lines.js';
import { readReference } from './stored-line.js';

/** Bookings a transaction: large enough that a commit costs nothing, small enough that nobody waits for it. */
const bookingsPerTransaction = 5_000;
/** What is kept of a rejected record's reference, in UTF-16 units: broken records hold all sorts of things. */
const maxReferenceLength = 200;

interface IntakeParts {
  readonly normalise: Normalise;
  readonly delivery: Delivery;
  readonly limits: { readonly batchSize: number };
}

/** Takes records one by one, and stores them by the transaction. */
export function createIntake(
  { normalise, delivery, limits }: IntakeParts,
  collect: Pick<Collect, 'store' | 'holds'>,
  known?: KnownLines,
) {
  const batching = {
    body: createBatching('body', limits.batchSize, collect),
    file: createBatching('file', limits.batchSize, collect),
  };
  const dates = { given: 0, unreadable: 0 };
  const warnings = new Map<ReasonCount['reason'], { count: number; firstPlace: number | undefined }>();
  let rejects: Reject[] = [];
  let read = 0;
  let rejected = 0;
  let duplicates = 0;

  function warn(reason: ReasonCount['reason'], place?: number): void {
    const warning = warnings.get(reason);
    if (warning) warning.count += 1;
    else warnings.set(reason, { count: 1, firstPlace: place });
  }

  function reject(place: number, reason: Reject['reason'], reference?: string): void {
    rejects.push({ place, reason, ...(reference !== undefined && { reference }) });
    rejected += 1;
  }

  /** Only whole batches are stored in mid-day, and counted with them, so that the sums hold in every transaction. */
  async function store(isLast: boolean): Promise<void> {
    const chunk = {
      batches: [...batching.body.takeBatches({ isLast }), ...batching.file.takeBatches({ isLast })],
      rejects,
      duplicates,
      warnings: [...warnings].map(([reason, { count, firstPlace }]) => ({
        reason,
        count,
        ...(firstPlace !== undefined && { firstPlace }),
      })),
    };
    rejects = [];
    duplicates = 0;
    warnings.clear();
    await collect.store(chunk);
  }

  function storeWhenFull(): Promise<void> | undefined {
    const waiting = batching.body.ready + batching.file.ready + rejects.length;
    return waiting >= bookingsPerTransaction ? store(false) : undefined;
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
      for await (const line of known.ofFile()) {
        batching.file.begin().constant(line);
        if (await batching.file.end(readReference(line.toString(), 'file'))) await storeWhenFull();
      }
    },
    /** Answers a promise only when there is something to wait for: a day has millions of records. */
    take(record: SourceRecord): Promise<void> | undefined {
      read += 1;
      if ('unreadable' in record) {
        reject(record.place, record.unreadable);
        return storeWhenFull();
      }
      const normalised = normalise(record.fields);
      if (normalised.kind === 'reject') {
        reject(record.place, normalised.reason, readRejectReference(record.fields.BookingReferenceId));
        return storeWhenFull();
      }
      const { booking, warnings: found } = normalised;
      const { given, unreadable } = countDates(booking, found);
      dates.given += given;
      dates.unreadable += unreadable;
      for (const warning of found) warn(warning, record.place);
      const form = delivery.formOf(booking);
      if (form === undefined) {
        reject(record.place, 'not-for-the-file', readRejectReference(booking.bookingReferenceId));
        return storeWhenFull();
      }
      const batches = batching[form];
      delivery.render(booking, form, batches.begin());
      const taken = batches.end(booking.bookingReferenceId, known);
      if (taken === true) return storeWhenFull();
      if (taken === false) {
        duplicates += 1;
        return undefined;
      }
      return taken.then((wasTaken) => {
        if (!wasTaken) duplicates += 1;
        return storeWhenFull();
      });
    },
  };
}

/** A rejected record is found again by its reference, where that at least can be read. */
function readRejectReference(value: unknown): string | undefined {
  const text = readFieldText(value);
  // The cut may fall between the halves of a character.
  return typeof text === 'string' ? text.slice(0, maxReferenceLength).toWellFormed() : undefined;
}
