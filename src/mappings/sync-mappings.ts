import { MappingServiceError } from '../mapping-service/errors.js';
import type { MappingRecord, MappingService, MappingsPage } from '../mapping-service/operations.js';
import { SafeError } from '../text/safe-error.js';
import {
  type MappingCopy,
  type MappingRow,
  type MappingSync,
  type NewMasterHotel,
  SyncOvertakenError,
} from './mapping-copy.js';

/** Maximum restarts of a cycle in one sync: a service that never accepts its own keys must not be called for ever. */
const maxRestarts = 5;
/** HTTP statuses by which the service may say that a key is gone. */
const goneStatuses: readonly unknown[] = [404, 410];

interface SyncSettings {
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
    for (let restarts = 0; sync.endedAt === undefined; ) {
      const taken = await takePage(sync, request, parts, stop, restarts < maxRestarts);
      if (taken.restarted) restarts += 1;
      sync = taken.sync;
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

async function takePage(
  sync: MappingSync,
  { providerFamily }: SyncRequest,
  { service, copy, settings, clock, notify }: SyncParts,
  signal: AbortSignal,
  mayRestart: boolean,
): Promise<{ readonly sync: MappingSync; readonly restarted: boolean }> {
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
    if (!mayRestart || resumeKey === undefined || !refusesKey(error, settings)) throw error;
    const restarted = await copy.restartSync({ syncId, resumeKey });
    notify({ type: 'sync-restarted', sync: restarted, code: error.code });
    return { sync: restarted, restarted: true };
  }
  const now = clock();
  const nextKey = readNextKey(page, resumeKey);
  const stored = await copy.storePage({
    syncId,
    ...(resumeKey !== undefined && { after: resumeKey }),
    ...(nextKey !== undefined && { resumeKey: nextKey }),
    rows: page.Mappings.map((record) => readMappingRow(record, settings.deletedTypes)),
    // The service read its data at some time between our request and its answer.
    ...(page.answeredAt && { serviceBeganAt: page.answeredAt.getTime() - (now - askedAt) }),
    at: now,
  });
  notify({ type: 'page-stored', sync: stored });
  return { sync: stored, restarted: false };
}

/** A blank key means none. A key that comes back unchanged would be requested for ever. */
function readNextKey({ ResumeKey: key }: MappingsPage, resumeKey: string | undefined): string | undefined {
  if (typeof key !== 'string' || key.trim() === '') return undefined;
  if (key !== resumeKey) return key;
  throw new MappingServiceError(
    'getMappings returned the same ResumeKey that was sent, so that no page would ever be the last',
    { kind: 'invalid-answer', code: 'invalid-answer', operation: 'getMappings', field: 'ResumeKey' },
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
): MappingRow {
  const type = Type?.trim().toLowerCase();
  return {
    serviceId: ServiceId,
    providerName: ProviderName,
    providerHotelId: ProviderHotelId,
    ...(typeof ProviderLocationCode === 'string' && { locationCode: ProviderLocationCode }),
    channelIds: ChannelIds ?? [],
    isDeleted: deletedTypes.some((deleted) => deleted.toLowerCase() === type),
  };
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
  | { readonly type: 'sync-restarted'; readonly sync: MappingSync; readonly code: string };

export type NotifySync = (event: SyncEvent) => void;

/** A live process is syncing. */
export class SyncBusyError extends SafeError {
  override readonly name = 'SyncBusyError';
}
