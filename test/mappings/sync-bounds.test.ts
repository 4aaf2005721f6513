import { describe, expect, it } from 'vitest';
import type { MappingSync } from '../../src/mappings/mapping-copy.js';
import { decideBounds } from '../../src/mappings/sync-mappings.js';

const overlapMs = 600_000;
const noCounts = {
  pages: 1,
  read: 0,
  added: 0,
  moved: 0,
  updated: 0,
  deleted: 0,
  unchanged: 0,
  newHotels: 0,
  restarts: 0,
};
const ended: MappingSync = {
  scope: '',
  syncId: 's1',
  since: 0,
  at: 5_000_000,
  serviceBeganAt: 4_000_000,
  endedAt: 5_100_000,
  counts: noCounts,
};
const { endedAt: _, ...open } = ended;

describe('the lower bound of a sync', () => {
  it('is 1970 before the first', () => {
    expect(decideBounds(undefined, { overlapMs })).toEqual({ since: 0 });
  });

  it("is where the last one began by the service's clock, less the overlap", () => {
    expect(decideBounds(ended, { overlapMs })).toEqual({ since: 3_400_000 });
  });

  it('is where the last one began by our own clock where the service told no time', () => {
    const { serviceBeganAt: __, ...untold } = ended;
    expect(decideBounds(untold, { overlapMs })).toEqual({ since: 4_400_000 });
  });

  it('is never before 1970', () => {
    expect(decideBounds({ ...ended, serviceBeganAt: 1 }, { overlapMs })).toEqual({ since: 0 });
  });

  it('is what was asked for, and the next one begins where this one began', () => {
    expect(decideBounds(ended, { asked: 1_000, overlapMs })).toEqual({ since: 1_000 });
    expect(decideBounds(undefined, { asked: 9_000_000, overlapMs })).toEqual({ since: 9_000_000 });
  });

  it('leaves the next one its own where what was asked for lies behind it', () => {
    expect(decideBounds(ended, { asked: 4_500_000, overlapMs })).toEqual({
      since: 4_500_000,
      keepsSince: 3_400_000,
    });
    expect(decideBounds({ ...ended, keepsSince: 70 }, { overlapMs })).toEqual({ since: 70 });
  });

  it('is never behind that of a cycle that was given up', () => {
    expect(decideBounds(open, { asked: 100, overlapMs })).toEqual({ since: 100, keepsSince: 0 });
  });
});
