import { describe, expect, it } from 'vitest';
import type { OpenedLedger } from '../ledger.js';
import { day } from './days.js';

export function describeHolding(opened: () => OpenedLedger): void {
  describe('the right to work on a day', () => {
    it('is held by one at a time, in the same process and in another', async () => {
      const { ledger, reopen } = opened();
      const other = await reopen();
      const hold = await ledger.holdDay(day);
      expect(hold?.lost.aborted).toBe(false);
      expect(await ledger.holdDay(day)).toBeUndefined();
      expect(await other.holdDay(day)).toBeUndefined();
    });

    it('is free for somebody else after its release', async () => {
      const { ledger, reopen } = opened();
      const other = await reopen();
      const first = await ledger.holdDay(day);
      await first?.release();
      const second = await other.holdDay(day);
      expect(second).toBeDefined();
      expect(await ledger.holdDay(day)).toBeUndefined();
      await second?.release();
      expect(await ledger.holdDay(day)).toBeDefined();
    });

    it('is not taken from the next holder by a second release of the last', async () => {
      const { ledger, reopen } = opened();
      const first = await ledger.holdDay(day);
      await first?.release();
      const second = await (await reopen()).holdDay(day);
      await first?.release();
      expect(second?.lost.aborted).toBe(false);
      expect(await ledger.holdDay(day)).toBeUndefined();
    });

    it('is not lost when somebody tries for it in vain, or opens and closes the ledger', async () => {
      const { ledger, reopen } = opened();
      const hold = await ledger.holdDay(day);
      const other = await reopen();
      await other.holdDay(day);
      await other.close();
      expect(await (await reopen()).holdDay(day)).toBeUndefined();
      expect(hold?.lost.aborted).toBe(false);
    });

    it('leaves other days free', async () => {
      const { ledger, reopen } = opened();
      await ledger.holdDay(day);
      expect(await ledger.holdDay('2026-11-21')).toBeDefined();
      expect(await (await reopen()).holdDay('2026-11-19')).toBeDefined();
    });
  });
}
