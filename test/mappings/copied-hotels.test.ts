import { describe, expect, it } from 'vitest';
import type { CopiedMapping, MappingSync } from '../../src/ledger/mappings.js';
import { explainCopies, nameCopy, readCopiedHotels } from '../../src/mappings/copied-hotels.js';
import { fakeLedger } from '../support/fake-ledger.js';

const hotels = ['1', '2'].map((providerHotelId) => ({ providerName: 'hotelbeds', providerHotelId }));

function openCopy(sync?: Partial<MappingSync>) {
  return fakeLedger({
    mappings: {
      lookUp: async () => [{ serviceId: 7 } as CopiedMapping, undefined],
      listSyncs: async () => (sync ? [{ scope: '', since: 0, at: 1_000, ...sync } as MappingSync] : []),
    },
  }).mappings;
}

describe('a hotel that the copy does not have', () => {
  it.each([
    ['no sync ever began', undefined],
    ['the first sync has not ended', {}],
  ])('is unknown while %s', async (_, sync) => {
    const found = await readCopiedHotels(openCopy(sync), hotels);
    expect(found).toMatchObject([
      { copyServiceId: 7, copy: 'mapped' },
      { copyServiceId: null, copy: 'never-synced' },
    ]);
    expect(found.map((hotel) => nameCopy(hotel, '-'))).toEqual(['7', 'unknown']);
    expect(explainCopies(found)).toEqual(['copy: unknown: the mappings were never synced']);
  });

  it.each([
    ['a sync has ended', { endedAt: 2_000 }],
    ['one that followed an earlier one has not', { since: 900 }],
  ])('is unmapped once %s', async (_, sync) => {
    const found = await readCopiedHotels(openCopy(sync), hotels);
    expect(found[1]).toMatchObject({ copyServiceId: null, copy: 'unmapped' });
    expect(found.map((hotel) => nameCopy(hotel, '-'))).toEqual(['7', '-']);
    expect(explainCopies(found)).toEqual([]);
  });
});
