import { describe, expect, it } from 'vitest';
import type { OpenedLedger } from '../ledger.js';
import { at, hotelOf, listAll, newSync, pageOf, rowOf, syncRows } from './pages.js';

export function describeRows(opened: () => OpenedLedger): void {
  describe('a row', () => {
    it('is stored as the service wrote it, with the time of first sight', async () => {
      const { mappings } = opened().ledger;
      const { counts } = await syncRows(mappings, [
        rowOf('007', 10, { channelIds: ['B2C,BAR', 'B2B,NET,7', ' , '] }),
        {
          providerName: 'x',
          providerHotelId: 'y',
          serviceId: 9_007_199_254_740_991,
          channelIds: [],
          isDeleted: false,
        },
      ]);
      expect(counts).toMatchObject({ read: 2, added: 2, newHotels: 2 });
      expect(await listAll(mappings)).toEqual([
        {
          number: 1,
          ...hotelOf('007'),
          serviceId: 10,
          locationCode: 'PMI',
          channelIds: ['B2C,BAR', 'B2B,NET,7', ' , '],
          firstSeenAt: at,
        },
        {
          number: 2,
          ...hotelOf('y', 'x'),
          serviceId: 9_007_199_254_740_991,
          channelIds: [],
          firstSeenAt: at,
        },
      ]);
      expect(await mappings.find(hotelOf('007'))).toMatchObject({ mapping: { number: 1 }, moves: [] });
    });

    it('deletes the current mapping if it names no master hotel, unless this cycle reported the mapping', async () => {
      const { mappings } = opened().ledger;
      await syncRows(mappings, [rowOf('1', 10), rowOf('2', 20), rowOf('3', 30)]);
      const unnamed = (id: string) => ({ ...hotelOf(id), channelIds: [], isDeleted: true as const });
      const { syncId } = await mappings.beginSync(newSync('unnamed', { at: at + 1 }));
      const rows = [unnamed('1'), rowOf('2', 21), unnamed('2'), unnamed('unknown')];
      const first = await mappings.storePage(pageOf(syncId, rows, { resumeKey: 'k', at: at + 2 }));
      expect(first.counts).toMatchObject({ read: 4, deleted: 1, moved: 1, unchanged: 2, newHotels: 1 });
      const last = pageOf(syncId, [unnamed('2'), unnamed('3')], { after: 'k', at: at + 3 });
      expect((await mappings.storePage(last)).counts).toMatchObject({ deleted: 2, unchanged: 3 });
      expect(await listAll(mappings)).toMatchObject([{ providerHotelId: '2', serviceId: 21 }]);
      expect((await mappings.find(hotelOf('1')))?.moves).toEqual([{ from: 10, seenAt: at + 2 }]);
      expect((await mappings.find(hotelOf('2')))?.moves).toEqual([{ from: 20, to: 21, seenAt: at + 2 }]);
    });

    it('belongs to its provider hotel, compared byte for byte', async () => {
      const { mappings } = opened().ledger;
      const ids = [
        '7',
        '07',
        '7 ',
        ' 7',
        '7.0',
        'a',
        'A',
        'é',
        'e\u0301',
        '',
        '"',
        "'",
        '\\',
        '\n',
        '😀',
        '7,8',
        '%',
        '_',
      ];
      const rows = ids.map((id, index) => rowOf(id, index + 1));
      await syncRows(mappings, [
        ...rows,
        ...ids.map((id, index) => rowOf('7', 100 + index, { providerName: id })),
      ]);
      const { counts } = await syncRows(mappings, rows);
      expect(counts).toMatchObject({ unchanged: ids.length, added: 0 });
      expect((await mappings.lookUp(ids.map((id) => hotelOf(id)))).map((found) => found?.serviceId)).toEqual(
        ids.map((_, index) => index + 1),
      );
      expect(
        (await mappings.lookUp(ids.map((id) => hotelOf('7', id)))).map((found) => found?.serviceId),
      ).toEqual(ids.map((_, index) => 100 + index));
      for (const [index, id] of ids.entries()) {
        expect((await mappings.find(hotelOf(id)))?.mapping.serviceId).toBe(index + 1);
      }
    });

    it('is stored whatever the length of its names', async () => {
      const { mappings } = opened().ledger;
      const long = Array.from({ length: 4_000 }, (_, index) => ((index * 7_919) % 65_521).toString(36)).join(
        '',
      );
      const rows = [rowOf(`${long}1`, 1), rowOf(`${long}2`, 2), rowOf(long, 3, { providerName: `${long}é` })];
      await syncRows(mappings, rows);
      expect((await syncRows(mappings, rows)).counts).toMatchObject({ unchanged: 3, added: 0 });
      expect((await mappings.lookUp(rows)).map((found) => found?.serviceId)).toEqual([1, 2, 3]);
      expect((await mappings.find(hotelOf(`${long}2`)))?.mapping.serviceId).toBe(2);
      expect(await mappings.find(hotelOf(long))).toBeUndefined();
    });

    it('with characters that no ledger can store is one row, however often it comes', async () => {
      const { mappings } = opened().ledger;
      const odd = rowOf('a\0b\ud800', 10, {
        providerName: '\0',
        locationCode: 'x\0',
        channelIds: ['\0,\udc00'],
      });
      expect((await syncRows(mappings, [odd, odd])).counts).toMatchObject({ added: 1, unchanged: 1 });
      expect((await syncRows(mappings, [odd])).counts).toMatchObject({ added: 0, unchanged: 1 });
      const [found] = await mappings.lookUp([odd]);
      expect(found).toMatchObject({ ...hotelOf('a\ufffdb\ufffd', '\ufffd'), locationCode: 'x\ufffd' });
      expect((await mappings.find(odd))?.mapping).toEqual(found);
      expect(await listAll(mappings)).toEqual([found]);
      const { counts } = await syncRows(mappings, [{ ...odd, isDeleted: true }]);
      expect(counts.deleted).toBe(1);
    });
  });
}
