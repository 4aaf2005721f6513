import { expect, it } from 'vitest';
import type { CopiedMapping, MappingSync } from '../../src/ledger/mappings.js';
import { explainCopies, nameCopy, readCopiedHotels } from '../../src/mappings/copied-hotels.js';
import { fakeLedger } from '../support/fake-ledger.js';

const hotels = ['1', '2'].map((providerHotelId) => ({ providerName: 'hotelbeds', providerHotelId }));
const neverSynced = ['unknown', 'copy: unknown: the mappings were never synced'];

it.each<[when: string, sync: Partial<MappingSync> | undefined, copy: string, shown: string[]]>([
  ['no sync ever began', undefined, 'never-synced', neverSynced],
  ['the first sync has not ended', {}, 'never-synced', neverSynced],
  ['a sync has ended', { endedAt: 2_000 }, 'unmapped', ['-']],
  ['a sync that followed an earlier one has not', { since: 900 }, 'unmapped', ['-']],
])('what the copy says of a hotel that it does not have, when %s', async (_, sync, copy, shown) => {
  const { mappings } = fakeLedger({
    mappings: {
      lookUp: async () => [{ serviceId: 7 } as CopiedMapping, undefined],
      listSyncs: async () => (sync ? [{ scope: '', since: 0, at: 1_000, ...sync } as MappingSync] : []),
    },
  });
  const found = await readCopiedHotels(mappings, hotels);
  expect(found).toMatchObject([
    { copyServiceId: 7, copy: 'mapped' },
    { copyServiceId: null, copy },
  ]);
  expect([...found.map((hotel) => nameCopy(hotel, '-')), ...explainCopies(found)]).toEqual(['7', ...shown]);
});
