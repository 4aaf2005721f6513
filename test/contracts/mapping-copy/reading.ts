import { expect, it } from 'vitest';
import type { OpenedLedger } from '../ledger.js';
import { hotelOf, newSync, pageOf, rowOf, syncRows } from './pages.js';

export function describeReading(opened: () => OpenedLedger): void {
  it('is empty until it has mappings, and is looked up in the order of the request, with unknown and repeated hotels', async () => {
    const { mappings } = opened().ledger;
    await mappings.beginSync(newSync('s1'));
    expect(await mappings.isEmpty()).toBe(true);
    await syncRows(mappings, [rowOf('1', 10), rowOf('2', 20), rowOf('1', 30, { providerName: 'expedia' })]);
    const asked = [
      hotelOf('2'),
      hotelOf('3'),
      hotelOf('1', 'expedia'),
      hotelOf('1'),
      hotelOf('2', 'expedia'),
      hotelOf('2'),
    ];
    const found = await mappings.lookUp(asked);
    expect(found.map((mapping) => mapping?.serviceId)).toEqual([20, undefined, 30, 10, undefined, 20]);
    expect(found[2]).toEqual((await mappings.find(hotelOf('1', 'expedia')))?.mapping);
    expect(await mappings.lookUp([])).toEqual([]);
  });

  it('summarises current mappings by provider, and the newest cycle of each scope', async () => {
    const { mappings } = opened().ledger;
    await syncRows(mappings, [
      rowOf('1', 10),
      rowOf('2', 10),
      rowOf('3', 20),
      rowOf('4', 30, { providerName: 'Expedia' }),
      rowOf('5', 10, { providerName: 'agoda' }),
    ]);
    await mappings.beginSync(newSync('one', { scope: 'agoda' }));
    await mappings.storePage(pageOf('one', [rowOf('5', 10, { providerName: 'agoda', isDeleted: true })]));
    const latest = await syncRows(mappings, [rowOf('3', 20, { isDeleted: true })]);
    expect(await mappings.summarise()).toEqual({
      mappings: 3,
      masterHotels: 2,
      deleted: 2,
      providers: [
        { providerName: 'Expedia', mappings: 1 },
        { providerName: 'hotelbeds', mappings: 2 },
      ],
      syncs: [latest, await mappings.latestSync('agoda')],
      keptSkipped: 0,
      lastSkipped: [],
    });
  });
}
