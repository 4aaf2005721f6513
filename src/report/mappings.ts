import type { CopiedMapping, MappingMove, MappingSummary, MappingSync } from '../mappings/mapping-copy.js';

/** The result of a sync, as `mappings sync --json` prints it. */
export function toSyncReport({ syncId, scope, since, at, serviceBeganAt, endedAt, counts }: MappingSync) {
  return {
    syncId,
    providerFamily: scope === '' ? null : scope,
    since: new Date(since).toISOString(),
    startedAt: new Date(at).toISOString(),
    serviceStartedAt: serviceBeganAt === undefined ? null : new Date(serviceBeganAt).toISOString(),
    finishedAt: endedAt === undefined ? null : new Date(endedAt).toISOString(),
    ...counts,
  };
}

/** One provider's hotel, as `mappings show --json` prints it. */
export function toMappingReport(mapping: CopiedMapping, moves: readonly MappingMove[]) {
  return {
    providerName: mapping.providerName,
    providerHotelId: mapping.providerHotelId,
    serviceId: mapping.serviceId ?? null,
    locationCode: mapping.locationCode ?? null,
    channelIds: mapping.channelIds,
    firstSeenAt: new Date(mapping.firstSeenAt).toISOString(),
    movedAt: mapping.movedAt === undefined ? null : new Date(mapping.movedAt).toISOString(),
    history: moves.map(({ from, to, seenAt }) => ({
      from: from ?? null,
      to: to ?? null,
      seenAt: new Date(seenAt).toISOString(),
    })),
  };
}

/** The contents of the copy, as `mappings stats --json` prints them. */
export function toStatsReport({ syncs, keptSkipped, lastSkipped, ...summary }: MappingSummary) {
  return {
    ...summary,
    syncs: syncs.map(toSyncReport),
    skipped: keptSkipped,
    lastSkipped: lastSkipped.map(({ scope, seenAt, reason, record }) => ({
      providerFamily: scope === '' ? null : scope,
      seenAt: new Date(seenAt).toISOString(),
      reason,
      record,
    })),
  };
}

export type MappingReport = ReturnType<typeof toMappingReport>;
