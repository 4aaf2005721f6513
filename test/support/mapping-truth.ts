import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { copied } from '../../src/ledger/mappings.js';
import { toRow } from '../../src/ledger/query.js';
import { openDatabase } from '../../src/ledger/sqlite/database.js';
import { type ArrivingRequest, type RecordedRequest, refusal, type StandInAnswer } from './http-stand-in.js';

/** A mapping as the service has it; `changedAt` in epoch milliseconds. */
export interface TrueMapping {
  readonly serviceId: number;
  readonly provider: string;
  readonly hotel: string;
  readonly location: string;
  readonly channels: readonly string[];
  readonly changedAt: number;
  readonly isDeleted?: boolean;
}

/** A call of Get Mappings, as received. */
export interface MappingsCall {
  readonly syncId: string | undefined;
  readonly since: string | null;
  readonly resumeKey: string | null;
  readonly limit: string | null;
  readonly providerFamily: string | null;
}

/** What happens to a call. */
export type CallFate = 'answered' | 'unavailable' | 'expired' | 'dropped';

/**
 * Get Mappings as specified, over mappings that a test can change: pages of a snapshot, resume keys that end with
 * it, one sync id per cycle.
 *
 * @param pageSize the length of its pages, as long as the usual limit is asked for; with a lower limit they are as much shorter
 */
export function createMappingTruth(made: readonly TrueMapping[], pageSize = 1_000) {
  const mappings = new Map(made.map((mapping) => [keyOf(mapping), mapping]));
  const calls: MappingsCall[] = [];
  const snapshots = new Map<string, { rows: readonly TrueMapping[]; offset: number; syncId: string }>();
  let inFlight = 0;
  let mostInHand = 0;

  function changesSince(since: number, family: string | null): TrueMapping[] {
    return [...mappings.values()]
      .filter(({ changedAt, provider }) => changedAt >= since && (family === null || provider === family))
      .sort((one, other) => one.changedAt - other.changedAt);
  }

  function answer(call: MappingsCall): StandInAnswer {
    const { syncId, since, resumeKey } = call;
    if (syncId === undefined) return refusal(2016);
    if (since === null || !since.endsWith('Z')) return refusal(2017);
    const limit = Number(call.limit ?? 10);
    if (!(limit >= 1 && limit <= 1_000)) return refusal(2012);
    const snapshot =
      resumeKey === null
        ? { rows: changesSince(Date.parse(since), call.providerFamily), offset: 0, syncId }
        : snapshots.get(resumeKey);
    if (snapshot?.syncId !== syncId) return refusal(2006);
    const { rows, offset } = snapshot;
    const end = offset + pageSize - (1_000 - limit);
    const next = end < rows.length ? randomUUID() : null;
    if (next !== null) snapshots.set(next, { rows, offset: end, syncId });
    return {
      kind: 'json',
      headers: { date: new Date().toUTCString() },
      body: {
        ResumeKey: next,
        Mappings: rows.slice(offset, end).map(toRecord),
        Status: true,
        Message: 'Success',
        StatusCode: 2000,
      },
    };
  }

  return {
    calls: calls as readonly MappingsCall[],
    /** The highest number of concurrent calls. */
    get mostInHand() {
      return mostInHand;
    },
    /** Replaces the mappings of the same provider hotels. */
    change(...changed: readonly TrueMapping[]): void {
      for (const mapping of changed) mappings.set(keyOf(mapping), mapping);
    },
    /** The current ones, in the order of `describe`. */
    standing: () =>
      [...mappings.values()]
        .filter(({ isDeleted }) => !isDeleted)
        .map(describeTrue)
        .sort(),
    /** For a stand-in: answers a call of Get Mappings according to its fate. */
    async answer(request: ArrivingRequest, fate: CallFate = 'answered'): Promise<StandInAnswer> {
      inFlight += 1;
      mostInHand = Math.max(mostInHand, inFlight);
      try {
        const call = readCall(request);
        calls.push(call);
        await nextTurn();
        switch (fate) {
          case 'answered':
            return answer(call);
          case 'unavailable':
            return { kind: 'json', status: 503, body: { code: 2001, message: 'not now' } };
          case 'expired':
            return refusal(2027);
          case 'dropped':
            // It is processed, but its answer is lost.
            answer(call);
            return { kind: 'drop', when: 'after-reading' };
        }
      } finally {
        inFlight -= 1;
      }
    },
  };
}

/** Mappings of a few providers, each changed a second after the one before. */
export function makeMappings(count: number, firstChange = Date.parse('2026-01-01T00:00:00Z')): TrueMapping[] {
  const providers = ['NorthStar', 'Bedlink', 'Room & Co', 'Atlántico'];
  return Array.from({ length: count }, (_, index) => ({
    serviceId: 100_000 + Math.floor(index / 3),
    provider: providers[index % providers.length] ?? '',
    hotel: String(index).padStart(8, '0'),
    location: `L-${index % 50}`,
    channels: [`B2C,Net ${index % 7}`, 'B2B,Package,NRF'],
    changedAt: firstChange + index * 1_000,
  }));
}

/** A line that two mappings share only when they are equal. */
export function describeMapping(mapping: {
  readonly providerName: string;
  readonly providerHotelId: string;
  readonly serviceId?: number;
  readonly locationCode?: string;
  readonly channelIds: readonly string[];
}): string {
  const { providerName, providerHotelId, serviceId, locationCode, channelIds } = mapping;
  return JSON.stringify([providerName, providerHotelId, serviceId, locationCode, channelIds]);
}

function describeTrue({ provider, hotel, serviceId, location, channels }: TrueMapping): string {
  return describeMapping({
    providerName: provider,
    providerHotelId: hotel,
    serviceId,
    locationCode: location,
    channelIds: channels,
  });
}

function toRecord({ serviceId, provider, hotel, location, channels, isDeleted }: TrueMapping) {
  return {
    ServiceId: serviceId,
    ProviderHotelId: hotel,
    ProviderName: provider,
    ProviderLocationCode: location,
    Type: isDeleted ? 'Delete' : 'New',
    ChannelIds: channels,
  };
}

function keyOf({ provider, hotel }: TrueMapping): string {
  return `${provider}\n${hotel}`;
}

function readCall({ url, rawHeaders }: Pick<RecordedRequest, 'url' | 'rawHeaders'>): MappingsCall {
  const query = new URL(url, 'http://stand-in').searchParams;
  const place = rawHeaders.indexOf('syncId');
  return {
    syncId: place < 0 ? undefined : rawHeaders[place + 1],
    since: query.get('lastUpdateDateTime'),
    resumeKey: query.get('resumeKey'),
    limit: query.get('limit'),
    providerFamily: query.get('providerFamily'),
  };
}

/** What the local copy in that ledger holds: a line per current mapping, sorted. */
export async function readCopy(ledgerFile: string): Promise<string[]> {
  const database = openDatabase(ledgerFile, { busyTimeoutMs: 5_000 });
  try {
    return database
      .all('SELECT * FROM mappings WHERE service_id IS NOT NULL')
      .map((row) => describeMapping(copied.read(toRow(row))))
      .sort();
  } finally {
    database.close();
  }
}
