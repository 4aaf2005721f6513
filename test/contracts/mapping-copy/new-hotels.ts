import { describe, expect, it } from 'vitest';
import type { Notice } from '../../../src/rules/notice.js';
import type { OpenedLedger } from '../ledger.js';
import { at, hotelOf, newSync, pageOf, rowOf, syncRows } from './pages.js';

export function describeNewHotels(opened: () => OpenedLedger): void {
  describe('new master hotels', () => {
    it('are listed in the order of first sight, each with the mapping that introduced it', async () => {
      const { mappings } = opened().ledger;
      await syncRows(mappings, [rowOf('1', 30), rowOf('2', 10), rowOf('3', 30)]);
      const { counts } = await syncRows(mappings, [rowOf('4', 10), rowOf('1', 20)], at + 1);
      expect(counts.newHotels).toBe(1);
      const all = [
        { number: 1, serviceId: 30, ...hotelOf('1'), seenAt: at },
        { number: 2, serviceId: 10, ...hotelOf('2'), seenAt: at },
        { number: 3, serviceId: 20, ...hotelOf('1'), seenAt: at + 1 },
      ];
      expect(await mappings.listNewHotels({ after: 0, limit: 9 })).toEqual(all);
      expect(await mappings.listNewHotels({ after: 0, limit: 2 })).toEqual(all.slice(0, 2));
      expect(await mappings.listNewHotels({ after: 2, limit: 2 })).toEqual(all.slice(2));
    });

    it('are told at the end of their cycle, once; a cycle without any tells nothing', async () => {
      const { mappings, notices } = opened().ledger;
      await mappings.beginSync(newSync('s1'));
      await mappings.storePage(pageOf('s1', [rowOf('1', 10), rowOf('2', 20)], { resumeKey: 'k' }));
      const told: Notice[] = [];
      const listen = () =>
        notices.route((notice) => {
          told.push(notice);
          return [];
        }, at);
      await listen();
      expect(told).toEqual([]);
      const last = pageOf('s1', [rowOf('1', 20)], { after: 'k', at: at + 5 });
      await mappings.storePage(last);
      await syncRows(mappings, [rowOf('1', 10)], at + 9);
      await listen();
      expect(told).toMatchObject([
        {
          ...{ event: 'mappings-synced', subject: 's1', severity: 'info', raisedAt: at + 5 },
          facts: { newHotels: 2, added: 2, moved: 1, deleted: 0 },
        },
      ]);
    });

    it('exclude those that only a deleted mapping names', async () => {
      const { mappings } = opened().ledger;
      await syncRows(mappings, [rowOf('1', 10, { isDeleted: true })]);
      expect(await mappings.listNewHotels({ after: 0, limit: 9 })).toEqual([]);
      await syncRows(mappings, [rowOf('2', 10)]);
      expect(await mappings.listNewHotels({ after: 0, limit: 9 })).toMatchObject([{ serviceId: 10 }]);
    });

    it('are listed until marked as listed, and are never new again', async () => {
      const { ledger, reopen } = opened();
      const { mappings } = ledger;
      await syncRows(mappings, [rowOf('1', 10), rowOf('2', 20), rowOf('3', 30)]);
      await mappings.markNewHotelsTold(2, at);
      const other = (await reopen()).mappings;
      expect(await other.listNewHotels({ after: 0, limit: 9 })).toMatchObject([{ number: 3, serviceId: 30 }]);
      await mappings.markNewHotelsTold(2, at + 1);
      await mappings.markNewHotelsTold(3, at + 1);
      await syncRows(mappings, [
        rowOf('1', 10, { isDeleted: true }),
        rowOf('1', 10),
        rowOf('4', 20),
        rowOf('5', 40),
      ]);
      expect(await other.listNewHotels({ after: 0, limit: 9 })).toMatchObject([{ number: 4, serviceId: 40 }]);
    });
  });
}
