import { expect, it } from 'vitest';
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

const { serviceBeganAt: __, ...untold } = ended;

it.each<[what: string, last: MappingSync | undefined, asked: number | undefined, bounds: object]>([
  ['1970 before the first', undefined, undefined, { since: 0 }],
  [
    "the start of the last one by the service's clock, minus the overlap",
    ended,
    undefined,
    { since: 3_400_000 },
  ],
  [
    'the start of the last one by our clock where the service sent no time',
    untold,
    undefined,
    { since: 4_400_000 },
  ],
  ['never before 1970', { ...ended, serviceBeganAt: 1 }, undefined, { since: 0 }],
  ['the requested one', ended, 1_000, { since: 1_000 }],
  ['the requested one, before the first, too', undefined, 9_000_000, { since: 9_000_000 }],
  [
    'kept for the next sync where the requested one is later',
    ended,
    4_500_000,
    { since: 4_500_000, keepsSince: 3_400_000 },
  ],
  ['the one that was kept', { ...ended, keepsSince: 70 }, undefined, { since: 70 }],
  ['never later than that of an abandoned cycle', open, 100, { since: 100, keepsSince: 0 }],
])('the lower bound of a sync is %s', (_, last, asked, bounds) => {
  expect(decideBounds(last, { overlapMs, ...(asked !== undefined && { asked }) })).toEqual(bounds);
});
