import type { ServiceField } from '../../booking/booking.js';
import type { BusinessDay } from '../../booking/business-day.js';
import { findComparableNames } from '../../booking/guest-names.js';

import { type CanarySettings, canaryStep } from '../../ledger/canaries.js';
import type { Collect } from '../../ledger/collecting.js';
import type { Ledger, ReadOnlyLedger } from '../../ledger/ledger.js';
import { countRecords, type DayVolume, type Run } from '../../ledger/run.js';
import type { Right } from '../../ledger/step.js';
import type { Delivery } from '../delivery.js';
import type { ErasedGuests } from '../erasures.js';
import type { Notify, RunName } from '../events.js';
import { SourceError } from '../source.js';
import { createComparingCollect } from '../suspects/comparison.js';
import { compareVolume, daysToCompare, describeDrops } from '../volume.js';
import type { DayReader } from './day-reader.js';
import {
  type DeliveredIndex,
  describeIncomparable,
  indexDelivered,
  listNameForms,
  runsCompared,
} from './delivered-lines.js';
import {
  CollectError,
  type CollectLimits,
  checkExpected,
  checkGates,
  checkIncomplete,
  checkPosted,
  checkRepeated,
  isExpectedOf,
  isToCompare,
} from './gates.js';
import { makeCanary } from './make-canary.js';
import { findRepetition, type Repetition } from './repeated-day.js';
import { type BookingStore, createBookingStore } from './store-bookings.js';

export interface CollectParts {
  readonly reader: DayReader;
  readonly delivery: Delivery;
  readonly ledger: Ledger;
  readonly limits: CollectLimits;
  readonly clock: () => number;
  readonly notify: Notify;
  /**
   * For a run that tops up the day: what other runs delivered. Those bookings count as duplicates. If there is a
   * review file they are still written to it, so that it covers the whole day.
   */
  readonly delivered?: ReadOnlyLedger;
  /** What the number of bookings is compared with. */
  readonly volumes?: ReadOnlyLedger;
  /** Accepts a day with far fewer bookings than usual this time. */
  readonly acceptsVolume?: boolean | undefined;
  /** What the bookings are compared with, to recognise an earlier day's. */
  readonly earlierDays?: ReadOnlyLedger;
  /** Accepts bookings that an earlier day sent this time. */
  readonly acceptsRepeated?: boolean | undefined;
  /** How many records the caller of the hook counted; read after the last record, because the call may come meanwhile. */
  readonly readExpected?: () => Promise<number | undefined>;
  /** Guests whose names must no longer be sent or kept. */
  readonly readErased?: () => Promise<ErasedGuests | undefined>;
  /** The local copy of the mappings, with which bookings are compared before they are sent. An empty copy is ignored. */
  readonly comparison?: ReadOnlyLedger['mappings'];
  /** Sent with the bookings of a day that has some. */
  readonly canary?: CanarySettings | undefined;
}

/**
 * Streams the day from its source into the ledger, from scratch and in constant memory, and stores the plan.
 *
 * @throws CollectError when the source is broken or a limit is exceeded; the signal's reason when aborted
 */
export async function collectDay(
  day: BusinessDay,
  right: Right,
  parts: CollectParts,
  signal: AbortSignal,
): Promise<Run> {
  const { reader, delivery, limits, clock, notify } = parts;
  const run = { id: right.runId, day: day.iso };
  const collect = await beginCollect(day, right, parts);
  const known = parts.delivered && (await readKnown(parts.delivered, run, parts.delivery, signal));
  const bookings = createBookingStore(limits, collect, known);
  const erased = await parts.readErased?.();
  const obstacles = new Map<ServiceField, number>();
  try {
    for await (const chunk of reader.read(day, delivery, { signal, erased })) {
      for (const notice of chunk.notices ?? []) {
        notify({ type: 'source-notice', run, notice });
        bookings.warn({ reason: 'absent-column', count: 1 });
      }
      for (const [field, count] of chunk.obstacles ?? [])
        obstacles.set(field, (obstacles.get(field) ?? 0) + count);
      await bookings.take(chunk);
      notify({
        type: 'collecting',
        run,
        read: bookings.read,
        ...(chunk.progress && { progress: chunk.progress }),
      });
    }
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    if (!isExpectedOf(error, bookings.read, limits))
      throw new CollectError(error.fault, error.message, { cause: error });
  }
  signal.throwIfAborted();
  await bookings.addKnown();
  const repetition = await compareWithEarlierDays(day, bookings, parts);
  await bookings.storeRest();
  const source = reader.locate(day);
  const sendable = countRecords(bookings) - bookings.rejected;
  checkGates(bookings, limits, source);
  await checkExpected(bookings, parts.readExpected, source);
  if (delivery.kind === 'file') {
    const { body: posted, file } = bookings.accepted;
    // A run that tops up the day sends only a part of it, which may well be a single booking without a name.
    const of = parts.delivered ? sendable : posted + file;
    checkPosted({ posted, of, obstacles }, limits, source);
    if (posted > 0 && file === 0) notify({ type: 'no-review-file', run, posted });
  }
  // A run that tops up the day sends only a part of it.
  if (!parts.delivered) checkIncomplete(bookings.lacking, limits, source);
  const { providers } = bookings;
  const { body, file } = bookings.accepted;
  if (repetition) checkRepeated(repetition, body + file, limits, { source, day: day.iso });
  // A run that tops up the day stores a part of it, but reads all of it.
  const accepted = parts.delivered ? sendable : body + file;
  await checkVolume({ day: day.iso, accepted, providers }, parts, right, collect);
  const canary =
    parts.canary && sendable > 0 ? makeCanary(parts.canary, run.id, delivery, clock()) : undefined;
  const steps = [...delivery.plan(bookings.accepted), ...(canary ? [canaryStep] : [])];
  return collect.finish({ steps, canary, at: clock() });
}

/** Compares with the local copy of the mappings if there is one that is not empty. */
async function beginCollect(
  day: BusinessDay,
  right: Right,
  { reader, delivery, ledger, limits: { batchSize }, clock, comparison }: CollectParts,
): Promise<Collect> {
  const now = clock();
  const start = { source: reader.locate(day), at: now, batchSize, guestNames: delivery.names };
  if (!comparison || (await comparison.isEmpty())) return ledger.bookings.beginCollect(right, start);
  const collect = await ledger.bookings.beginCollect(right, { ...start, comparesMappings: true });
  return createComparingCollect(collect, { copy: comparison, now });
}

/** Undefined if they are not to be compared. Before the last bookings are stored: what can't be compared is a warning. */
async function compareWithEarlierDays(
  day: BusinessDay,
  bookings: BookingStore,
  { earlierDays, acceptsRepeated, delivered, limits, delivery }: CollectParts,
): Promise<Repetition | undefined> {
  const { body, file } = bookings.accepted;
  const isUnwanted = acceptsRepeated || delivered !== undefined || !isToCompare(body + file, limits);
  if (!earlierDays || isUnwanted) return undefined;
  const repetition = await findRepetition(day, { bookings, delivery, ledger: earlierDays });
  const { sent, incomparable } = repetition;
  if (sent > 0 && sent === incomparable) bookings.warn({ reason: 'earlier-days-not-compared', count: sent });
  return repetition;
}

async function readKnown(
  ledger: ReadOnlyLedger,
  { id, day }: RunName,
  delivery: Delivery,
  signal: AbortSignal,
): Promise<DeliveredIndex> {
  const runs = await ledger.runs.list({ day, limit: runsCompared });
  const obstacle = describeIncomparable(runs);
  if (obstacle !== undefined) throw new CollectError('names-blanked', obstacle);
  const forms = listNameForms(runs.filter((run) => run.id !== id));
  const names = findComparableNames(delivery.names, forms);
  return indexDelivered(ledger, id, delivery, signal, { names });
}

/** Records the day's volume, and fails or warns if it is far below the usual one. */
async function checkVolume(
  counted: DayVolume,
  { limits, volumes, acceptsVolume = false, clock, notify }: CollectParts,
  right: Right,
  collect: Collect,
): Promise<void> {
  const { volume: settings } = limits;
  const comparison =
    volumes &&
    settings &&
    compareVolume(counted, await volumes.runs.listVolumes(daysToCompare(counted.day, settings)), settings);
  const { accepted, providers } = counted;
  await collect.noteVolume({ accepted, providers, at: clock(), ...(comparison && { comparison }) });
  if (!comparison || comparison.drops.length === 0 || acceptsVolume) return;
  if (settings?.onDrop === 'fail') {
    throw new CollectError(
      'volume-dropped',
      `far fewer bookings than usual: ${describeDrops(comparison).join('; ')}; nothing was sent: check the export, ` +
        `or accept this day with run --day ${counted.day} --accept-volume`,
    );
  }
  notify({ type: 'volume-dropped', run: { id: right.runId, day: counted.day }, volume: comparison });
}
