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

    it('with another location or other channels updates them, and is no move', async () => {
      const { mappings } = opened().ledger;
      await syncRows(mappings, [rowOf('1', 10), rowOf('2', 10), rowOf('3', 10), rowOf('4', 10)]);
      const { locationCode: _, ...withoutLocation } = rowOf('2', 10);
      const { counts } = await syncRows(
        mappings,
        [
          rowOf('1', 10, { locationCode: 'BCN' }),
          withoutLocation,
          rowOf('3', 10, { channelIds: ['B2C,BAR', 'B2B,NET'] }),
          rowOf('4', 10),
        ],
        at + 1,
      );
      expect(counts).toMatchObject({ updated: 3, unchanged: 1, moved: 0, newHotels: 0 });
      expect(await listAll(mappings)).toEqual([
        {
          number: 1,
          ...hotelOf('1'),
          serviceId: 10,
          locationCode: 'BCN',
          channelIds: ['B2C,BAR'],
          firstSeenAt: at,
        },
        { number: 2, ...hotelOf('2'), serviceId: 10, channelIds: ['B2C,BAR'], firstSeenAt: at },
        {
          number: 3,
          ...hotelOf('3'),
          serviceId: 10,
          locationCode: 'PMI',
          channelIds: ['B2C,BAR', 'B2B,NET'],
          firstSeenAt: at,
        },
        {
          number: 4,
          ...hotelOf('4'),
          serviceId: 10,
          locationCode: 'PMI',
          channelIds: ['B2C,BAR'],
          firstSeenAt: at,
        },
      ]);
      expect((await mappings.find(hotelOf('1')))?.moves).toEqual([]);
    });

    it('that moves to another master hotel remains one row, with its history', async () => {
      const { mappings } = opened().ledger;
      await syncRows(mappings, [rowOf('1', 10)]);
      await syncRows(mappings, [rowOf('1', 20, { locationCode: 'BCN' })], at + 1);
      const { counts } = await syncRows(mappings, [rowOf('1', 10)], at + 2);
      expect(counts).toMatchObject({ moved: 1, added: 0, newHotels: 0 });
      expect(await mappings.find(hotelOf('1'))).toEqual({
        mapping: {
          number: 1,
          ...hotelOf('1'),
          serviceId: 10,
          locationCode: 'PMI',
          channelIds: ['B2C,BAR'],
          firstSeenAt: at,
          movedAt: at + 2,
        },
        moves: [
          { from: 10, to: 20, seenAt: at + 1 },
          { from: 20, to: 10, seenAt: at + 2 },
        ],
      });
    });

    it('that is deleted has no master hotel, and reappears as the same row', async () => {
      const { mappings } = opened().ledger;
      await syncRows(mappings, [rowOf('1', 10)]);
      const gone = rowOf('1', 10, { isDeleted: true, channelIds: [] });
      expect((await syncRows(mappings, [gone], at + 1)).counts).toMatchObject({ deleted: 1 });
      const mapping = {
        number: 1,
        ...hotelOf('1'),
        locationCode: 'PMI',
        channelIds: ['B2C,BAR'],
        firstSeenAt: at,
        movedAt: at + 1,
      };
      expect(await mappings.lookUp([hotelOf('1')])).toEqual([mapping]);
      expect(await listAll(mappings)).toEqual([]);
      expect((await syncRows(mappings, [gone], at + 2)).counts).toMatchObject({ deleted: 0, unchanged: 1 });
      expect((await syncRows(mappings, [rowOf('1', 10)], at + 3)).counts).toMatchObject({
        moved: 1,
        added: 0,
      });
      expect(await mappings.find(hotelOf('1'))).toEqual({
        mapping: { ...mapping, serviceId: 10, movedAt: at + 3 },
        moves: [
          { from: 10, seenAt: at + 1 },
          { to: 10, seenAt: at + 3 },
        ],
      });
    });

    it('that is deleted but not in the copy changes nothing', async () => {
      const { mappings } = opened().ledger;
      const { counts } = await syncRows(mappings, [rowOf('2', 30, { isDeleted: true })]);
      expect(counts).toMatchObject({ read: 1, unchanged: 1, deleted: 0, newHotels: 0 });
      expect(await mappings.find(hotelOf('2'))).toBeUndefined();
    });

    it('that moved and was deleted between two cycles is deleted', async () => {
      const { mappings } = opened().ledger;
      await syncRows(mappings, [rowOf('1', 10)]);
      const { counts } = await syncRows(mappings, [rowOf('1', 20, { isDeleted: true })], at + 1);
      expect(counts).toMatchObject({ deleted: 1, unchanged: 0 });
      expect(await mappings.find(hotelOf('1'))).toMatchObject({
        mapping: { movedAt: at + 1 },
        moves: [{ from: 10, seenAt: at + 1 }],
      });
      expect(await listAll(mappings)).toEqual([]);
    });

    it('stays current when its former mapping is reported as deleted, in any order and number', async () => {
      const { mappings } = opened().ledger;
      const left = rowOf('1', 10, { isDeleted: true });
      await syncRows(mappings, [rowOf('1', 10)]);
      await syncRows(mappings, [rowOf('1', 20), left], at + 1);
      const moves = [{ from: 10, to: 20, seenAt: at + 1 }];
      for (const later of [2, 3]) {
        const { counts } = await syncRows(mappings, [left], at + later);
        expect(counts).toMatchObject({ deleted: 0, unchanged: 1 });
        expect(await mappings.find(hotelOf('1'))).toMatchObject({ mapping: { serviceId: 20 }, moves });
      }
      await syncRows(mappings, [rowOf('1', 20, { isDeleted: true }), rowOf('1', 30)], at + 4);
      expect((await listAll(mappings)).map(({ serviceId }) => serviceId)).toEqual([30]);
    });

    it('stays current when first seen in a cycle that deletes its former mapping, on any page', async () => {
      const { mappings } = opened().ledger;
      const left = rowOf('1', 10, { isDeleted: true });
      await mappings.beginSync(newSync('first', { at: at + 1 }));
      await mappings.storePage(pageOf('first', [rowOf('1', 20)], { resumeKey: 'k1', at: at + 2 }));
      await mappings.storePage(pageOf('first', [left], { after: 'k1', at: at + 3 }));
      expect(await mappings.find(hotelOf('1'))).toEqual({
        mapping: expect.not.objectContaining({ movedAt: expect.anything() }),
        moves: [{ from: 10, to: 20, seenAt: at + 3 }],
      });
      // Changes in the overlap of two cycles are reported twice.
      await syncRows(mappings, [left], at + 9);
      expect((await listAll(mappings)).map(({ serviceId }) => serviceId)).toEqual([20]);
    });

    it('may occur several times in a page: each applies after the previous one', async () => {
      const { mappings } = opened().ledger;
      const { counts } = await syncRows(mappings, [
        rowOf('1', 10),
        rowOf('1', 10),
        rowOf('1', 20),
        rowOf('2', 20),
        rowOf('1', 10, { isDeleted: true }),
        rowOf('1', 20, { isDeleted: true }),
        rowOf('1', 30),
        rowOf('1', 30, { locationCode: 'BCN' }),
      ]);
      expect(counts).toMatchObject({
        read: 8,
        added: 2,
        unchanged: 2,
        moved: 2,
        deleted: 1,
        updated: 1,
        newHotels: 3,
      });
      expect(await mappings.find(hotelOf('1'))).toMatchObject({
        mapping: { number: 1, serviceId: 30, locationCode: 'BCN', movedAt: at },
        moves: [
          { from: 10, to: 20 },
          { from: 20, seenAt: at },
          { to: 30, seenAt: at },
        ],
      });
    });
  });
}
