import type { ServiceField } from '../../booking/booking.js';
import { type BusinessDay, isDayOver } from '../../booking/business-day.js';
import { findComparableNames } from '../../booking/sending.js';
import { type FilterColumn, SourceError } from '../../booking/source.js';
import type { Collect } from '../../ledger/collecting.js';
import type { ErasedGuests } from '../../ledger/guests.js';
import type { Ledger, ReadOnlyLedger } from '../../ledger/ledger.js';
import { type CanarySettings, canaryStep } from '../../rules/canary.js';
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
  limitsOfUnfinishedDay,
  type Repetition,
} from '../../rules/gates.js';
import {
  acceptanceOf,
  countRecords,
  type DayVolume,
  isSilent,
  isUnusual,
  mayCompleteDay,
  type Run,
  type VolumeComparison,
} from '../../rules/run.js';
import {
  compareVolume,
  daysToCompare,
  describeDrops,
  noteSilences,
  type VolumeSettings,
} from '../../rules/volume.js';
import { compareFilters, forget } from '../../rules/where-report.js';
import { makeCanary } from '../canary.js';
import type { Delivery } from '../delivery.js';
import type { Notify } from '../events.js';
import { listRunsOfDay } from '../every-run.js';
import { createComparingCollect } from '../suspects/comparison.js';
import type { DayReader } from './day-reader.js';
import {
  type DeliveredIndex,
  describeIncomparable,
  indexDelivered,
  listNameForms,
} from './delivered-lines.js';
import { findRepetition } from './repeated-day.js';
import { type BookingStore, createBookingStore } from './store-bookings.js';
import { createSourceKeys, findSuperseded } from './superseded.js';

export interface CollectParts {
  readonly reader: DayReader;
  readonly delivery: Delivery;
  readonly ledger: Ledger;
  readonly limits: CollectLimits;
  readonly clock: () => number;
  readonly notify: Notify;
  /** Knows earlier days and the local copy of the mappings, with which bookings are compared before they are sent. */
  readonly past?: ReadOnlyLedger;
  /** For a ledger that nobody keeps: it holds the values of all columns of `source.where`, and not of words only. */
  readonly listsAllValues?: boolean;
  /** Guests whose names must no longer be sent or kept. */
  readonly readErased?: () => Promise<ErasedGuests | undefined>;
  /** Sent with the bookings of a day that has some. */
  readonly canary?: CanarySettings | undefined;
}

/**
 * Streams the day of a run from its source into the ledger, from scratch and in constant memory, and stores the plan.
 *
 * What other runs delivered counts as a duplicate if the run tops up its day. If there is a review file it is still written to
 * it, so that the file covers the whole day.
 *
 * @throws CollectError when the source is broken or a limit is exceeded; the signal's reason when aborted
 */
export async function collectDay(
  day: BusinessDay,
  run: Run,
  { limits: configured, ...given }: CollectParts,
  signal: AbortSignal,
): Promise<Run> {
  const { delivery, ledger, clock } = given;
  const limits = findLimits(day, run, configured, clock());
  const parts = { ...given, limits };
  const source = parts.reader.locate(day);
  const collect = await beginCollect(run, source, parts);
  const ofDay = await listRunsOfDay(ledger, run.day);
  const others = ofDay.filter(({ id }) => id !== run.id);
  const collected = others.filter(({ collectedAt }) => collectedAt !== undefined);
  const delivered = run.topsUp ? await readDelivered(run, others, parts, signal) : undefined;
  const keys = collected.length > 0 ? createSourceKeys() : undefined;
  const bookings = createBookingStore(day.iso, limits.batchSize, collect, { delivered, source: keys });
  const obstacles = await takeBookings(day, run, bookings, parts, signal);
  const superseded = keys && (await findSuperseded(ledger, collected, keys));
  await bookings.addDelivered((booking) => superseded?.isSuperseded(booking) ?? false);
  const repetition = await compareWithEarlierDays(day, run, bookings, parts);
  await bookings.storeRest();
  // Also of a day that fails: it shows why nothing of it is taken.
  await compareWhere(bookings.where, run, collect, parts);
  checkGates(bookings.counts, limits, source);
  // The hook's call may have come in the meantime.
  if (mayCompleteDay(run)) checkExpected(bookings.counts, (await ledger.runs.get(run.id)).expected, source);
  const { posted, file } = bookings.accepted;
  const sendable = countRecords(bookings.counts) - bookings.counts.rejected;
  // A run that tops up the day stores a part of it, which may well be a single booking without a name, but reads all of it.
  const accepted = run.topsUp ? sendable : posted + file;
  if (delivery.kind === 'file') {
    checkPosted({ posted, of: accepted, obstacles }, limits, source);
    if (posted > 0 && file === 0) parts.notify({ type: 'no-review-file', run: nameOf(run), posted });
  }
  if (!run.topsUp) checkIncomplete(bookings.lacking, limits, source);
  if (repetition) checkRepeated(repetition, posted + file, limits, { source, day: day.iso });
  await checkVolume({ day: day.iso, accepted, providers: bookings.providers }, run, collect, parts);
  const canary = parts.canary && sendable > 0 ? makeCanary(parts.canary, run.id, clock()) : undefined;
  const steps = [...delivery.plan(bookings.accepted), ...(canary ? [canaryStep] : [])];
  return collect.finish({ steps, canary, superseded: superseded?.rows, at: clock() });
}

/** By day, a source has few bookings: without `volume` they are compared with no whole day. A person who asks for them is still told what is wrong with it. */
function findLimits(day: BusinessDay, run: Run, configured: CollectLimits, now: number): CollectLimits {
  if (!mayCompleteDay(run)) return limitsOfUnfinishedDay(configured);
  if (isDayOver(day, now)) return configured;
  const { volume: _, ...limits } = configured;
  return limits;
}

/** An event names its run, and holds nothing else of it. */
function nameOf({ id, day }: Run) {
  return { id, day };
}

/** Compares with the local copy of the mappings if there is one that is not empty. */
async function beginCollect(
  { id: runId, token }: Run,
  source: string,
  { delivery, ledger, limits: { batchSize }, clock, past }: CollectParts,
): Promise<Collect> {
  const now = clock();
  const copy = past && !(await past.mappings.isEmpty()) ? past.mappings : undefined;
  const { names: guestNames, masterIdName, masterIdColumn } = delivery;
  const start = {
    ...{ source, at: now, batchSize, guestNames, masterIdName, masterIdColumn },
    comparesMappings: !!copy,
  };
  const collect = await ledger.bookings.beginCollect({ runId, token }, start);
  return copy ? createComparingCollect(collect, copy, now) : collect;
}

/** What the other runs of the day delivered. */
async function readDelivered(
  { id }: Run,
  others: readonly Run[],
  { ledger, delivery }: CollectParts,
  signal: AbortSignal,
): Promise<DeliveredIndex> {
  const obstacle = describeIncomparable(others);
  if (obstacle !== undefined) throw new CollectError('names-blanked', obstacle);
  const forms = listNameForms(others);
  return indexDelivered(ledger, id, delivery, signal, {
    names: findComparableNames(delivery.names, forms),
  });
}

/** Reads the source to its end. @returns how many bookings each field keeps out of the review file */
async function takeBookings(
  day: BusinessDay,
  run: Run,
  bookings: BookingStore,
  { reader, delivery, limits, notify, readErased }: CollectParts,
  signal: AbortSignal,
): Promise<ReadonlyMap<ServiceField, number>> {
  const name = nameOf(run);
  const obstacles = new Map<ServiceField, number>();
  const erased = await readErased?.();
  try {
    for await (const chunk of reader.read(day, delivery, { signal, erased })) {
      for (const notice of chunk.notices ?? []) {
        notify({ type: 'source-notice', run: name, notice });
        bookings.warn({ reason: 'absent-column', count: 1 });
      }
      for (const [field, count] of chunk.obstacles ?? [])
        obstacles.set(field, (obstacles.get(field) ?? 0) + count);
      await bookings.take(chunk);
      const progress = chunk.progress && { progress: chunk.progress };
      notify({ type: 'collecting', run: name, read: bookings.counts.read, ...progress });
    }
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    if (!isExpectedOf(error, bookings.counts.read, limits))
      throw new CollectError(error.fault, error.message, { cause: error });
  }
  signal.throwIfAborted();
  return obstacles;
}

/** Undefined if they are not to be compared. Before the last bookings are stored: what can't be compared is a warning. */
async function compareWithEarlierDays(
  day: BusinessDay,
  { topsUp, trigger, acceptsRepeated }: Run,
  bookings: BookingStore,
  { past, limits, delivery }: CollectParts,
): Promise<Repetition | undefined> {
  const { posted, file } = bookings.accepted;
  // Late bookings are a person's word. Where today is reviewed, too, the nightly run tops the day up, and is nobody's.
  const isOnWord = acceptsRepeated || (topsUp && trigger === 'replay');
  if (!past || isOnWord || !isToCompare(posted + file, limits)) return undefined;
  const repetition = await findRepetition(day, { find: bookings.find, delivery, ledger: past });
  const { sent, incomparable } = repetition;
  if (sent > 0 && sent === incomparable) bookings.warn({ reason: 'earlier-days-not-compared', count: sent });
  return repetition;
}

/** Records what `source.where` left out, and warns if that is unusual. */
async function compareWhere(
  columns: readonly FilterColumn[] | undefined,
  run: Run,
  collect: Collect,
  { limits: { volume }, listsAllValues = false, past, notify }: CollectParts,
): Promise<void> {
  if (!columns) return;
  const warnings =
    past && volume
      ? compareFilters(run.day, columns, await past.runs.listFilters(run.day), volume.exceptions)
      : [];
  await collect.noteFilters({ columns: listsAllValues ? columns : forget(columns), warnings });
  for (const notice of warnings) notify({ type: 'source-notice', run: nameOf(run), notice });
}

/** Records the day's volume, and fails or warns if it is far below the usual one. */
async function checkVolume(
  { day, ...counted }: DayVolume,
  run: Run,
  collect: Collect,
  { limits: { volume: settings }, past, clock, notify }: CollectParts,
): Promise<void> {
  const comparison = past && settings && (await compareWithUsual({ day, ...counted }, past, settings));
  await collect.noteVolume({ ...counted, at: clock(), ...(comparison && { comparison }) });
  if (!comparison || !isUnusual(comparison) || acceptanceOf(run, 'volume')) return;
  const about = { run: nameOf(run), volume: comparison };
  if (comparison.drops.length === 0) return notify({ type: 'volume-low', ...about });
  if (settings?.onDrop === 'fail') {
    throw new CollectError(
      'volume-dropped',
      `far fewer bookings than usual: ${describeDrops(comparison).join('; ')}; nothing was sent: check the export, ` +
        `or accept this day with run ${day} --accept-volume`,
    );
  }
  notify({ type: 'volume-dropped', ...about });
}

async function compareWithUsual(
  counted: DayVolume,
  { runs }: ReadOnlyLedger,
  settings: VolumeSettings,
): Promise<VolumeComparison | undefined> {
  const days = daysToCompare(counted.day, settings.exceptions);
  const comparison = compareVolume(counted, await runs.listVolumes(days), settings);
  return comparison?.drops.some(isSilent)
    ? noteSilences(comparison, await runs.listCounted(days))
    : comparison;
}
