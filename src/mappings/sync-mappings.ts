import { yieldToEventLoop } from '../base/event-loop.js';
import { SafeError } from '../base/safe-error.js';
import { SyncOvertakenError } from '../ledger/errors.js';
import type { Ledger } from '../ledger/ledger.js';
import type { MappingRow, MappingSync, UnnamedDeletion } from '../ledger/mappings.js';
import { isDeletion } from '../service/answers.js';
import type { MappingServiceError } from '../service/errors.js';
import type { MappingRecord, MappingService, MappingsPage } from '../service/operations.js';
import type { NotifySync } from './events.js';
import { decideBounds } from './sync-bounds.js';
import { addPage, isOverAtKey, lowerLimit, type SyncPass, startNextPass, startPass } from './sync-pass.js';
import { explainLimit, needsShorterPage, refusesKey } from './sync-refusals.js';

/** Maximum restarts of a cycle in one sync: a service that never accepts its own keys must not be called for ever. */
const maxRestarts = 5;
/** How much of a record that could not be read is kept, in characters of JSON. */
const maxRecordLength = 2_000;
/** As many as a usual page has. */
const rowsAtOnce = 1_000;
/** By how much a sync overlaps the one before: clocks differ, and changes take a while to become visible. */
const overlapMs = 10 * 60_000;

interface SyncRequest {
  readonly providerFamily?: string | undefined;
  /** Overrides the usual lower bound, epoch milliseconds. */
  readonly since?: number | undefined;
}

interface SyncParts {
  readonly service: MappingService;
  readonly copy: Ledger['mappings'];
  /** Mappings per page, unless the service has refused so many. */
  readonly limit: number;
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
    let pass = startPass(sync.pageLimit ?? parts.limit);
    for (let restarts = 0; sync.endedAt === undefined; ) {
      const taken = await takePage(sync, pass, { request, parts, signal: stop });
      if (taken.kind === 'stored') sync = taken.sync;
      else if (taken.kind === 'too-long') {
        if (!lowerLimit(pass)) throw explainLimit(taken.refusal, pass.limit);
      } else if (isOverAtKey(pass)) sync = await endAtKey(sync, taken.refusal, parts);
      else if (restarts === maxRestarts) throw taken.refusal;
      else {
        restarts += 1;
        sync = await restart(sync, taken.refusal, parts);
        pass = startNextPass(pass);
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
  { copy, clock, createSyncId, notify }: SyncParts,
): Promise<MappingSync> {
  const last = await copy.latestSync(scope);
  if (last && last.endedAt === undefined && asked === undefined) {
    notify({ type: 'sync-begun', sync: last, isResumed: true });
    return last;
  }
  const bounds = decideBounds(last, { asked, overlapMs });
  const sync = await copy.beginSync({ scope, syncId: createSyncId(), at: clock(), ...bounds });
  notify({ type: 'sync-begun', sync, isResumed: false });
  return sync;
}

type TakenPage =
  | { readonly kind: 'stored'; readonly sync: MappingSync }
  /** The service refused the resume key. */
  | { readonly kind: 'refused'; readonly refusal: MappingServiceError }
  /** The service refused the limit, or the page was too large. */
  | { readonly kind: 'too-long'; readonly refusal: MappingServiceError };

async function takePage(
  sync: MappingSync,
  pass: SyncPass,
  {
    request: { providerFamily },
    parts: { service, copy, clock, notify },
    signal,
  }: { readonly request: SyncRequest; readonly parts: SyncParts; readonly signal: AbortSignal },
): Promise<TakenPage> {
  const { syncId, resumeKey, since } = sync;
  const { limit, isLowered } = pass;
  const askedAt = clock();
  let page: MappingsPage;
  try {
    page = await service.getMappings(
      {
        lastUpdateDateTime: new Date(since),
        syncId,
        limit,
        ...(providerFamily !== undefined && { providerFamily }),
        ...(resumeKey !== undefined && { resumeKey }),
      },
      { signal },
    );
  } catch (error) {
    if (resumeKey !== undefined && refusesKey(error)) return { kind: 'refused', refusal: error };
    if (needsShorterPage(error)) return { kind: 'too-long', refusal: error };
    throw error;
  }
  const now = clock();
  const nextKey = pass.pager.next(page, resumeKey);
  const about = { syncId, ...(resumeKey !== undefined && { after: resumeKey }), at: now };
  const rows = page.Mappings.map((record) => readMappingRow(record));
  // A service may answer many more than it was asked for: all at once, they would hold up everything else.
  for (; rows.length > rowsAtOnce; await yieldToEventLoop(signal))
    await copy.storePage({ ...about, rows: rows.splice(0, rowsAtOnce), isPart: true });
  const stored = await copy.storePage({
    ...about,
    ...(nextKey !== undefined && { resumeKey: nextKey }),
    rows,
    skipped: page.skipped.map(({ reason, record }) => ({
      reason,
      record: JSON.stringify(record).slice(0, maxRecordLength),
    })),
    // The service read its data at some time between our request and its answer.
    ...(page.answeredAt && { serviceBeganAt: page.answeredAt.getTime() - (now - askedAt) }),
    ...(isLowered && { pageLimit: limit }),
  });
  addPage(pass, page, countChanges(stored) - countChanges(sync));
  const [firstSkipped] = page.skipped;
  if (firstSkipped) {
    const { reason } = firstSkipped;
    notify({ type: 'mappings-skipped', sync: stored, count: page.skipped.length, reason });
  }
  if (isLowered) notify({ type: 'pages-shortened', sync: stored, limit });
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

/** Converts a mapping record (spec 2.2) for the copy. */
function readMappingRow({
  ServiceId,
  ProviderName,
  ProviderHotelId,
  ProviderLocationCode,
  Type,
  ChannelIds,
}: MappingRecord): MappingRow | UnnamedDeletion {
  const hotel = {
    providerName: ProviderName,
    providerHotelId: ProviderHotelId,
    ...(typeof ProviderLocationCode === 'string' && { locationCode: ProviderLocationCode }),
    channelIds: ChannelIds ?? [],
  };
  // Only deletions lack it.
  if (ServiceId === null) return { ...hotel, isDeleted: true };
  return { ...hotel, serviceId: ServiceId, isDeleted: isDeletion(Type) };
}

/** A live process is syncing. */
export class SyncBusyError extends SafeError {
  override readonly name = 'SyncBusyError';
}
