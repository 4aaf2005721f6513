import { randomUUID } from 'node:crypto';
import { type Refusal, refusal } from '../common/answer.js';
import type { LivingWorld, Snapshot } from '../world/living-world.js';
import { channelIdsOf, locationCodeOf, type MappingVersion } from '../world/mapping-version.js';
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
  readonly world: LivingWorld;
  /** What this deployment calls the master hotel id. */
  readonly masterIdName: string;
  /** How long a key is valid. */
  readonly resumeKeyMs: number;
  /** `null` by default. */
  readonly lastPageKey?: LastPageKey | undefined;
  /** Epoch milliseconds. */
  readonly clock: () => number;
}

/**
 * Reads the pages of Get Mappings (spec 4.1). A retrieval shows the world as it was at its first page: each mapping that
 * changed since the lower bound comes once, with its latest change at that time. Later changes come with the next retrieval.
 */
export function createMappingPages(options: MappingPagesOptions) {
  const { world, masterIdName, resumeKeyMs, lastPageKey = 'null', clock } = options;
  const keys = createResumeKeys(resumeKeyMs, clock);

  function findCursor(query: MappingsQuery): { snapshot: Snapshot; cursor: Cursor } | Refusal {
    const { syncId, since, providerFamily, resumeKey } = query;
    if (resumeKey === undefined) {
      const snapshot = world.takeSnapshot();
      const from = snapshot.firstSince(since);
      return { snapshot, cursor: { syncId, since, providerFamily, snapshot: snapshot.number, from } };
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
        return { snapshot: world.recall(cursor.snapshot), cursor };
      }
    }
  }

  function render(version: MappingVersion, since: number): object {
    const hotel = world.hotelOf(version.serviceId);
    return {
      [masterIdName]: version.serviceId,
      ProviderHotelId: version.providerHotelId,
      ProviderName: version.providerName,
      ProviderLocationCode: hotel ? locationCodeOf(version, hotel) : null,
      Type: typeOf(version, since),
      ChannelIds: channelIdsOf(version),
    };
  }

  return (query: MappingsQuery): MappingPage | Refusal => {
    const found = findCursor(query);
    if ('kind' in found) return found;
    const { snapshot, cursor } = found;
    const mappings: object[] = [];
    for (const version of snapshot.read(cursor.from)) {
      if (query.providerFamily !== undefined && version.providerName !== query.providerFamily) continue;
      if (mappings.length === query.limit) {
        const resumeKey = keys.issue({ ...cursor, from: version.sequence });
        return { kind: 'page', resumeKey, mappings };
      }
      mappings.push(render(version, cursor.since));
    }
    return { kind: 'page', resumeKey: keyAfterLast(cursor), mappings };
  };

  function keyAfterLast(cursor: Cursor): string | null {
    switch (lastPageKey) {
      case 'null':
        return null;
      case 'fresh':
        return keys.issue({ ...cursor, from: Number.POSITIVE_INFINITY });
      case 'refused':
        return randomUUID();
    }
  }
}

/** What happened to a mapping since the lower bound. */
function typeOf({ isDeleted, createdAt }: MappingVersion, since: number): 'New' | 'Update' | 'Delete' {
  if (isDeleted) return 'Delete';
  return createdAt >= since ? 'New' : 'Update';
}
