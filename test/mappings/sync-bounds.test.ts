import { describe, expect, it } from 'vitest';
import type { MappingSync } from '../../src/ledger/mappings.js';
import { decideBounds } from '../../src/mappings/sync-bounds.js';
import { noSyncCounts } from '../contracts/mapping-copy/pages.js';

const overlapMs = 600_000;
const ended: MappingSync = {
  scope: '',
  syncId: 's1',
  since: 0,
  at: 5_000_000,
  serviceBeganAt: 4_000_000,
  endedAt: 5_100_000,
  counts: { ...noSyncCounts, pages: 1 },
};
const { endedAt: _, ...open } = ended;

describe('the lower bound of a sync', () => {
  it('is 1970 before the first', () => {
    expect(decideBounds(undefined, { overlapMs })).toEqual({ since: 0 });
  });

  it("is the start of the last one by the service's clock, minus the overlap", () => {
    expect(decideBounds(ended, { overlapMs })).toEqual({ since: 3_400_000 });
  });

  it('is the start of the last one by our clock where the service sent no time', () => {
    const { serviceBeganAt: __, ...untold } = ended;
    expect(decideBounds(untold, { overlapMs })).toEqual({ since: 4_400_000 });
  });

  it('is never before 1970', () => {
    expect(decideBounds({ ...ended, serviceBeganAt: 1 }, { overlapMs })).toEqual({ since: 0 });
  });

  it('is the requested one, and the next sync starts where this one did', () => {
    expect(decideBounds(ended, { asked: 1_000, overlapMs })).toEqual({ since: 1_000 });
    expect(decideBounds(undefined, { asked: 9_000_000, overlapMs })).toEqual({ since: 9_000_000 });
  });

  it('is kept for the next sync where the requested one is later', () => {
    expect(decideBounds(ended, { asked: 4_500_000, overlapMs })).toEqual({
      since: 4_500_000,
      keepsSince: 3_400_000,
    });
    expect(decideBounds({ ...ended, keepsSince: 70 }, { overlapMs })).toEqual({ since: 70 });
  });

  it('is never later than that of an abandoned cycle', () => {
    expect(decideBounds(open, { asked: 100, overlapMs })).toEqual({ since: 100, keepsSince: 0 });
  });
});
