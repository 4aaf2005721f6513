import { createHash } from 'node:crypto';
import { yieldToEventLoop } from '../base/event-loop.js';
import { SafeError } from '../base/safe-error.js';
import { SyncOvertakenError } from '../ledger/errors.js';
import type { Ledger } from '../ledger/ledger.js';
import type { MappingSync, ReportedRow } from '../ledger/mappings.js';
import { InvalidField, isDeletion } from '../service/answers.js';
import { tooLargeCode } from '../service/call-result.js';
import { invalidAnswer, MappingServiceError } from '../service/errors.js';
import type { MappingRecord, MappingService, MappingsPage } from '../service/operations.js';
import type { NotifySync } from './events.js';
import { decideBounds } from './sync-bounds.js';

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
  const { copy, notify } = parts;
  const hold = await copy.holdSync();
  if (!hold) throw new SyncBusyError('the local copy of the mappings is being synced by another process');
  try {
    const stop = AbortSignal.any([signal, hold.lost]);
    let sync = await openSync(request, parts);
    const pass = { limit: sync.pageLimit ?? parts.limit, isLowered: false, pager: createPager() };
    for (let restarts = 0; sync.endedAt === undefined; ) {
      const taken = await takePage(sync, pass, { request, parts, signal: stop });
      if (taken.kind === 'stored') sync = taken.sync;
      else if (taken.kind === 'too-long') {
        if (!lowerLimit(pass)) throw explainLimit(taken.refusal, pass.limit);
      } else if (restarts === maxRestarts) throw taken.refusal;
      else {
        restarts += 1;
        const { syncId, resumeKey } = sync;
        sync = await copy.restartSync({ syncId, ...(resumeKey !== undefined && { resumeKey }) });
        notify({ type: 'sync-restarted', sync, code: taken.refusal.code });
        pass.pager = createPager();
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

/** `refused`: the service refused the resume key. `too-long`: it refused the limit, or the page was too large. */
async function takePage(
  sync: MappingSync,
  pass: SyncPass,
  {
    request: { providerFamily },
    parts: { service, copy, clock, notify },
    signal,
  }: { readonly request: SyncRequest; readonly parts: SyncParts; readonly signal: AbortSignal },
) {
  const { syncId, resumeKey, since } = sync;
  const { limit, isLowered } = pass;
  const askedAt = clock();
  let page: MappingsPage;
  try {
    page = await service.getMappings(
      { lastUpdateDateTime: new Date(since), syncId, limit, providerFamily, resumeKey },
      { signal },
    );
  } catch (error) {
    if (resumeKey !== undefined && refusesKey(error)) return { kind: 'refused', refusal: error } as const;
    if (needsShorterPage(error)) return { kind: 'too-long', refusal: error } as const;
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
  pass.isLowered = false;
  const [firstSkipped] = page.skipped;
  if (firstSkipped) {
    const { reason } = firstSkipped;
    notify({ type: 'mappings-skipped', sync: stored, count: page.skipped.length, reason });
  }
  if (isLowered) notify({ type: 'pages-shortened', sync: stored, limit });
  notify({ type: 'page-stored', sync: stored });
  return { kind: 'stored', sync: stored } as const;
}

/** Converts a mapping record (spec 2.2) for the copy. */
function readMappingRow({
  ServiceId,
  ProviderName,
  ProviderHotelId,
  ProviderLocationCode,
  Type,
  ChannelIds,
}: MappingRecord): ReportedRow {
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

/** The StatusCode for a limit that the account doesn't allow. */
const invalidLimit = 2012;
/** The StatusCodes for an unknown and an expired key. */
const resumeKeyCodes: readonly number[] = [2006, 2027];
/** HTTP statuses by which the service may say that a key is gone. */
const goneStatuses: readonly unknown[] = [404, 410];

/** Whether a page of fewer mappings may succeed. */
function needsShorterPage(error: unknown): error is MappingServiceError {
  if (!(error instanceof MappingServiceError)) return false;
  return error.statusCode === invalidLimit || error.code === tooLargeCode;
}

/** Says what was refused. */
function explainLimit(error: MappingServiceError, limit: number): MappingServiceError {
  const { code } = error;
  return new MappingServiceError(
    code === tooLargeCode
      ? `getMappings asked for ${limit} mappings and got an answer that is larger than so many can be (${code}); ask the operator of the service.`
      : `getMappings was refused by the service (${code}, invalid limit): the account does not even allow ${limit} mappings per page; ask the operator of the service.`,
    error,
    { cause: error },
  );
}

/** Whether the service refused a call because of its resume key. */
function refusesKey(error: unknown): error is MappingServiceError {
  if (!(error instanceof MappingServiceError)) return false;
  const { kind, statusCode, httpStatus } = error;
  if (statusCode !== undefined && resumeKeyCodes.includes(statusCode)) return true;
  if (statusCode === invalidLimit) return false;
  return kind === 'refused' || goneStatuses.includes(httpStatus);
}

/** One reading of a cycle's pages, from its lower bound or from where it was interrupted. */
interface SyncPass {
  /** Mappings per page. */
  limit: number;
  /** Whether the limit was lowered, and no page has come since. */
  isLowered: boolean;
  pager: ReturnType<typeof createPager>;
}

/** What any account is expected to allow: the service's default. */
const leastLimit = 10;

/** Halves the limit after the service refused it, or answered too much. Returns false where it can't be lower. */
function lowerLimit(pass: SyncPass): boolean {
  if (pass.limit <= leastLimit) return false;
  pass.limit = Math.max(leastLimit, Math.floor(pass.limit / 2));
  pass.isLowered = true;
  return true;
}

type Page = Omit<MappingsPage, 'answeredAt'>;

/** How many consecutive pages may contain nothing new. */
const mostWithoutNews = 10;

/**
 * Decides after each page whether another one follows. The specification shows neither what the last page looks like, so a page
 * without rows or without a key is the last, nor whether keys differ, so a page is judged by its rows: one that only repeats an
 * earlier page of the retrieval is nothing new, and a service that returns such pages for ever is not called for ever.
 */
export function createPager() {
  const seen = new Set<string>();
  let previous: string | undefined;
  let withoutNews = 0;
  return {
    /**
     * The key of the page after this one; undefined when this was the last.
     *
     * @param sentKey the key with which the page was requested
     * @throws MappingServiceError when the pages would never end
     */
    next(page: Page, sentKey: string | undefined): string | undefined {
      const key = keyOf(page);
      if (key === undefined || page.Mappings.length + page.skipped.length === 0) return undefined;
      const digest = digestOf(page);
      if (key === sentKey && digest === previous)
        throw endless(
          'expected a ResumeKey for the next page, got: the key that was sent, and the same page again',
        );
      withoutNews = seen.has(digest) ? withoutNews + 1 : 0;
      if (withoutNews >= mostWithoutNews)
        throw endless(
          `expected a last page, got: ${withoutNews} pages in a row with a ResumeKey and nothing new`,
        );
      seen.add(digest);
      previous = digest;
      return key;
    },
  };
}

/** A blank key means none. */
function keyOf({ ResumeKey: key }: Page): string | undefined {
  return typeof key === 'string' && key.trim() !== '' ? key : undefined;
}

function endless(message: string) {
  return invalidAnswer('getMappings', new InvalidField('ResumeKey', message));
}

/** The same rows in the same order have the same digest. */
function digestOf({ Mappings, skipped }: Page): string {
  return createHash('sha256')
    .update(JSON.stringify([Mappings, skipped]))
    .digest('base64');
}
