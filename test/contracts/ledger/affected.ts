import { describe, expect, it } from 'vitest';
import type { AffectedLines } from '../../../src/review/history.js';
import { FencedError, type Ledger } from '../../../src/review/ledger.js';
import type { OpenedLedger } from '../ledger.js';
import {
  at,
  batchOf,
  chunkOf,
  claimStep,
  collectedRun,
  done,
  fileLineOf,
  newRun,
  references,
  rightOf,
} from './days.js';
import { collectedFileRun, performUpTo } from './file-days.js';

const verdicts = { affected: 2, unanswered: 0, unclear: 0, malformed: 0 };

export function describeAffected(opened: () => OpenedLedger): void {
  describe('measuring the stored batches', () => {
    it('counts batches and bookings by form, for that run only', async () => {
      const { ledger } = opened();
      await collectedFileRun(ledger, 'r1', { file: 10, body: 5 });
      await collectedRun(ledger, 'other', { day: '2026-11-19', bookings: references(30) });
      expect(await ledger.measureBatches('r1', 'file')).toEqual({ batches: 3, bookings: 10 });
      expect(await ledger.measureBatches('r1', 'body')).toEqual({ batches: 2, bookings: 5 });
      expect(await ledger.measureBatches('other', 'file')).toEqual({ batches: 0, bookings: 0 });
      await expect(ledger.measureBatches('nobody', 'file')).rejects.toThrow(RangeError);
    });
  });

  describe('affected bookings', () => {
    it('are none before any are recorded', async () => {
      const { ledger } = opened();
      await collectedFileRun(ledger, 'r1');
      expect(await ledger.nextAffected('r1')).toBeUndefined();
      await expect(ledger.nextAffected('nobody')).rejects.toThrow(RangeError);
    });

    it('are listed batch by batch, with their lines, and counted', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1', { file: 18 });
      await collectedFileRun(ledger, 'other', { file: 18, day: '2026-11-19' });
      await performUpTo(ledger, run, 'await-result');
      await ledger.replaceAffected(await claimStep(ledger, run, 'archive'), [
        { batch: 4, places: [1] },
        { batch: 0, places: [0, 3] },
        { batch: 3, places: [2] },
      ]);
      expect((await ledger.getRun('r1')).counts.affected).toBe(4);
      expect(await readAll(ledger, 'r1')).toEqual([
        { batch: 0, lines: [fileLineOf('F-0'), fileLineOf('F-3')] },
        { batch: 3, lines: [fileLineOf('F-14')] },
        { batch: 4, lines: [fileLineOf('F-17')] },
      ]);
      expect(await readAll(ledger, 'other')).toEqual([]);
      expect((await ledger.getRun('other')).counts.affected).toBe(0);
    });

    it('can be at any place of a batch of ten thousand', async () => {
      const { ledger } = opened();
      const run = await ledger.createRun(newRun('r1', { delivery: 'file' }));
      const collect = await ledger.beginCollect(rightOf(run), { source: 'x', at, batchSize: 10_000 });
      await collect.store(chunkOf({ batches: [batchOf(0, references(10_000), 'file')] }));
      await collect.finish({ steps: [{ name: 'archive', kind: 'archive', bookings: 0 }], at });
      const claim = await claimStep(ledger, run, 'archive');
      await ledger.replaceAffected(claim, [{ batch: 0, places: [255, 256, 9_999] }]);
      expect((await ledger.nextAffected('r1'))?.lines).toEqual(
        ['BR-255', 'BR-256', 'BR-9999'].map(fileLineOf),
      );
    });

    it('recorded again replace those recorded before', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1', { file: 9 });
      await performUpTo(ledger, run, 'await-result');
      const claim = await claimStep(ledger, run, 'archive');
      await ledger.replaceAffected(claim, [
        { batch: 0, places: [0] },
        { batch: 1, places: [2] },
      ]);
      await ledger.replaceAffected(claim, [{ batch: 1, places: [0, 1] }]);
      expect((await ledger.getRun('r1')).counts.affected).toBe(2);
      expect(await readAll(ledger, 'r1')).toEqual([
        { batch: 1, lines: [fileLineOf('F-4'), fileLineOf('F-5')] },
      ]);
      await ledger.replaceAffected(claim, []);
      expect((await ledger.getRun('r1')).counts.affected).toBe(0);
      expect(await readAll(ledger, 'r1')).toEqual([]);
    });

    it('are recorded only under a valid claim of the step', async () => {
      const { ledger, reopen } = opened();
      const run = await collectedFileRun(ledger, 'r1');
      await performUpTo(ledger, run, 'await-result');
      const asleep = await claimStep(ledger, run, 'archive');
      const other = await reopen();
      const owner = await other.takeOver('r1');
      const affected = [{ batch: 0, places: [0] }];
      await expect(ledger.replaceAffected(asleep, affected)).rejects.toThrow(FencedError);
      const claim = await claimStep(other, owner, 'archive', 2);
      await expect(ledger.replaceAffected(asleep, affected)).rejects.toThrow(FencedError);
      expect(await readAll(ledger, 'r1')).toEqual([]);
      await other.replaceAffected(claim, affected);
      await other.record(claim, done, at);
      await expect(other.replaceAffected(claim, [])).rejects.toThrow(FencedError);
      expect((await ledger.getRun('r1')).counts.affected).toBe(1);
    });

    it('are not recorded partially', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1');
      await performUpTo(ledger, run, 'await-result');
      const claim = await claimStep(ledger, run, 'archive');
      await ledger.replaceAffected(claim, [{ batch: 0, places: [2] }]);
      const twice = [
        { batch: 1, places: [0] },
        { batch: 1, places: [1] },
      ];
      await expect(ledger.replaceAffected(claim, twice)).rejects.toThrow();
      expect(await readAll(ledger, 'r1')).toEqual([{ batch: 0, lines: [fileLineOf('F-2')] }]);
      expect((await ledger.getRun('r1')).counts.affected).toBe(1);
    });

    it('are traced by their reference once the result has arrived, and so are unaffected ones', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1', { file: 6, body: 2 });
      await performUpTo(ledger, run, 'await-result');
      const claim = await claimStep(ledger, run, 'archive');
      await ledger.replaceAffected(claim, [
        { batch: 0, places: [1] },
        { batch: 1, places: [1] },
      ]);
      const isAffected = async (reference: string) => {
        const [trace, ...others] = await ledger.trace(reference);
        expect(others).toEqual([]);
        return trace?.kind === 'booking' ? trace.isAffected : trace;
      };
      expect(await isAffected('F-1')).toBeUndefined();
      await ledger.record(claim, { ...done, file: { verdicts } }, at);
      const all = [...references(6, 'F'), 'B-0'];
      expect(await Promise.all(all.map(isAffected))).toEqual([
        false,
        true,
        false,
        false,
        false,
        true,
        undefined,
      ]);
    });

    it('are traced with the attempts of the call that sent them', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1', { file: 6, body: 2 });
      await performUpTo(ledger, run, 'trigger');
      expect(await ledger.trace('F-5')).toMatchObject([
        {
          form: 'file',
          line: fileLineOf('F-5'),
          step: { name: 'trigger', kind: 'trigger', state: 'done' },
          attempts: [{ step: 'trigger', attempt: 1, outcome: 'done' }],
        },
      ]);
      expect(await ledger.trace('B-1')).toMatchObject([{ form: 'body', step: { name: 'batch 0' } }]);
    });

    it('are removed when their day is pruned; their count stays', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1', { day: '2024-01-01' });
      await performUpTo(ledger, run, 'await-result');
      const claim = await claimStep(ledger, run, 'archive');
      await ledger.replaceAffected(claim, [{ batch: 0, places: [0, 1] }]);
      await ledger.record(claim, { ...done, file: { verdicts } }, at);
      await ledger.settle(rightOf(run), { state: 'succeeded', at: Date.parse('2024-01-02') });
      expect(await ledger.prune('2024-02-01')).toBe(1);
      expect(await ledger.nextAffected('r1')).toBeUndefined();
      expect(await ledger.trace('F-0')).toEqual([]);
      expect((await ledger.getRun('r1')).counts.affected).toBe(2);
    });
  });
}

async function readAll(ledger: Ledger, runId: string): Promise<AffectedLines[]> {
  const all: AffectedLines[] = [];
  for (
    let next = await ledger.nextAffected(runId);
    next;
    next = await ledger.nextAffected(runId, next.batch)
  ) {
    // Guards against an endless loop.
    expect(next.batch).toBeGreaterThan(all.at(-1)?.batch ?? -1);
    all.push(next);
  }
  return all;
}
