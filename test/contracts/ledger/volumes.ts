import { describe, expect, it } from 'vitest';
import type { FilterReport } from '../../../src/booking/source.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import type { VolumeComparison } from '../../../src/rules/run.js';
import type { OpenedLedger } from '../ledger.js';
import { at, batchOf, chunkOf, collectedRun, newRun, references, rightOf, startCollect } from './days.js';

const comparison: VolumeComparison = {
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
  const run = await ledger.runs.create(newRun(id, { day, topsUp }));
  const collect = await startCollect(ledger, run);
  await collect.store(chunkOf({ batches: [batchOf(0, references(bookings))] }));
  await collect.noteVolume({ at: 1, providers: { Bedlink: bookings } });
  await ledger.runs.settle(rightOf(run), { state, at });
}

export function describeVolumes(opened: () => OpenedLedger): void {
  describe('volumes', () => {
    it('it keeps a drop with the run until the run is collected again', async () => {
      const { ledger } = opened();
      const run = await ledger.runs.create(newRun('r1'));
      await (await startCollect(ledger, run)).noteVolume({ at: 1, providers: { Bedlink: 2 }, comparison });
      expect((await ledger.runs.get('r1')).volume).toEqual(comparison);
      const again = await startCollect(ledger, run);
      expect(await ledger.runs.get('r1')).not.toHaveProperty('volume');
      await again.noteVolume({ at: 1, providers: null });
      expect(await ledger.runs.get('r1')).not.toHaveProperty('volume');
    });

    it('it lists the newest successful run of each day, without those that top it up', async () => {
      const { ledger } = opened();
      await endedRun(ledger, 'old', '2026-11-06', { bookings: 3 });
      await endedRun(ledger, 'new', '2026-11-06', { bookings: 4 });
      await endedRun(ledger, 'late', '2026-11-06', { topsUp: true });
      await endedRun(ledger, 'failed', '2026-11-06', { state: 'failed' });
      await endedRun(ledger, 'other', '2026-11-13', { state: 'failed' });
      await endedRun(ledger, 'unasked', '2026-11-14');
      const missed = await collectedRun(ledger, 'missed', { day: '2026-11-12', expected: 99 });
      await ledger.runs.settle(rightOf(missed), { state: 'succeeded', at });
      const whole = await ledger.runs.create(newRun('whole', { day: '2026-11-05', topsUp: true }));
      await (await startCollect(ledger, whole)).noteVolume({ at: 1, providers: { Bedlink: 9 }, accepted: 9 });
      await ledger.runs.settle(rightOf(whole), { state: 'succeeded', at });
      const uncounted = await ledger.runs.create(newRun('r1', { day: '2026-10-30' }));
      await ledger.runs.settle(rightOf(uncounted), { state: 'succeeded', at });
      const days = ['2026-11-13', '2026-11-12', '2026-11-06', '2026-11-05', '2026-10-30'];
      expect(await ledger.runs.listVolumes(days)).toEqual([
        { day: '2026-10-30', accepted: 0, providers: null },
        { day: '2026-11-05', accepted: 9, providers: { Bedlink: 9 } },
        { day: '2026-11-06', accepted: 4, providers: { Bedlink: 4 } },
      ]);
      expect(await ledger.runs.listVolumes([])).toEqual([]);
      expect(await ledger.runs.findVolume('2026-11-06')).toMatchObject({ accepted: 4 });
      expect(await ledger.runs.findVolume('2026-11-13')).toBeUndefined();
    });

    it('it keeps what filters left out, and lists it by the newest complete day’s run of each earlier day', async () => {
      const { ledger } = opened();
      const filtersOf = (leftOut: number): FilterReport => ({
        columns: [
          {
            ...{ column: 'Estado ñ', condition: '["OK"]', isOfWords: true, taken: 1, leftOut },
            values: [{ value: 'OK', records: 1, isTaken: true, isNamed: true }],
          },
        ],
        warnings: [{ kind: 'few-left-out', column: 'Estado ñ', leftOut, usual: 40 }],
      });
      const filtered = async (id: string, day: string, state: 'succeeded' | 'failed', given = {}) => {
        const run = await ledger.runs.create({ ...newRun(id, { day }), ...given });
        await (await startCollect(ledger, run)).noteFilters(filtersOf(Number(id)));
        expect((await ledger.runs.get(id)).filters).toEqual(filtersOf(Number(id)));
        await ledger.runs.settle(rightOf(run), { state, at });
      };
      await filtered('1', '2026-11-06', 'succeeded');
      await filtered('2', '2026-11-06', 'succeeded', { topsUp: true });
      await filtered('3', '2026-11-06', 'failed');
      await filtered('4', '2026-11-06', 'succeeded', { trigger: 'today' });
      await filtered('5', '2026-11-05', 'succeeded');
      await filtered('6', '2026-11-07', 'succeeded');
      await endedRun(ledger, 'without', '2026-11-04');
      expect(await ledger.runs.listFilters('2026-11-07')).toEqual([
        { day: '2026-11-05', columns: filtersOf(5).columns },
        { day: '2026-11-06', columns: filtersOf(2).columns },
      ]);
      const again = await ledger.runs.create(newRun('again'));
      await (await startCollect(ledger, again)).noteFilters(filtersOf(1));
      await startCollect(ledger, again);
      expect(await ledger.runs.get('again')).not.toHaveProperty('filters');
    });

    it('it lists what days counted by provider, whatever became of them, the newest first', async () => {
      const { ledger } = opened();
      await endedRun(ledger, 'old', '2026-11-06', { bookings: 3 });
      await endedRun(ledger, 'failed', '2026-11-06', { bookings: 4, state: 'failed' });
      const silent = await ledger.runs.create(newRun('silent', { day: '2026-11-13' }));
      await (await startCollect(ledger, silent)).noteVolume({ at: 1, providers: {}, comparison });
      const uncounted = await ledger.runs.create(newRun('uncounted', { day: '2026-10-30' }));
      await (await startCollect(ledger, uncounted)).noteVolume({ at: 1, providers: null });
      expect(await ledger.runs.listCounted(['2026-10-30', '2026-11-06', '2026-11-13'])).toEqual([
        { day: '2026-11-13', providers: {}, silent: ['Bed "link" ñ'] },
        { day: '2026-11-06', providers: { Bedlink: 4 }, silent: [] },
      ]);
      expect(await ledger.runs.listCounted([])).toEqual([]);
    });

    it('it keeps what is expected of a run across take-overs, until a new one says more', async () => {
      const { ledger } = opened();
      const acceptances = { volume: { at, by: 'Ada "O" ñ' } };
      const asked = { expected: 412, acceptances, acceptsRepeated: true } as const;
      expect(await ledger.runs.create(newRun('r1', asked))).toMatchObject(asked);
      expect(await ledger.runs.takeOver('r1')).toMatchObject(asked);
      expect(await ledger.runs.takeOver('r1', { expected: 0 })).toMatchObject({ ...asked, expected: 0 });
      expect(await ledger.runs.get('r1')).toMatchObject({ ...asked, expected: 0 });
      const plain = await ledger.runs.create(newRun('r2', { day: '2026-11-21' }));
      expect(plain).not.toHaveProperty('expected');
      expect(plain).not.toHaveProperty('acceptances');
      expect(plain).not.toHaveProperty('acceptsRepeated');
      const accepted = await ledger.runs.takeOver('r2', { acceptances, acceptsRepeated: true });
      expect(accepted).toMatchObject({ acceptances, acceptsRepeated: true });
      expect(await ledger.runs.get('r2')).toEqual(accepted);
      // What somebody accepts later is added.
      expect(await ledger.runs.accept('r2', { affected: { at, by: 'bob' } })).toMatchObject({
        acceptances: { ...acceptances, affected: { at, by: 'bob' } },
      });
    });

    it('it replaces the reason why a run failed, if it is still that one', async () => {
      const { ledger } = opened();
      const failure = { class: 'data', code: 'missing', message: 'not there' } as const;
      const given = { before: 'missing', failure: { ...failure, code: 'source-given-up' }, at };
      const run = await ledger.runs.create(newRun('r1', { trigger: 'schedule' }));
      await ledger.runs.settle(rightOf(run), { state: 'failed', failure, at });
      expect(await ledger.runs.replaceFailure('r1', given)).toBe(true);
      expect(await ledger.runs.replaceFailure('r1', given)).toBe(false);
      expect(await ledger.runs.get('r1')).toMatchObject({ state: 'failed', failure: given.failure });
      // It was only a warning while it was tried again.
      expect(await ledger.notices.listProblems()).toMatchObject([{ severity: 'critical', reminders: 1 }]);
    });

    it('it keeps how far ahead the clock was until the run is collected again', async () => {
      const { ledger } = opened();
      const run = await ledger.runs.create(newRun('r1'));
      await startCollect(ledger, run);
      expect(await ledger.runs.noteClockLead('r1', 7_200_000)).toMatchObject({ clockLead: 7_200_000 });
      await startCollect(ledger, run);
      expect(await ledger.runs.get('r1')).not.toHaveProperty('clockLead');
      await ledger.runs.settle(rightOf(run), { state: 'succeeded', clockLead: 3_600_000, at });
      expect(await ledger.runs.get('r1')).toMatchObject({ state: 'succeeded', clockLead: 3_600_000 });
    });
  });
}
