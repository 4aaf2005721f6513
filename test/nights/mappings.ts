import { MappingServiceError } from '../../src/service/errors.js';
import type { MappingService, MappingsPage } from '../../src/service/operations.js';
import type { Told } from './journal.js';

/** Of the service: which master hotel each provider's hotel is. Bookings are on the first of each master hotel. */
const atFirst = {
  ...{ 'Expedia 0011': 11, 'Hotelbeds 11H': 11 },
  ...{ 'Hotelbeds 22B': 22, 'Expedia 22E': 22, 'Bedlink 22L': 22 },
  ...{ 'Hotelbeds 33C': 33 },
  ...{ 'Bedlink 44D': 44, 'Expedia 44E': 44 },
} as const;

export type Hotel = keyof typeof atFirst;
export const allHotels = Object.keys(atFirst) as Hotel[];
export const bookedHotels: readonly Hotel[] = [
  'Expedia 0011',
  'Hotelbeds 22B',
  'Hotelbeds 33C',
  'Bedlink 44D',
];
export const masters = [11, 22, 33, 44, 55] as const;

export function listHotelsAtFirst(master: number): Hotel[] {
  return allHotels.filter((hotel) => atFirst[hotel] === master);
}

/** A provider's hotel becomes another master hotel; without one, its mapping is removed. */
export interface Change {
  readonly hotel: Hotel;
  readonly to?: number;
  /** It becomes visible only now, dated a little before the sync before this one. */
  readonly isLate?: boolean;
}

/** It is removed, goes back to its first master hotel, or the others of that one follow it. */
export const sequels = ['removed', 'back', 'followed'] as const;
export type Sequel = (typeof sequels)[number];

/** How the service tells about its changes. */
export interface Telling {
  readonly pageSize: number;
  /** Each change, one after the other; otherwise only what each hotel has come to. */
  readonly isLog: boolean;
  /** That it has left a master hotel is told before the new one, after it, or not at all. */
  readonly leaving: 'before' | 'after' | 'untold';
  /** What was removed has no master hotel any more. */
  readonly isUnnamed: boolean;
  /** The last page has a key, too, after which an empty one comes. */
  readonly isOpenEnded: boolean;
  /** The call at which it has forgotten the key, counted from 1. */
  readonly forgetsAt?: number;
}

/** A record of a change. */
interface Line extends Told {
  readonly changedAt: number;
  readonly type: 'New' | 'Delete';
}

/** The mapping pages of the service. */
export function createMappingTable(clock: () => number) {
  const now = new Map<Hotel, number | undefined>(Object.entries(atFirst) as [Hotel, number][]);
  const log: Line[] = allHotels.map((hotel) => ({ hotel, to: atFirst[hotel], changedAt: 0, type: 'New' }));
  /** The one that goes on: what was to be told when it began. */
  let cycle:
    | {
        readonly syncId: string;
        readonly began: number;
        readonly lines: readonly Line[];
        readonly isLog: boolean;
        readonly state: ReadonlyMap<string, number | undefined>;
      }
    | undefined;
  let telling: Telling = {
    ...{ pageSize: 10, isLog: true, leaving: 'untold', isUnnamed: false, isOpenEnded: false },
  };
  let calls = 0;
  /** The pages that were handed out since they were asked for last. */
  let served: Told[][] = [];

  function change({ hotel, to, isLate = false }: Change): void {
    const left = now.get(hotel);
    if (left === to) return;
    now.set(hotel, to);
    const before = log.findLast((line) => line.hotel === hotel)?.changedAt ?? 0;
    const changedAt = isLate && cycle ? Math.max(before, cycle.began - 300_000) : clock();
    const gone: Line = { hotel, left, changedAt, type: 'Delete' };
    const isLeft = left !== undefined && to !== undefined && telling.isLog;
    if (to === undefined || (isLeft && telling.leaving === 'before')) log.push(gone);
    if (to !== undefined) log.push({ hotel, to, changedAt, type: 'New' });
    if (isLeft && telling.leaving === 'after') log.push({ ...gone, to });
  }

  function begin(syncId: string, since: number): typeof cycle {
    const lines = log.filter(({ changedAt }) => changedAt >= since).sort((a, b) => a.changedAt - b.changedAt);
    // What a hotel has come to is last in the log, whenever it was made, but for what it has left.
    const states = log.filter(({ type, to }) => type === 'New' || to === undefined);
    const latest = new Map(states.map((line) => [line.hotel, line]));
    // Who has heard a part of it could not tell a removal from a move that was told already.
    const isLog = telling.isLog || cycle?.syncId === syncId;
    const isTold = (line: Line) => isLog || latest.get(line.hotel) === line || isReturn(line);
    return { syncId, began: clock(), lines: lines.filter(isTold), isLog, state: new Map(now) };
  }

  /**
   * The hotel went back to a master hotel that it had left, and was removed there: nobody who hears only of the removal could tell it
   * from the one of the time before.
   */
  function isReturn(line: Line): boolean {
    const ofHotel = log.filter(({ hotel }) => hotel === line.hotel);
    const made = ofHotel.filter(({ type }) => type === 'New');
    const isRemoved = ofHotel.at(-1)?.type === 'Delete' && ofHotel.at(-1)?.to === undefined;
    return isRemoved && line === made.at(-1) && made.filter(({ to }) => to === line.to).length > 1;
  }

  const getMappings: MappingService['getMappings'] = async ({ lastUpdateDateTime, syncId, resumeKey }) => {
    calls += 1;
    if (resumeKey === undefined) cycle = begin(syncId, lastUpdateDateTime.getTime());
    else if (calls === telling.forgetsAt || cycle?.syncId !== syncId) throw refuseKey();
    const { lines: all = [] } = cycle ?? {};
    const from = Number(resumeKey?.slice('key '.length) ?? 0);
    const next = from + telling.pageSize;
    const lines = all.slice(from, next);
    const isLast = lines.length === 0 || (next >= all.length && !telling.isOpenEnded);
    served.push(lines.map(({ hotel, to, left }) => ({ hotel, to, left })));
    const isUnnamed = telling.isUnnamed && cycle?.isLog === false;
    return pageOf(lines, isLast ? null : `key ${next}`, isUnnamed, clock());
  };

  /** What becomes of the hotel that moved last, if one has. */
  function listSequel(sequel: Sequel): readonly Change[] {
    const last = log.findLast(({ type, changedAt }) => type === 'New' && changedAt > 0);
    const [hotel, to] = [last?.hotel as Hotel, last?.to];
    if (to === undefined) return [];
    switch (sequel) {
      case 'removed':
        return [{ hotel }];
      case 'back':
        return [{ hotel, to: atFirst[hotel] }];
      case 'followed':
        return listHotelsAtFirst(atFirst[hotel]).map((other) => ({ hotel: other, to }));
    }
  }

  return {
    getMappings,
    listSequel,
    change(changes: readonly Change[], told: Telling): void {
      telling = told;
      calls = 0;
      changes.forEach(change);
    },
    /** What each hotel was mapped to when the cycle began. */
    readState: () => cycle?.state ?? new Map<string, number | undefined>(),
    takeServed(): readonly (readonly Told[])[] {
      const taken = served;
      served = [];
      return taken;
    },
  };
}

export type MappingTable = ReturnType<typeof createMappingTable>;

function pageOf(lines: readonly Line[], key: string | null, isUnnamed: boolean, at: number): MappingsPage {
  return {
    ...{ Status: true, StatusCode: 2000, ResumeKey: key, skipped: [], answeredAt: new Date(at) },
    Mappings: lines.map(({ hotel, to, left = null, type }) => {
      const [ProviderName = '', ProviderHotelId = ''] = hotel.split(' ');
      const named = type === 'New' ? (to ?? null) : isUnnamed ? null : left;
      return { ServiceId: named, ProviderName, ProviderHotelId, Type: type, ChannelIds: [] };
    }),
  };
}

function refuseKey(): MappingServiceError {
  const details = { kind: 'refused', code: 'code-2027', operation: 'getMappings', statusCode: 2027 } as const;
  return new MappingServiceError('the key is gone', details);
}
