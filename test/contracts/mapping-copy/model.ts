import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Ledger } from '../../../src/ledger/ledger.js';
import type {
  CopiedMapping,
  MappingMove,
  MappingRow,
  NewMasterHotel,
  SyncCounts,
} from '../../../src/ledger/mappings.js';
import type { OpenedLedger } from '../ledger.js';
import { newSync, noSyncCounts } from './pages.js';

const row = fc.record({
  hotel: fc.nat(5),
  provider: fc.nat(1),
  master: fc.integer({ min: 1, max: 3 }),
  location: fc.option(fc.nat(1), { nil: undefined }),
  channels: fc.subarray(['a,b', 'c,d']),
  isDeleted: fc.boolean(),
});
const happening = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('page' as const), rows: fc.array(row, { maxLength: 6 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('last page' as const), rows: fc.array(row, { maxLength: 6 }) }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'restart' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'new cycle' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'reopen' as const }) },
);

type Drawn = typeof row extends fc.Arbitrary<infer Value> ? Value : never;
type Kept = { -readonly [Name in keyof CopiedMapping]: CopiedMapping[Name] };

/** The copy as a plain model in memory. */
interface Model {
  readonly mappings: Map<string, { mapping: Kept; moves: MappingMove[] }>;
  readonly hotels: NewMasterHotel[];
}

export function describeModel(opened: () => OpenedLedger): void {
  describe('with any input', () => {
    it('the copy equals a plain model: any rows, cycles restarted, processes that come and go', async () => {
      const { ledger, reopen } = opened();
      const model: Model = { mappings: new Map(), hotels: [] };
      let runs = 0;
      let clock = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(happening, { minLength: 3, maxLength: 25 }), async (happenings) => {
          runs += 1;
          const run = runs;
          let copy: Ledger['mappings'] = ledger.mappings;
          let cycles = 0;
          let pages = 0;
          const begin = () => {
            cycles += 1;
            return copy.beginSync(newSync(`s${run}-${cycles}`, { at: clock }));
          };
          let sync = await begin();
          let counts = noSyncCounts;
          for (const step of happenings) {
            clock += 1;
            switch (step.kind) {
              case 'page':
              case 'last page': {
                if (sync.endedAt !== undefined) {
                  sync = await begin();
                  counts = noSyncCounts;
                }
                pages += 1;
                const rows = step.rows.map((drawn) => toRow(drawn, run));
                sync = await copy.storePage({
                  syncId: sync.syncId,
                  ...(sync.resumeKey !== undefined && { after: sync.resumeKey }),
                  ...(step.kind === 'page' && { resumeKey: `k${pages}` }),
                  rows,
                  at: clock,
                });
                counts = addCounts(counts, rows.length, apply(model, rows, clock, sync.at));
                expect(sync.counts).toEqual(counts);
                expect(sync.endedAt).toBe(step.kind === 'last page' ? clock : undefined);
                break;
              }
              case 'restart':
                if (sync.endedAt !== undefined) break;
                sync = await copy.restartSync(sync);
                counts = { ...counts, restarts: counts.restarts + 1 };
                expect(sync).not.toHaveProperty('resumeKey');
                break;
              case 'new cycle':
                sync = await begin();
                counts = noSyncCounts;
                break;
              case 'reopen':
                copy = (await reopen()).mappings;
                expect(await copy.latestSync('')).toEqual(sync);
                break;
            }
          }
          await expectModel(copy, model);
        }),
        { numRuns: 25 },
      );
    });
  });
}

function toRow({ hotel, provider, master, location, channels, isDeleted }: Drawn, run: number): MappingRow {
  return {
    providerName: `provider ${provider}`,
    providerHotelId: `${run}-${hotel}`,
    serviceId: 10 * run + master,
    ...(location !== undefined && { locationCode: `L${location}` }),
    channelIds: channels,
    isDeleted,
  };
}

const nameOf = ({ providerName, providerHotelId }: MappingRow) =>
  JSON.stringify([providerName, providerHotelId]);

/** What became of the row of a page. */
type Change = 'added' | 'moved' | 'updated' | 'deleted' | 'unchanged';

interface Applied {
  readonly changes: readonly Change[];
  readonly newHotels: number;
}

function addCounts(counts: SyncCounts, read: number, { changes, newHotels }: Applied): SyncCounts {
  const next = { ...counts, pages: counts.pages + 1, read: counts.read + read };
  next.newHotels += newHotels;
  for (const change of changes) next[change] += 1;
  return next;
}

function apply(model: Model, rows: readonly MappingRow[], at: number, cycleBegunAt: number): Applied {
  const standing = rows.filter(({ isDeleted }) => !isDeleted).map(nameOf);
  const before = model.hotels.length;
  const changes = rows.map((row) =>
    row.isDeleted
      ? remove(model, row, at, { cycleBegunAt, isToldToStand: standing.includes(nameOf(row)) })
      : keep(model, row, at),
  );
  return { changes, newHotels: model.hotels.length - before };
}

function remove(
  { mappings }: Model,
  row: MappingRow,
  at: number,
  { cycleBegunAt, isToldToStand }: { readonly cycleBegunAt: number; readonly isToldToStand: boolean },
): Change {
  const { mapping, moves = [] } = mappings.get(nameOf(row)) ?? {};
  if (mapping?.serviceId === undefined) return 'unchanged';
  const { serviceId: from, firstSeenAt, movedAt = 0 } = mapping;
  if (from !== row.serviceId) {
    if (moves.some((move) => move.from === row.serviceId)) return 'unchanged';
    if (isToldToStand || firstSeenAt >= cycleBegunAt || movedAt >= cycleBegunAt) {
      moves.push({ from: row.serviceId, to: from, seenAt: at });
      return 'unchanged';
    }
  }
  delete mapping.serviceId;
  mapping.movedAt = at;
  moves.push({ from, seenAt: at });
  return 'deleted';
}

function keep({ mappings, hotels }: Model, { isDeleted: _, ...received }: MappingRow, at: number): Change {
  const key = nameOf({ ...received, isDeleted: false });
  const known = mappings.get(key);
  const { providerName, providerHotelId, serviceId } = received;
  if (!hotels.some((hotel) => hotel.serviceId === serviceId)) {
    hotels.push({ number: hotels.length + 1, serviceId, providerName, providerHotelId, seenAt: at });
  }
  if (!known) {
    mappings.set(key, { mapping: { ...received, number: mappings.size + 1, firstSeenAt: at }, moves: [] });
    return 'added';
  }
  const { serviceId: from, locationCode, channelIds } = known.mapping;
  delete known.mapping.locationCode;
  Object.assign(known.mapping, received);
  if (from === serviceId) {
    const isSame = locationCode === received.locationCode && `${channelIds}` === `${received.channelIds}`;
    return isSame ? 'unchanged' : 'updated';
  }
  known.mapping.movedAt = at;
  known.moves.push({ ...(from !== undefined && { from }), to: serviceId, seenAt: at });
  return 'moved';
}

async function expectModel(copy: Ledger['mappings'], { mappings, hotels }: Model): Promise<void> {
  const all = [...mappings.values()];
  expect(await copy.lookUp(all.map(({ mapping }) => mapping))).toEqual(all.map(({ mapping }) => mapping));
  for (const { mapping, moves } of all.slice(-12))
    expect(await copy.find(mapping)).toEqual({ mapping, moves });
  const standing = all.map(({ mapping }) => mapping).filter(({ serviceId }) => serviceId !== undefined);
  expect(await copy.summarise()).toMatchObject({
    mappings: standing.length,
    masterHotels: new Set(standing.map(({ serviceId }) => serviceId)).size,
    deleted: all.length - standing.length,
  });
  expect(await copy.listNewHotels({ after: 0, limit: 1_000 })).toEqual(hotels);
  expect(await copy.listNewHotels({ after: 2, limit: 2 })).toEqual(hotels.slice(2, 4));
}
