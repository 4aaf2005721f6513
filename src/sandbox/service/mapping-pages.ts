import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { readInstant } from '../../booking/business-day.js';
import { Refusal } from '../common/refusal.js';
import { channelIdsOf, locationCodeOf } from '../world/mapping-fields.js';
import type { Mapping, World } from '../world/world.js';

/** A page of changed mappings as it is answered. (Spec 2.3.) */
interface MappingPage {
  /** Null on the last page. */
  readonly ResumeKey: string | null;
  readonly Mappings: readonly object[];
}

/** The parameters of Get Mappings. (Spec 4.1.) */
interface MappingsQuery {
  readonly syncId: string;
  /** The lower bound of changes, in epoch milliseconds. */
  readonly since: number;
  readonly providerFamily: string | undefined;
  readonly resumeKey: string | undefined;
  readonly limit: number;
}

/** The position of a retrieval. It holds no rows. */
interface Cursor extends Pick<MappingsQuery, 'syncId' | 'since' | 'providerFamily'> {
  /** The place of the next row in the world's history. */
  readonly from: number;
}

/** As observed in a live deployment. (Design 6.) */
const defaultLimit = 10;
const maxSyncIdLength = 200;
const keyMs = 14 * 86_400_000;
/** How long an expired key is still distinguished from an unknown one. */
const rememberedMs = 86_400_000;

/**
 * Reads the pages of Get Mappings (spec 4.1): each mapping that changed since the lower bound, once, with its latest change. A
 * resume key can be reused and always gives the same page.
 *
 * @param maxLimit the most mappings that a page may have
 * @throws Refusal
 */
export function createMappingPages(world: World, clock: () => number, maxLimit: number) {
  const cursors = new Map<string, { readonly cursor: Cursor; readonly expiresAt: number }>();

  function issueKey(cursor: Cursor): string {
    const now = clock();
    for (const [key, { expiresAt }] of cursors) if (now >= expiresAt + rememberedMs) cursors.delete(key);
    const key = randomUUID();
    cursors.set(key, { cursor, expiresAt: now + keyMs });
    return key;
  }

  function findCursor({ syncId, since, providerFamily, resumeKey }: MappingsQuery): Cursor {
    if (resumeKey === undefined) {
      const place = world.history.findIndex(({ changedAt }) => changedAt >= since);
      return { syncId, since, providerFamily, from: place === -1 ? world.history.length : place };
    }
    const known = cursors.get(resumeKey.toLowerCase());
    if (!known) throw new Refusal(2006, 'resumeKey: there is no such key; start again without one.');
    const { cursor, expiresAt } = known;
    if (clock() >= expiresAt)
      throw new Refusal(2027, 'resumeKey: the key has expired; start again without one.');
    if (cursor.syncId !== syncId)
      throw new Refusal(2006, 'resumeKey: the key belongs to the calls of another syncId.');
    if (cursor.since !== since || cursor.providerFamily !== providerFamily)
      throw new Refusal(
        2006,
        'resumeKey: the key belongs to another lastUpdateDateTime or providerFamily; repeat those of the first page.',
      );
    return cursor;
  }

  function render(mapping: Mapping, since: number): object {
    const hotel = world.hotelOf(mapping.serviceId);
    return {
      ServiceId: mapping.serviceId,
      ProviderHotelId: mapping.providerHotelId,
      ProviderName: mapping.providerName,
      ProviderLocationCode: hotel ? locationCodeOf(mapping, hotel) : null,
      Type: typeOf(mapping, since),
      ChannelIds: channelIdsOf(mapping),
    };
  }

  return {
    readQuery: (headers: IncomingHttpHeaders, parameters: URLSearchParams) =>
      readMappingsQuery(headers, parameters, world.providers, maxLimit),
    readPage(query: MappingsQuery): MappingPage {
      const cursor = findCursor(query);
      const Mappings: object[] = [];
      for (let place = cursor.from; place < world.history.length; place += 1) {
        const mapping = world.history[place] as Mapping;
        if (query.providerFamily !== undefined && mapping.providerName !== query.providerFamily) continue;
        if (Mappings.length === query.limit)
          return { ResumeKey: issueKey({ ...cursor, from: place }), Mappings };
        Mappings.push(render(mapping, cursor.since));
      }
      return { ResumeKey: null, Mappings };
    },
  };
}

/** What happened to a mapping since the lower bound. */
function typeOf({ isDeleted, createdAt }: Mapping, since: number): 'New' | 'Update' | 'Delete' {
  if (isDeleted) return 'Delete';
  return createdAt >= since ? 'New' : 'Update';
}

/** Reads the header and the parameters; the first fault refuses the call. A blank parameter counts as not given. */
function readMappingsQuery(
  { syncid: syncId }: IncomingHttpHeaders,
  parameters: URLSearchParams,
  providers: readonly string[],
  maxLimit: number,
): MappingsQuery {
  if (typeof syncId !== 'string' || syncId.trim() === '')
    throw new Refusal(2016, 'The header syncId is missing: all calls of a sync cycle share one.');
  if (syncId.length > maxSyncIdLength)
    throw new Refusal(2016, `The header syncId: expected at most ${maxSyncIdLength} characters.`);

  const written = read(parameters, 'lastUpdateDateTime');
  if (written === undefined)
    throw new Refusal(2017, 'lastUpdateDateTime is missing: expected an ISO 8601 date-time in UTC.');
  const since = readUtcInstant(written);
  if (since === undefined)
    throw new Refusal(
      2007,
      'lastUpdateDateTime: expected an ISO 8601 date-time in UTC such as 2026-11-20T00:00:00Z (a plus sign is written %2B).',
    );

  const limitText = read(parameters, 'limit') ?? String(defaultLimit);
  const limit = /^\d{1,9}$/.test(limitText) ? Number(limitText) : 0;
  if (limit < 1 || limit > maxLimit)
    throw new Refusal(2012, `limit: expected an integer from 1 to ${maxLimit}.`);

  const providerFamily = read(parameters, 'providerFamily');
  if (providerFamily !== undefined && !providers.includes(providerFamily))
    throw new Refusal(2011, `providerFamily: expected one of ${providers.join(', ')}, in exact case.`);
  return { syncId, since, providerFamily, resumeKey: read(parameters, 'resumeKey'), limit };
}

const utcInstant = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}(?::\d{2})?)(?:[.,](\d{1,9}))?(?:Z|\+00:00)$/;

/** Epoch milliseconds, rounded down so that no change at the bound is missed. */
function readUtcInstant(text: string): number | undefined {
  const [, day, time, fraction = ''] = utcInstant.exec(text) ?? [];
  if (day === undefined || time === undefined) return undefined;
  const instant = readInstant(`${day}T${time.padEnd(8, ':00')}.${fraction.slice(0, 3).padEnd(3, '0')}Z`);
  return Number.isNaN(instant) ? undefined : instant;
}

function read(parameters: URLSearchParams, name: string): string | undefined {
  const value = parameters.get(name);
  return value === null || value.trim() === '' ? undefined : value;
}
