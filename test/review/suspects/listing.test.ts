import { expect, it } from 'vitest';
import type { Collect, CollectedChunk } from '../../../src/ledger/collecting.js';
import {
  createComparingCollect,
  findSuspicion,
  type KnownMapping,
} from '../../../src/review/suspects/comparison.js';
import { listSuspects } from '../../../src/review/suspects/listing.js';
import { someBooking, toChunk } from '../../desk/some-bookings.js';
import { fakeLedger } from '../../support/fake-ledger.js';
import { someRun } from '../some-run.js';

const now = Date.parse('2026-11-21T02:30:00Z');
const dayMs = 86_400_000;
const booked = 100_200;

it.each<[string, KnownMapping, ReturnType<typeof findSuspicion>]>([
  ['the copy does not know its hotel', {}, undefined],
  ['the copy agrees', { serviceId: booked }, undefined],
  [
    'it is mapped to another master, for however long',
    { serviceId: 1, movedAt: now - 800 * dayMs },
    'other-master',
  ],
  ['it has moved to another master just now', { serviceId: 1, movedAt: now - 1 }, 'other-master'],
  [
    'it has moved to its own master within a week',
    { serviceId: booked, movedAt: now - 7 * dayMs + 1 },
    'moved',
  ],
  ['it has moved to its own master before', { serviceId: booked, movedAt: now - 7 * dayMs }, undefined],
  ['its mapping was deleted within a week', { movedAt: now - 6 * dayMs }, 'moved'],
  ['its mapping was deleted before', { movedAt: now - 8 * dayMs }, undefined],
])('whether a booking is a suspect where %s', (_, mapping, suspicion) => {
  expect(findSuspicion(booked, mapping, now)).toBe(suspicion);
});

it('The bookings of more hotels than are looked up at once are all compared', async () => {
  const hotels = Array.from({ length: 2_001 }, (_, index) => someBooking({ providerHotelId: `H-${index}` }));
  const stored: CollectedChunk[] = [];
  const collect = { store: async (chunk: CollectedChunk) => void stored.push(chunk) } as unknown as Collect;
  const lookedUp: number[] = [];
  const { mappings } = fakeLedger({
    mappings: {
      async lookUp(asked) {
        lookedUp.push(asked.length);
        return asked.map((hotel) => ({ ...hotel, number: 1, serviceId: 8, channelIds: [], firstSeenAt: 0 }));
      },
    },
  });
  await createComparingCollect(collect, mappings, now).store(toChunk(hotels));
  expect(lookedUp).toEqual([1_000, 1_000, 1]);
  expect(stored[0]?.batches[0]?.suspects).toHaveLength(hotels.length);
});

it('The suspects of a run are listed up to a number, over all pages, without the names of guests', async () => {
  const pages = [[1, 2], [3, 4], [5]];
  const ledger = fakeLedger({
    bookings: {
      async nextSuspects(_, after) {
        const batch = (after?.batch ?? -1) + 1;
        const suspects = pages[batch]?.map((id, row) => ({
          ...{ line: `${id},BR-${id},Ana Lovelace,,,,`, row, reason: 'moved' as const },
        }));
        return suspects && { cursor: { stream: 'posted', batch }, stream: 'posted', suspects };
      },
    },
  });
  const listed = await listSuspects(ledger, someRun({ suspects: 5 }), 3);
  expect(listed.map(({ ServiceId }) => ServiceId)).toEqual([1, 2, 3]);
  expect(JSON.stringify(listed)).not.toContain('Lovelace');
  expect(await listSuspects(ledger, someRun(), 3)).toEqual([]);
});
