import type { BusinessDay } from '../booking/business-day.js';
import { readFieldText } from '../booking/field-text.js';
import { countDates, type Normalise } from '../booking/normalise.js';
import type { Collect, Ledger, ReasonCount, Reject, Right } from '../ledger/ledger.js';
import { type BookingSource, SourceError, type SourceRecord } from '../sources/source.js';
import { createBatching } from './batching.js';
import type { Delivery } from './delivery.js';
import type { Notify } from './events.js';
import type { Run } from './run.js';
import { formatShare, isMoreThanShare } from './share.js';

/** Bookings a transaction: large enough that a commit costs nothing, small enough that nobody waits for it. */
const bookingsPerTransaction = 5_000;
/** What is kept of a rejected record's reference, in UTF-16 units: broken records hold all sorts of things. */
const maxReferenceLength = 200;

export interface CollectLimits {
  /** Share of the records that may be rejected, and of the dates that may be unreadable. */
  readonly maxRejectedShare: number;
  readonly emptyDay: 'succeed' | 'fail';
  readonly batchSize: number;
}

export interface CollectParts {
  readonly source: BookingSource;
  readonly normalise: Normalise;
  readonly delivery: Delivery;
  readonly ledger: Pick<Ledger, 'beginCollect'>;
  readonly limits: CollectLimits;
  readonly clock: () => number;
  readonly notify: Notify;
}

/** The day can't be trusted as it was collected: nothing is sent, and the next `run` collects it again. */
export class CollectError extends Error {
  override readonly name = 'CollectError';
  constructor(
    readonly code: string,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

/**
 * Streams the day from its source into the ledger, from nothing, in flat memory, and writes down the plan.
 *
 * @throws CollectError when the source is broken or a gate is closed; the signal's reason when stopped.
 */
export async function collectDay(
  day: BusinessDay,
  right: Right,
  parts: CollectParts,
  signal: AbortSignal,
): Promise<Run> {
  const { source, delivery, ledger, limits, clock, notify } = parts;
  const collect = await ledger.beginCollect(right, {
    source: source.locate(day),
    at: clock(),
    batchSize: limits.batchSize,
  });
  const run = { id: right.runId, day: day.iso };
  const intake = createIntake(parts, collect);
  try {
    for await (const chunk of source.read(day, { signal })) {
      for (const notice of chunk.notices ?? []) {
        notify({ type: 'source-notice', run, notice });
        intake.warn('absent-column');
      }
      for (const record of chunk.records) {
        const stored = intake.take(record);
        if (stored) await stored;
      }
      notify({
        type: 'collecting',
        run,
        read: intake.read,
        ...(chunk.progress && { progress: chunk.progress }),
      });
    }
  } catch (error) {
    if (error instanceof SourceError) throw new CollectError(error.fault, error.message, { cause: error });
    throw error;
  }
  signal.throwIfAborted();
  await intake.storeRest();
  checkGates(intake, limits, source.locate(day));
  return collect.finish({ steps: delivery.plan(intake.accepted), at: clock() });
}

/** Takes records one by one, and stores them by the transaction. */
function createIntake({ normalise, delivery, limits }: CollectParts, collect: Collect) {
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
    /** Answers a promise only when there is something to wait for: a day has millions of records. */
    take(record: SourceRecord): Promise<void> | undefined {
      read += 1;
      if ('unreadable' in record) {
        reject(record.place, record.unreadable);
        return storeWhenFull();
      }
      const normalised = normalise(record.fields);
      if (normalised.kind === 'reject') {
        reject(record.place, normalised.reason, readReference(record.fields.BookingReferenceId));
        return storeWhenFull();
      }
      const { booking, warnings: found } = normalised;
      const { given, unreadable } = countDates(booking, found);
      dates.given += given;
      dates.unreadable += unreadable;
      for (const warning of found) warn(warning, record.place);
      const form = delivery.formOf(booking);
      if (form === undefined) {
        reject(record.place, 'not-for-the-file', readReference(booking.bookingReferenceId));
        return storeWhenFull();
      }
      const batches = batching[form];
      delivery.render(booking, form, batches.begin());
      const taken = batches.end(booking.bookingReferenceId);
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
function readReference(value: unknown): string | undefined {
  const text = readFieldText(value);
  // The cut may fall between the halves of a character.
  return typeof text === 'string' ? text.slice(0, maxReferenceLength).toWellFormed() : undefined;
}

/** A broken source must not look like a quiet night. */
function checkGates(
  { read, rejected, dates }: { read: number; rejected: number; dates: { given: number; unreadable: number } },
  { maxRejectedShare, emptyDay }: CollectLimits,
  source: string,
): void {
  const percent = formatShare(maxRejectedShare);
  if (read === 0 && emptyDay === 'fail') {
    throw new CollectError('empty-day', `${source} holds no booking, and emptyDay is set to fail`);
  }
  if (isMoreThanShare(rejected, read, maxRejectedShare)) {
    throw new CollectError(
      'too-many-rejects',
      `${rejected} of ${read} records of ${source} cannot be sent, more than maxRejectedShare allows (${percent})`,
    );
  }
  if (isMoreThanShare(dates.unreadable, dates.given, maxRejectedShare)) {
    throw new CollectError(
      'too-many-unreadable-dates',
      `${dates.unreadable} of ${dates.given} dates of ${source} are no calendar dates: is source.dateFormat right?`,
    );
  }
}
