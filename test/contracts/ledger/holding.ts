import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { collectGarbage } from '../../support/collect-garbage.js';
import type { OpenedLedger } from '../ledger.js';
import { day } from './days.js';

export function describeHolding(opened: () => OpenedLedger): void {
  describe('the right to work on a day', () => {
    it('has one holder at a time, in the same process and in another', async () => {
      const { ledger, reopen } = opened();
      const other = await reopen();
      const hold = await ledger.holds.day(day);
      expect(hold?.lost.aborted).toBe(false);
      expect(await ledger.holds.day(day)).toBeUndefined();
      expect(await other.holds.day(day)).toBeUndefined();
    });

    it('is free for others after its release, and is not taken from them when it is released twice', async () => {
      const { ledger, reopen } = opened();
      const first = await ledger.holds.day(day);
      await first?.release();
      const second = await (await reopen()).holds.day(day);
      await first?.release();
      expect(second?.lost.aborted).toBe(false);
      expect(await ledger.holds.day(day)).toBeUndefined();
    });

    it('stays held when nothing in the process refers to it any more', async () => {
      const { ledger } = opened();
      await ledger.holds.day(day);
      await nextTurn();
      collectGarbage();
      await nextTurn();
      expect(await ledger.holds.day(day)).toBeUndefined();
    });
  });
}

export function describePermits(opened: () => OpenedLedger): void {
  describe('permits for concurrent runs', () => {
    it('are limited in number over all processes, and freed one by one, whoever held them', async () => {
      const { ledger, reopen } = opened();
      const other = await reopen();
      const first = await ledger.holds.permit(2);
      const second = await other.holds.permit(2);
      await first?.release();
      expect(await other.holds.permit(2)).toBeDefined();
      expect(await ledger.holds.permit(2)).toBeUndefined();
      await second?.release();
      expect(await ledger.holds.permit(2)).toBeDefined();
    });

    it('follow the given number; zero means none', async () => {
      const { ledger } = opened();
      expect(await ledger.holds.permit(0)).toBeUndefined();
      expect(await ledger.holds.permit(1)).toBeDefined();
      expect(await ledger.holds.permit(1)).toBeUndefined();
      expect(await ledger.holds.permit(2)).toBeDefined();
    });
  });
}
