import { randomUUID } from 'node:crypto';
import { type Refusal, refusal } from '../common/answer.js';
import { channelIdsOf, locationCodeOf, type StatedMapping } from '../world/stated-mapping.js';
import type { World } from '../world/world.js';
import type { MappingsQuery } from './mappings-query.js';
import { type Cursor, createResumeKeys } from './resume-keys.js';

/** A page of changed mappings as it is answered. (Spec 2.3.) */
interface MappingPage {
  readonly kind: 'page';
  /** By default null on the last page. */
  readonly resumeKey: string | null;
  readonly mappings: readonly object[];
}

/**
 * The key of the last page, which the specification doesn't show: `null`; `fresh`, so that empty pages with fresh keys follow
 * without end; or `refused`, one that is refused.
 */
export type LastPageKey = 'null' | 'fresh' | 'refused';

export interface MappingPagesOptions {
  readonly world: World;
  /** What this deployment calls the master hotel id. */
  readonly masterIdName: string;
  /** How long a key is valid. */
  readonly resumeKeyMs: number;
  /** `null` by default. */
  readonly lastPageKey?: LastPageKey | undefined;
  /** Epoch milliseconds. */
  readonly clock: () => number;
}

/** Reads the pages of Get Mappings (spec 4.1): each mapping that changed since the lower bound, once, with its latest change. */
export function createMappingPages(options: MappingPagesOptions) {
  const { world, masterIdName, resumeKeyMs, lastPageKey = 'null', clock } = options;
  const keys = createResumeKeys(resumeKeyMs, clock);

  function findCursor(query: MappingsQuery): { readonly kind: 'found'; readonly cursor: Cursor } | Refusal {
    const { syncId, since, providerFamily, resumeKey } = query;
    if (resumeKey === undefined) {
      const place = world.history.findIndex(({ changedAt }) => changedAt >= since);
      const from = place === -1 ? world.history.length : place;
      return { kind: 'found', cursor: { syncId, since, providerFamily, from } };
    }
    const found = keys.find(resumeKey);
    switch (found.kind) {
      case 'unknown':
        return refusal(2006, 'resumeKey: there is no such key; start again without one.');
      case 'expired':
        return refusal(2027, 'resumeKey: the key has expired; start again without one.');
      case 'found': {
        const { cursor } = found;
        if (cursor.syncId !== syncId)
          return refusal(2006, 'resumeKey: the key belongs to the calls of another syncId.');
        if (cursor.since !== since || cursor.providerFamily !== providerFamily)
          return refusal(
            2006,
            'resumeKey: the key belongs to another lastUpdateDateTime or providerFamily; repeat those of the first page.',
          );
        return found;
      }
    }
  }

  function render(mapping: StatedMapping, since: number): object {
    const hotel = world.hotelOf(mapping.serviceId);
    return {
      [masterIdName]: mapping.serviceId,
      ProviderHotelId: mapping.providerHotelId,
      ProviderName: mapping.providerName,
      ProviderLocationCode: hotel ? locationCodeOf(mapping, hotel) : null,
      Type: typeOf(mapping, since),
      ChannelIds: channelIdsOf(mapping),
    };
  }

  return (query: MappingsQuery): MappingPage | Refusal => {
    const found = findCursor(query);
    if (found.kind === 'refusal') return found;
    const { cursor } = found;
    const mappings: object[] = [];
    for (let place = cursor.from; place < world.history.length; place += 1) {
      const mapping = world.history[place] as StatedMapping;
      if (query.providerFamily !== undefined && mapping.providerName !== query.providerFamily) continue;
      if (mappings.length === query.limit) {
        const resumeKey = keys.issue({ ...cursor, from: place });
        return { kind: 'page', resumeKey, mappings };
      }
      mappings.push(render(mapping, cursor.since));
    }
    return { kind: 'page', resumeKey: keyAfterLast(cursor), mappings };
  };

  function keyAfterLast(cursor: Cursor): string | null {
    switch (lastPageKey) {
      case 'null':
        return null;
      case 'fresh':
        return keys.issue({ ...cursor, from: world.history.length });
      case 'refused':
        return randomUUID();
    }
  }
}

/** What happened to a mapping since the lower bound. */
function typeOf({ isDeleted, createdAt }: StatedMapping, since: number): 'New' | 'Update' | 'Delete' {
  if (isDeleted) return 'Delete';
  return createdAt >= since ? 'New' : 'Update';
}
