import { describe, expect, it } from 'vitest';
import { SyncOvertakenError } from '../../../src/ledger/errors.js';
import type { OpenedLedger } from '../ledger.js';
import { at, listAll, lookAt, newSync, noSyncCounts, pageOf, rowOf } from './pages.js';

export function describeCycles(opened: () => OpenedLedger): void {
  describe('a cycle', () => {
    it('stays at its key while parts of a page are stored, and counts the page with its last part', async () => {
      const { mappings } = opened().ledger;
      await mappings.beginSync(newSync('s1'));
      const begun = await mappings.storePage(pageOf('s1', [rowOf('1', 10)], { isPart: true }));
      expect(begun).toEqual({
        ...newSync('s1'),
        counts: { ...noSyncCounts, read: 1, added: 1, newHotels: 1 },
      });
      await mappings.storePage(pageOf('s1', [rowOf('2', 10)], { resumeKey: 'k' }));
      const later = { after: 'k', at: at + 1 };
      const part = await mappings.storePage(pageOf('s1', [rowOf('3', 10)], { ...later, isPart: true }));
      expect(part).toMatchObject({ resumeKey: 'k', counts: { pages: 1, read: 3 } });
      expect(await mappings.storePage(pageOf('s1', [rowOf('4', 10)], later))).toMatchObject({
        ...{ endedAt: at + 1, counts: { pages: 2, read: 4, added: 4 } },
      });
    });

    it('counts and keeps records that could not be read, once, until they come again after a restart', async () => {
      const { ledger, reopen } = opened();
      const { mappings } = ledger;
      await mappings.beginSync(newSync('s1'));
      const odd = (record: string) => ({ reason: 'expected ServiceId to be an integer', record });
      const page = pageOf('s1', [rowOf('1', 10)], {
        skipped: [odd('{"ServiceId":"x\\u0000"}'), odd('null')],
        resumeKey: 'k',
        at: at + 1,
      });
      const stored = await mappings.storePage(page);
      expect(stored.counts).toEqual({
        ...{ ...noSyncCounts, pages: 1, read: 3, added: 1, newHotels: 1 },
        skipped: 2,
      });
      const kept = { scope: '', seenAt: at + 1, reason: 'expected ServiceId to be an integer' };
      expect(await (await reopen()).mappings.summarise()).toMatchObject({
        keptSkipped: 2,
        lastSkipped: [
          { ...kept, record: 'null' },
          { ...kept, record: '{"ServiceId":"x\\u0000"}' },
        ],
      });
      await mappings.restartSync({ syncId: 's1', resumeKey: 'k' });
      expect((await mappings.summarise()).keptSkipped).toBe(0);
      const again = await mappings.storePage({ ...page, at: at + 2 });
      expect(again.counts).toMatchObject({ skipped: 4, read: 6, unchanged: 1, restarts: 1 });
      expect(await mappings.summarise()).toMatchObject({ keptSkipped: 2, lastSkipped: [{}, {}] });
    });

    it('keeps the start time from the first page that has one, is restarted at its own key only, and leaves its limit to all later ones', async () => {
      const { mappings } = opened().ledger;
      await mappings.beginSync(newSync('s1'));
      const times = [undefined, at - 7, at + 7];
      for (const [index, serviceBeganAt] of times.entries())
        await mappings.storePage({
          ...pageOf('s1', [], { resumeKey: `k${index}` }),
          ...(index > 0 && { after: `k${index - 1}` }),
          ...(serviceBeganAt !== undefined && { serviceBeganAt }),
          ...(index === 1 && { pageLimit: 250 }),
        });
      const restarting = mappings.restartSync({ syncId: 's1', resumeKey: 'k1' });
      await expect(restarting).rejects.toThrow(SyncOvertakenError);
      const restarted = await mappings.restartSync({ syncId: 's1', resumeKey: 'k2' });
      expect(restarted).toMatchObject({ serviceBeganAt: at - 7, counts: { restarts: 1 } });
      const other = newSync('s2', { scope: 'other' });
      expect(await mappings.beginSync(other)).toMatchObject({ ...other, pageLimit: 250 });
    });

    it('removes the oldest records set aside beyond ten thousand', async () => {
      const { mappings } = opened().ledger;
      await mappings.beginSync(newSync('s1'));
      const skipped = Array.from({ length: 10_001 }, (_, number) => ({
        reason: 'odd',
        record: `${number}`,
      }));
      const { counts } = await mappings.storePage(pageOf('s1', [], { skipped }));
      expect(counts.skipped).toBe(10_001);
      const { keptSkipped, lastSkipped } = await mappings.summarise();
      expect(keptSkipped).toBe(10_000);
      expect(lastSkipped).toHaveLength(100);
      expect(lastSkipped[0]).toMatchObject({ record: '10000' });
    });
  });

  describe('a page', () => {
    const first = pageOf('s1', [rowOf('1', 10), rowOf('2', 20)], { resumeKey: 'k1' });
    const second = pageOf('s1', [rowOf('1', 20), rowOf('1', 10)], { after: 'k1', resumeKey: 'k2' });
    const last = pageOf('s1', [rowOf('2', 20, { isDeleted: true })], { after: 'k2' });

    it('is refused where the cycle is not at its key, and nothing of it is stored', async () => {
      const { mappings } = opened().ledger;
      await mappings.beginSync(newSync('s1'));
      const refused = async (...pages: (typeof first)[]) => {
        const before = await lookAt(mappings);
        for (const page of pages) await expect(mappings.storePage(page)).rejects.toThrow(SyncOvertakenError);
        expect(await lookAt(mappings)).toEqual(before);
      };
      await refused(second, last);
      await mappings.storePage(first);
      await refused(last, { ...first, rows: [rowOf('3', 30)] }, { ...first, resumeKey: 'k9' });
      await mappings.storePage(second);
      await refused(first, { ...second, rows: [] });
      await mappings.storePage(last);
      await refused(first, second, { ...last, rows: [rowOf('3', 30)] });
    });

    it('is stored completely for one of two processes that fetched different ones', async () => {
      const { ledger, reopen } = opened();
      const other = await reopen();
      await ledger.mappings.beginSync(newSync('s1'));
      const outcomes = await Promise.allSettled(
        [ledger, other].map(({ mappings }, index) =>
          mappings.storePage(
            pageOf('s1', [rowOf(`${index}`, 10), rowOf(`${index}+`, 10)], { resumeKey: 'k' }),
          ),
        ),
      );
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      const lost = outcomes.find((outcome) => outcome.status === 'rejected');
      expect(lost?.reason).toBeInstanceOf(SyncOvertakenError);
      const winner = outcomes.findIndex(({ status }) => status === 'fulfilled');
      expect((await listAll(ledger.mappings)).map(({ providerHotelId }) => providerHotelId)).toEqual([
        `${winner}`,
        `${winner}+`,
      ]);
    });

    it('of two scopes at once assigns no number twice', async () => {
      const { ledger, reopen } = opened();
      const ledgers = [ledger, await reopen(), await reopen(), await reopen()];
      await Promise.all(
        ledgers.map(async ({ mappings }, index) => {
          const { syncId } = await mappings.beginSync(newSync(`s${index}`, { scope: `p${index}` }));
          const rows = [rowOf('shared', 10), rowOf(`${index}`, 11 + index)];
          await mappings.storePage(pageOf(syncId, rows));
        }),
      );
      expect((await listAll(ledger.mappings)).map(({ number }) => number)).toEqual([1, 2, 3, 4, 5]);
    });
  });

  describe('the right to sync', () => {
    it('has one holder at a time, and is free after its release', async () => {
      const { ledger, reopen } = opened();
      const other = await reopen();
      const hold = await ledger.mappings.holdSync();
      expect(hold?.lost.aborted).toBe(false);
      expect(await ledger.mappings.holdSync()).toBeUndefined();
      expect(await other.mappings.holdSync()).toBeUndefined();
      await hold?.release();
      expect(await other.mappings.holdSync()).toBeDefined();
    });
  });
}
