import { describe, expect, it } from 'vitest';
import type { Ledger } from '../../../src/ledger/ledger.js';
import { planBatches } from '../../../src/rules/batch-plan.js';
import { canaryStep } from '../../../src/rules/canary.js';
import type { NewRun } from '../../../src/rules/changes.js';
import type { Run } from '../../../src/rules/run.js';
import type { OpenedLedger } from '../ledger.js';
import {
  at,
  batchOf,
  batchSize,
  chunkOf,
  done,
  lineOf,
  newRun,
  openNames,
  perform,
  references,
  refused,
  startCollect,
} from './days.js';
import { planFileRun } from './file-days.js';

const withinMs = 3_600_000;

async function runWithCanary(ledger: Ledger, id: string, asked: Partial<NewRun> = {}): Promise<Run> {
  const run = await ledger.runs.create(newRun(id, asked));
  const collect = await startCollect(ledger, run);
  await collect.store(
    chunkOf({ batches: [batchOf(0, references(3), run.delivery === 'file' ? 'file' : 'posted')] }),
  );
  const reference = `CANARY-${id}`;
  const steps = run.delivery === 'file' ? planFileRun({ file: 3 }) : planBatches(3, batchSize);
  const canary = { reference, line: lineOf(reference), withinMs };
  return collect.finish({ steps: [...steps, canaryStep], canary, at });
}

export function describeCanaries(opened: () => OpenedLedger): void {
  describe('a canary', () => {
    it('is stored with its run and counts as no booking, whatever happens to its step', async () => {
      const { ledger } = opened();
      const run = await runWithCanary(ledger, 'r1');
      expect(run.counts).toMatchObject({ accepted: 3, pending: 3, delivered: 0 });
      expect(await openNames(ledger, 'r1')).toEqual(['batch 0', 'canary']);
      expect(await ledger.bookings.trace('CANARY-r1')).toEqual([]);
      await perform(ledger, run, 'canary', done);
      await perform(ledger, run, 'batch 0', done);
      expect((await ledger.runs.get('r1')).counts).toMatchObject({ delivered: 3, pending: 0, repeated: 0 });
      expect(await ledger.runs.tally('r1')).toMatchObject({ stored: 3, delivered: 3, openSteps: 0 });
      expect(await ledger.canaries.find('r1')).toMatchObject({
        ...{ runId: 'r1', day: '2026-11-20', line: lineOf('CANARY-r1'), withinMs, sentAt: at },
      });
      expect(await ledger.canaries.findByReference('CANARY-r1')).toMatchObject({ runId: 'r1' });
      expect(await ledger.canaries.findByReference('BR-1')).toBeUndefined();
    });

    it('that nothing names in time is reported once, over all processes', async () => {
      const { ledger, reopen } = opened();
      const unsent = await runWithCanary(ledger, 'unsent', { day: '2026-11-19' });
      await perform(ledger, unsent, 'canary', refused);
      expect(await ledger.canaries.find('unsent')).toMatchObject({ givenUpFor: 'code-2009' });
      await ledger.runs.abandon(unsent.id, { reason: 'over', at });
      const run = await runWithCanary(ledger, 'r1');
      await perform(ledger, run, 'canary', done);
      expect(await ledger.canaries.reportMissed(at + withinMs - 1)).toEqual([]);
      const other = await reopen();
      const reports = await Promise.all(
        [ledger, other, ledger, other].map((one) => one.canaries.reportMissed(at + withinMs)),
      );
      expect(reports.flat()).toMatchObject([
        { runId: 'r1', reference: 'CANARY-r1', reportedAt: at + withinMs },
      ]);
      expect(await other.canaries.reportMissed(at + 9 * withinMs)).toEqual([]);
    });

    it('is named by the first e-mail that names it and no booking', async () => {
      const { ledger } = opened();
      await perform(ledger, await runWithCanary(ledger, 'r1'), 'canary', done);
      const mail = {
        ...{ readAt: at + 9_000, from: 'inbox', bookings: [], pairs: [], outcome: 'named' as const },
        canaries: ['CANARY-r1'],
      };
      for (const [sha256, receivedAt] of [['aa', at + 4_000] as const, ['bb', at + 8_000] as const])
        await ledger.mails.record({ ...mail, sha256, receivedAt });
      expect(await ledger.canaries.find('r1')).toMatchObject({ namedAt: at + 4_000 });
      expect(await ledger.mails.listWithoutCases()).toEqual([]);
    });

    it('is found by its day, and removed with the records of its run', async () => {
      const { ledger } = opened();
      const old = await runWithCanary(ledger, 'old', { day: '2026-11-18' });
      await ledger.runs.abandon(old.id, { reason: 'over', at });
      await runWithCanary(ledger, 'r1');
      const list = async (filter: { day?: string; since?: number }) =>
        (await ledger.canaries.list({ limit: 9, ...filter })).map(({ runId }) => runId);
      expect(await list({})).toEqual(['r1', 'old']);
      expect(await list({ day: '2026-11-18' })).toEqual(['old']);
      expect(await list({ since: at + 1 })).toEqual(['r1']);
      expect(await ledger.guests.prune('2026-12-01')).toBe(2);
      expect(await list({ day: '2026-11-18' })).toEqual([]);
    });
  });
}
