import { describe, expect, it } from 'vitest';
import type { ErasedGuest } from '../../../src/ledger/guests.js';
import type { OpenedLedger } from '../ledger.js';
import {
  at,
  chunkOf,
  claimStep,
  collectedRun,
  done,
  newRun,
  perform,
  record,
  rightOf,
  startCollect,
} from './days.js';
import { collectedFileRun, performUpTo } from './file-days.js';

const guest: ErasedGuest = { hash: 'ab', keyId: 'k', bits: 7, at };

export function describeErasures(opened: () => OpenedLedger): void {
  describe('erased guests', () => {
    it('are remembered once, in every process', async () => {
      const { ledger, reopen } = opened();
      expect(await ledger.guests.listErased()).toEqual([]);
      const other: ErasedGuest = { ...guest, hash: 'cd', bits: 0 };
      await ledger.guests.rememberErased([guest]);
      await ledger.guests.rememberErased([{ ...guest, at: at + 1 }, other]);
      const again = await reopen();
      expect(await again.guests.listErased()).toEqual([guest, other]);
      await again.close();
    });

    it('are recorded before anything of them is removed, once nobody performs a step of the day', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1');
      const claim = await claimStep(ledger, run, 'batch 0');
      expect(await ledger.guests.beginErasing('r1', at)).toBe(false);
      expect(await ledger.runs.get('r1')).not.toHaveProperty('guestErasedAt');
      await record(ledger, claim, done, at);
      expect(await ledger.guests.beginErasing('r1', at)).toBe(true);
      expect(await ledger.guests.beginErasing('r1', at + 1)).toBe(true);
      expect(await ledger.runs.get('r1')).toMatchObject({ guestErasedAt: at });
    });

    it('are blanked in the batches that contain them, with the service’s messages about these', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1', { bookings: ['a', 'b', 'c', 'd', 'e'] });
      await perform(ledger, run, 'batch 0', done);
      await perform(ledger, run, 'batch 1', done);
      await ledger.runs.settle(rightOf(run), { state: 'succeeded', at });
      await ledger.guests.eraseBookings('r1', (lines) =>
        lines.includes('7,e,')
          ? { rows: [0], lines: Buffer.from(lines.toString().replace('Ana Gil', '')) }
          : undefined,
      );
      expect((await ledger.bookings.readBatch('r1', 'posted', 0)).toString()).toContain('Ana Gil');
      expect((await ledger.bookings.readBatch('r1', 'posted', 1)).toString()).not.toContain('Ana Gil');
      expect(await ledger.bookings.trace('a')).toMatchObject([{ attempts: [{ answer: 'Success' }] }]);
      expect(JSON.stringify(await ledger.bookings.trace('e'))).not.toContain('Success');
      expect(await ledger.steps.listAnswered('r1')).toMatchObject([{ step: 'batch 0', answer: 'Success' }]);
      await ledger.guests.dropAnswers('r1', [{ step: 'batch 0', attempt: 1 }]);
      expect(await ledger.steps.listAnswered('r1')).toEqual([]);
      await performUpTo(ledger, await collectedFileRun(ledger, 'r2', { day: '2026-11-19' }), 'trigger');
      await ledger.guests.eraseBookings('r2', (lines) => ({ rows: [0], lines }));
      expect(await ledger.steps.listAnswered('r2')).toEqual([]);
    });

    it('are removed from the rejects of one run, with the hash of the reference on request', async () => {
      const { ledger } = opened();
      const rejects = [1, 2].map((place) => ({
        place,
        reason: 'service-id-invalid' as const,
        reference: `R-${place}`,
        field: 'ServiceId',
        value: 'Ana Gil',
      }));
      for (const id of ['r1', 'r2']) {
        const run = await ledger.runs.create(newRun(id));
        const collect = await startCollect(ledger, run);
        await collect.store(chunkOf({ rejects }));
        await collect.finish({ steps: [], at });
        await ledger.runs.settle(rightOf(run), { state: 'failed', at });
      }
      await ledger.rejects.eraseReject('r1', 1, { withHash: true });
      await ledger.rejects.eraseReject('r1', 2, { withHash: false });
      const kept = { reason: 'service-id-invalid', field: 'ServiceId' };
      expect(await ledger.rejects.list('r1', 9)).toEqual([
        { place: 1, ...kept },
        { place: 2, ...kept },
      ]);
      expect(await ledger.rejects.list('r2', 9)).toEqual(rejects);
    });
  });
}
