import { MappingServiceError } from '../mapping-service/errors.js';
import type { MappingRecord, MappingService, MappingsPage } from '../mapping-service/operations.js';
import { createPager, digestOf, type Pager, type PagingRules } from '../mapping-service/paging.js';
import { SafeError } from '../text/safe-error.js';
import {
  type MappingCopy,
  type MappingRow,
  type MappingSync,
  type NewMasterHotel,
  SyncOvertakenError,
  type UnnamedDeletion,
} from './mapping-copy.js';

/** Maximum restarts of a cycle in one sync: a service that never accepts its own keys must not be called for ever. */
const maxRestarts = 5;
/** How much of a record that could not be read is kept, in characters of JSON. */
const maxRecordLength = 2_000;
/** The StatusCode for a limit that the account doesn't allow. (Design 6.) */
const invalidLimit = 2012;
/** HTTP statuses by which the service may say that a key is gone. */
const goneStatuses: readonly unknown[] = [404, 410];

interface SyncSettings extends PagingRules {
  /** Mappings per page. */
  readonly limit: number;
  readonly overlapMs: number;
  /** The values of `Type` that mean a deleted mapping. */
  readonly deletedTypes: readonly string[];
  /** The StatusCodes that mean a refused resume key. */
  readonly resumeKeyCodes: readonly number[];
}

interface SyncRequest {
  readonly providerFamily?: string | undefined;
  /** Overrides the usual lower bound, epoch milliseconds. */
  readonly since?: number | undefined;
}

interface SyncParts {
  readonly service: Pick<MappingService, 'getMappings'>;
  readonly copy: MappingCopy;
  readonly settings: SyncSettings;
  /** Epoch milliseconds. */
  readonly clock: () => number;
  readonly createSyncId: () => string;
  readonly notify: NotifySync;
}

/**
 * Updates the local copy with all changes since the last sync, page by page, never two calls at once. Each page is stored
 * together with the key of the next one in one transaction, so that an interrupted sync resumes where it stopped.
 *
 * @throws SyncBusyError; SyncOvertakenError when another process has continued it; MappingServiceError when the service
 * returns no page; the signal's reason when aborted
 */
export async function syncMappings(
  request: SyncRequest,
  parts: SyncParts,
  signal: AbortSignal,
): Promise<MappingSync> {
  const hold = await parts.copy.holdSync();
  if (!hold) throw new SyncBusyError('the local copy of the mappings is being synced by another process');
  try {
    const stop = AbortSignal.any([signal, hold.lost]);
    let sync = await openSync(request, parts);
    let pass = startPass(parts.settings);
    for (let restarts = 0; sync.endedAt === undefined; ) {
      const taken = await takePage(sync, pass, { request, parts, signal: stop });
      if (taken.kind === 'stored') sync = taken.sync;
      else if (isOverAtKey(pass, parts.settings.limit)) sync = await endAtKey(sync, taken.refusal, parts);
      else if (restarts === maxRestarts) throw taken.refusal;
      else {
        restarts += 1;
        sync = await restart(sync, taken.refusal, parts);
        pass = startPass(parts.settings, pass);
      }
    }
    return sync;
  } catch (error) {
    if (hold.lost.aborted && !signal.aborted)
      throw new SyncOvertakenError('the right to sync was lost: another process may be syncing', {
        cause: error,
      });
    throw error;
  } finally {
    await hold.release();
  }
}

async function openSync(
  { providerFamily: scope = '', since: asked }: SyncRequest,
  { copy, settings, clock, createSyncId, notify }: SyncParts,
): Promise<MappingSync> {
  const last = await copy.latestSync(scope);
  if (last && last.endedAt === undefined && asked === undefined) {
    notify({ type: 'sync-begun', sync: last, isResumed: true });
    return last;
  }
  const bounds = decideBounds(last, { asked, overlapMs: settings.overlapMs });
  const sync = await copy.beginSync({ scope, syncId: createSyncId(), at: clock(), ...bounds });
  notify({ type: 'sync-begun', sync, isResumed: false });
  return sync;
}

/** One reading of a cycle's pages: from its lower bound, or from where it was interrupted, until a key is refused. */
interface Pass {
  readonly pager: Pager;
  /** How many rows changed the copy. */
  changes: number;
  /** The number of rows of the longest page but the last. */
  longest: number;
  last: MappingsPage | undefined;
  /** The last page of the pass before this one. */
  readonly lastBefore: MappingsPage | undefined;
}

function startPass(rules: PagingRules, before?: Pass): Pass {
  return { pager: createPager(rules), changes: 0, longest: 0, last: undefined, lastBefore: before?.last };
}

const countRows = ({ Mappings, skipped }: MappingsPage) => Mappings.length + skipped.length;

/**
 * Whether a refused key turns out to be that of the last page: the pages were read again from the lower bound, nothing in them
 * was new, the key after the same page was refused again, and that page was not full.
 */
function isOverAtKey({ changes, longest, last, lastBefore }: Pass, limit: number): boolean {
  if (!last || !lastBefore || changes > 0) return false;
  const isFull = countRows(last) >= (longest === 0 ? limit : Math.min(limit, longest));
  return !isFull && digestOf(last) === digestOf(lastBefore);
}

type TakenPage =
  | { readonly kind: 'stored'; readonly sync: MappingSync }
  /** The service refused the resume key. */
  | { readonly kind: 'refused'; readonly refusal: MappingServiceError };

async function takePage(
  sync: MappingSync,
  pass: Pass,
  {
    request: { providerFamily },
    parts: { service, copy, settings, clock, notify },
    signal,
  }: { readonly request: SyncRequest; readonly parts: SyncParts; readonly signal: AbortSignal },
): Promise<TakenPage> {
  const { syncId, resumeKey, since } = sync;
  const askedAt = clock();
  let page: MappingsPage;
  try {
    page = await service.getMappings(
      {
        lastUpdateDateTime: new Date(since),
        syncId,
        limit: settings.limit,
        ...(providerFamily !== undefined && { providerFamily }),
        ...(resumeKey !== undefined && { resumeKey }),
      },
      { signal },
    );
  } catch (error) {
    if (resumeKey !== undefined && refusesKey(error, settings)) return { kind: 'refused', refusal: error };
    throw refusesLimit(error) ? explainLimit(error, settings.limit) : error;
  }
  const now = clock();
  const nextKey = pass.pager.next(page, resumeKey);
  const stored = await copy.storePage({
    syncId,
    ...(resumeKey !== undefined && { after: resumeKey }),
    ...(nextKey !== undefined && { resumeKey: nextKey }),
    rows: page.Mappings.map((record) => readMappingRow(record, settings.deletedTypes)),
    skipped: page.skipped.map(({ reason, record }) => ({
      reason,
      record: JSON.stringify(record).slice(0, maxRecordLength),
    })),
    // The service read its data at some time between our request and its answer.
    ...(page.answeredAt && { serviceBeganAt: page.answeredAt.getTime() - (now - askedAt) }),
    at: now,
  });
  if (pass.last) pass.longest = Math.max(pass.longest, countRows(pass.last));
  pass.last = page;
  pass.changes += countChanges(stored) - countChanges(sync);
  const [firstSkipped] = page.skipped;
  if (firstSkipped) {
    const { reason } = firstSkipped;
    notify({ type: 'mappings-skipped', sync: stored, count: page.skipped.length, reason });
  }
  notify({ type: 'page-stored', sync: stored });
  return { kind: 'stored', sync: stored };
}

function countChanges({ counts: { added, moved, updated, deleted } }: MappingSync): number {
  return added + moved + updated + deleted;
}

async function restart(
  { syncId, resumeKey }: MappingSync,
  { code }: MappingServiceError,
  { copy, notify }: Pick<SyncParts, 'copy' | 'notify'>,
): Promise<MappingSync> {
  const sync = await copy.restartSync({ syncId, ...(resumeKey !== undefined && { resumeKey }) });
  notify({ type: 'sync-restarted', sync, code });
  return sync;
}

async function endAtKey(
  { syncId, resumeKey }: MappingSync,
  { code }: MappingServiceError,
  { copy, clock, notify }: Pick<SyncParts, 'copy' | 'clock' | 'notify'>,
): Promise<MappingSync> {
  const sync = await copy.storePage({
    syncId,
    ...(resumeKey !== undefined && { after: resumeKey }),
    rows: [],
    at: clock(),
  });
  notify({ type: 'sync-ended-at-key', sync, code });
  notify({ type: 'page-stored', sync });
  return sync;
}

function refusesLimit(error: unknown): error is MappingServiceError {
  return error instanceof MappingServiceError && error.statusCode === invalidLimit;
}

function explainLimit(error: MappingServiceError, limit: number): MappingServiceError {
  const { kind, code, operation, httpStatus, statusCode, answer } = error;
  return new MappingServiceError(
    `getMappings was refused by the service (${code}, invalid limit): the account does not allow ${limit} mappings per page; set mappings.limit to a lower number, such as 1000.`,
    {
      ...{ kind, code, operation },
      ...(httpStatus !== undefined && { httpStatus }),
      ...(statusCode !== undefined && { statusCode }),
      ...(answer !== undefined && { answer }),
    },
    { cause: error },
  );
}

/** Whether the service refused a call because of its resume key. */
function refusesKey(
  error: unknown,
  { resumeKeyCodes }: Pick<SyncSettings, 'resumeKeyCodes'>,
): error is MappingServiceError {
  if (!(error instanceof MappingServiceError)) return false;
  const { kind, statusCode, httpStatus } = error;
  if (statusCode !== undefined && resumeKeyCodes.includes(statusCode)) return true;
  if (statusCode === invalidLimit) return false;
  return kind === 'refused' || goneStatuses.includes(httpStatus);
}

/** The lower bound of the very first sync. */
const firstBound = 0;

/** The lower bound of a cycle, and the one that the next cycle must keep. */
interface SyncBounds {
  readonly since: number;
  readonly keepsSince?: number;
}

/**
 * The lower bound of a new cycle: the start of the last one by the service's clock, minus an overlap so that nothing is
 * missed in between. A requested bound later than that leaves a gap, so the next cycle still starts before it.
 *
 * @param asked the lower bound that a person requested, epoch milliseconds
 */
export function decideBounds(
  last: MappingSync | undefined,
  { asked, overlapMs }: { readonly asked?: number | undefined; readonly overlapMs: number },
): SyncBounds {
  const reached = last && readCompleteUntil(last, overlapMs);
  if (asked === undefined) return { since: reached ?? firstBound };
  return reached !== undefined && asked > reached ? { since: asked, keepsSince: reached } : { since: asked };
}

/**
 * The instant up to which the copy is complete, epoch milliseconds. An unfinished cycle is complete only up to its start.
 *
 * @param overlapMs subtracted where the cycle has ended
 */
export function readCompleteUntil(
  { endedAt, keepsSince, since, serviceBeganAt, at }: MappingSync,
  overlapMs: number,
): number {
  if (keepsSince !== undefined) return keepsSince;
  if (endedAt === undefined) return since;
  return Math.max(firstBound, (serviceBeganAt ?? at) - overlapMs);
}

/** Converts a mapping record (spec 2.2) for the copy. @param deletedTypes upper and lower case are equal */
function readMappingRow(
  { ServiceId, ProviderName, ProviderHotelId, ProviderLocationCode, Type, ChannelIds }: MappingRecord,
  deletedTypes: readonly string[],
): MappingRow | UnnamedDeletion {
  const type = Type?.trim().toLowerCase();
  const hotel = {
    providerName: ProviderName,
    providerHotelId: ProviderHotelId,
    ...(typeof ProviderLocationCode === 'string' && { locationCode: ProviderLocationCode }),
    channelIds: ChannelIds ?? [],
  };
  // Only deletions lack it.
  if (ServiceId === null) return { ...hotel, isDeleted: true };
  const isDeleted = deletedTypes.some((deleted) => deleted.toLowerCase() === type);
  return { ...hotel, serviceId: ServiceId, isDeleted };
}

const pageSize = 1_000;

/** The master hotels that no list has contained yet, page by page, in the order in which they were first seen. */
export async function* readNewHotels(
  copy: Pick<MappingCopy, 'listNewHotels'>,
): AsyncGenerator<readonly NewMasterHotel[], void, undefined> {
  let after = 0;
  for (;;) {
    const page = await copy.listNewHotels({ after, limit: pageSize });
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    after = last.number;
  }
}

/** Progress of a sync. */
export type SyncEvent =
  | { readonly type: 'sync-begun'; readonly sync: MappingSync; readonly isResumed: boolean }
  | { readonly type: 'page-stored'; readonly sync: MappingSync }
  /** The service no longer knows the resume key: the cycle restarts at its lower bound. */
  | { readonly type: 'sync-restarted'; readonly sync: MappingSync; readonly code: string }
  /** The key after the last page was refused again, and nothing was new before it: the cycle is complete. */
  | { readonly type: 'sync-ended-at-key'; readonly sync: MappingSync; readonly code: string }
  /** This many records of a page could not be read; `reason` is the first one's. */
  | {
      readonly type: 'mappings-skipped';
      readonly sync: MappingSync;
      readonly count: number;
      readonly reason: string;
    };

export type NotifySync = (event: SyncEvent) => void;

/** A live process is syncing. */
export class SyncBusyError extends SafeError {
  override readonly name = 'SyncBusyError';
}
