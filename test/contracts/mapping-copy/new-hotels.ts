import { describe, expect, it } from 'vitest';
import type { Notice } from '../../../src/rules/notice.js';
import type { OpenedLedger } from '../ledger.js';
import { at, newSync, pageOf, rowOf, syncRows } from './pages.js';

export function describeNewHotels(opened: () => OpenedLedger): void {
  describe('new master hotels', () => {
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
