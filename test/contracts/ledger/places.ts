import { describe, expect, it } from 'vitest';
import type { OpenedLedger } from '../ledger.js';
import { day } from './days.js';

export function describePlaces(opened: () => OpenedLedger): void {
  describe('places for runs at the same time', () => {
    it('are as many as there are, over all processes', async () => {
      const { ledger, reopen } = opened();
      const other = await reopen();
      const held = [await ledger.holdPlace(3), await other.holdPlace(3), await ledger.holdPlace(3)];
      for (const hold of held) expect(hold?.lost.aborted).toBe(false);
      expect(await ledger.holdPlace(3)).toBeUndefined();
      expect(await other.holdPlace(3)).toBeUndefined();
    });

    it('are free again one by one, whoever had them', async () => {
      const { ledger, reopen } = opened();
      const other = await reopen();
      const first = await ledger.holdPlace(2);
      const second = await other.holdPlace(2);
      await first?.release();
      expect(await other.holdPlace(2)).toBeDefined();
      expect(await ledger.holdPlace(2)).toBeUndefined();
      await second?.release();
      expect(await ledger.holdPlace(2)).toBeDefined();
    });

    it('grow with their number, and none is none', async () => {
      const { ledger } = opened();
      expect(await ledger.holdPlace(0)).toBeUndefined();
      expect(await ledger.holdPlace(1)).toBeDefined();
      expect(await ledger.holdPlace(1)).toBeUndefined();
      expect(await ledger.holdPlace(2)).toBeDefined();
    });

    it('are not days', async () => {
      const { ledger } = opened();
      expect(await ledger.holdDay(day)).toBeDefined();
      expect(await ledger.holdPlace(1)).toBeDefined();
      expect(await ledger.holdDay('2026-11-21')).toBeDefined();
    });
  });
}
