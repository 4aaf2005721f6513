import { describe, expect, it } from 'vitest';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import type { Ledger } from '../../../src/review/ledger.js';
import type { VolumeDrop } from '../../../src/review/volume.js';
import type { OpenedLedger } from '../ledger.js';
import { at, batchOf, chunkOf, newRun, references, rightOf, startCollect } from './days.js';

const drop: VolumeDrop = {
  accepted: 2,
  usual: 412,
  drops: [{ provider: 'Bed "link" ñ', accepted: 0, usual: 412 }],
};

/** A run with that many bookings. */
async function endedRun(
  ledger: Ledger,
  id: string,
  day: string,
  { bookings = 1, state = 'succeeded' as 'succeeded' | 'failed', topsUp = false } = {},
): Promise<void> {
  const run = await ledger.createRun(newRun(id, { day, topsUp }));
  const collect = await startCollect(ledger, run);
  await collect.store(chunkOf({ batches: [batchOf(0, references(bookings))] }));
  await collect.noteVolume({ at: 1, providers: { Bedlink: bookings } });
  await ledger.settle(rightOf(run), { state, at });
}

export function describeVolumes(opened: () => OpenedLedger): void {
  describe('volumes', () => {
    it('it keeps a drop with the run until the run is collected again', async () => {
      const { ledger } = opened();
      const run = await ledger.createRun(newRun('r1'));
      await (await startCollect(ledger, run)).noteVolume({ at: 1, providers: { Bedlink: 2 }, drop });
      expect((await ledger.getRun('r1')).volume).toEqual(drop);
      const again = await startCollect(ledger, run);
      expect(await ledger.getRun('r1')).not.toHaveProperty('volume');
      await again.noteVolume({ at: 1, providers: null });
      expect(await ledger.getRun('r1')).not.toHaveProperty('volume');
    });

    it('it lists the newest successful run of each day, without those that top it up', async () => {
      const { ledger } = opened();
      await endedRun(ledger, 'old', '2026-11-06', { bookings: 3 });
      await endedRun(ledger, 'new', '2026-11-06', { bookings: 4 });
      await endedRun(ledger, 'late', '2026-11-06', { topsUp: true });
      await endedRun(ledger, 'failed', '2026-11-06', { state: 'failed' });
      await endedRun(ledger, 'other', '2026-11-13', { state: 'failed' });
      await endedRun(ledger, 'unasked', '2026-11-14');
      const uncounted = await ledger.createRun(newRun('r1', { day: '2026-10-30' }));
      await ledger.settle(rightOf(uncounted), { state: 'succeeded', at });
      expect(await ledger.listVolumes(['2026-11-13', '2026-11-06', '2026-10-30'])).toEqual([
        { day: '2026-10-30', accepted: 0, providers: null },
        { day: '2026-11-06', accepted: 4, providers: { Bedlink: 4 } },
      ]);
      expect(await ledger.listVolumes([])).toEqual([]);
    });

    it('it replaces the reason why a run failed, once', async () => {
      const { ledger } = opened();
      const failure = { class: 'data', code: 'missing', message: 'not there' } as const;
      const given = { before: 'missing', failure: { ...failure, code: 'source-given-up' }, at };
      const run = await ledger.createRun(newRun('r1'));
      expect(await ledger.replaceFailure('r1', given)).toBe(false);
      await ledger.settle(rightOf(run), { state: 'failed', failure, at });
      expect(await ledger.replaceFailure('r1', given)).toBe(true);
      expect(await ledger.replaceFailure('r1', given)).toBe(false);
      expect(await ledger.getRun('r1')).toMatchObject({ state: 'failed', failure: given.failure });
    });

    it('it keeps what is expected of a run across take-overs, until a new one says more', async () => {
      const { ledger } = opened();
      const asked = { expected: 412, acceptsVolume: true } as const;
      expect(await ledger.createRun(newRun('r1', asked))).toMatchObject(asked);
      expect(await ledger.takeOver('r1')).toMatchObject(asked);
      expect(await ledger.takeOver('r1', { expected: 0 })).toMatchObject({ ...asked, expected: 0 });
      expect(await ledger.getRun('r1')).toMatchObject({ ...asked, expected: 0 });
      const plain = await ledger.createRun(newRun('r2', { day: '2026-11-21' }));
      expect(plain).not.toHaveProperty('expected');
      expect(plain).not.toHaveProperty('acceptsVolume');
      const accepted = await ledger.takeOver('r2', { acceptsVolume: true });
      expect(accepted).toMatchObject({ acceptsVolume: true });
      expect(await ledger.getRun('r2')).toEqual(accepted);
    });

    it('it records what is expected of a run in any state, and a day with a different number is not good', async () => {
      const { ledger } = opened();
      const run = await ledger.createRun(newRun('r1', { startedAt: at }));
      const collect = await ledger.beginCollect(rightOf(run), { source: 'x', at, batchSize: 500 });
      await collect.finish({ steps: [], at });
      await ledger.settle(rightOf(run), { state: 'succeeded', at });
      const today = createBusinessDay(run.day, 'Europe/Madrid').next();
      expect(await ledger.noteExpected('r1', 0)).toMatchObject({ state: 'succeeded', expected: 0 });
      expect(await ledger.summarise(today)).toMatchObject({ lastGoodDay: run.day });
      const noted = await ledger.noteExpected('r1', 412);
      expect(await ledger.getRun('r1')).toEqual(noted);
      expect(noted).toMatchObject({ state: 'succeeded', token: run.token, expected: 412 });
      expect(await ledger.summarise(today)).not.toHaveProperty('lastGoodDay');
      await expect(ledger.noteExpected('r9', 1)).rejects.toThrow(RangeError);
    });
  });
}
