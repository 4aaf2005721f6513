import { describe, expect, it } from 'vitest';
import { FencedError } from '../../../src/ledger/errors.js';
import type { OpenedLedger } from '../ledger.js';
import {
  at,
  claimStep,
  collectedRun,
  done,
  look,
  openNames,
  perform,
  record,
  retry,
  rightOf,
} from './days.js';

export function describeLeases(opened: () => OpenedLedger): void {
  describe('the lease of a claim', () => {
    it('keeps others from claiming the step while it lasts', async () => {
      const { ledger, reopen } = opened();
      const run = await collectedRun(ledger, 'r1');
      expect(await ledger.steps.isBeingPerformed('r1')).toBe(false);
      const claim = await claimStep(ledger, run, 'batch 0');
      const other = await reopen();
      expect(await other.steps.isBeingPerformed('r1')).toBe(true);
      expect(await other.steps.reopenAbandoned('r1')).toBe(0);
      expect(await ledger.steps.holdsClaim(claim)).toBe(true);
      expect(await openNames(other, 'r1')).toEqual(['batch 1', 'batch 2']);
    });

    it('expires unless renewed: the step is reopened, and what was sent counts as repeated', async () => {
      const { ledger, reopen, endLeases } = opened();
      const run = await collectedRun(ledger, 'r1');
      await claimStep(ledger, run, 'batch 0');
      await claimStep(ledger, run, 'batch 2');
      await endLeases();
      const other = await reopen();
      expect(await other.steps.isBeingPerformed('r1')).toBe(false);
      expect(await other.steps.reopenAbandoned('r1')).toBe(2);
      expect(await other.steps.reopenAbandoned('r1')).toBe(0);
      expect(await other.steps.listOpen('r1', { limit: 9 })).toEqual([
        { position: 0, name: 'batch 0', attempt: 2 },
        { position: 1, name: 'batch 1', attempt: 1 },
        { position: 2, name: 'batch 2', attempt: 2 },
      ]);
      expect(await other.steps.listAttempts('r1', 'batch 0')).toEqual([
        {
          step: 'batch 0',
          attempt: 1,
          startedAt: at,
          endedAt: at,
          outcome: 'interrupted',
          code: 'owner-lost',
        },
      ]);
      // The token is unchanged: nobody has taken the run over.
      const claim = await claimStep(other, run, 'batch 0', 2);
      expect(claim.mayRepeat).toBe(true);
      expect((await other.runs.get('r1')).counts.repeated).toBe(4);
    });

    it('is extended by a full lease each time it is renewed', async () => {
      const { ledger, reopen, endLeases } = opened();
      const run = await collectedRun(ledger, 'r1');
      const renewed = await claimStep(ledger, run, 'batch 0');
      await claimStep(ledger, run, 'batch 1');
      await endLeases();
      expect(await ledger.steps.renewClaims([renewed])).toEqual([]);
      const other = await reopen();
      expect(await other.steps.isBeingPerformed('r1')).toBe(true);
      expect(await other.steps.reopenAbandoned('r1')).toBe(1);
      expect(await openNames(other, 'r1')).toEqual(['batch 1', 'batch 2']);
      await record(ledger, renewed, done, at);
    });

    it('fences an owner that wakes too late, whatever has happened to the step since', async () => {
      const { ledger, reopen, endLeases } = opened();
      const run = await collectedRun(ledger, 'r1');
      const asleep = await claimStep(ledger, run, 'batch 0');
      await endLeases();
      const other = await reopen();
      await other.steps.reopenAbandoned('r1');
      const fenced = async () => {
        const before = await look(other, 'r1');
        expect(await ledger.steps.renewClaims([asleep])).toEqual([asleep]);
        expect(await ledger.steps.holdsClaim(asleep)).toBe(false);
        await expect(record(ledger, asleep, done, at)).rejects.toThrow(FencedError);
        expect(await look(other, 'r1')).toEqual(before);
      };
      await fenced();
      const claim = await claimStep(other, run, 'batch 0', 2);
      await fenced();
      await record(other, claim, done, at);
      await fenced();
      expect((await other.runs.get('r1')).counts).toMatchObject({ delivered: 4, repeated: 4 });
    });

    it('reports which of many claims are outdated, over several runs', async () => {
      const { ledger, reopen } = opened();
      const run = await collectedRun(ledger, 'r1');
      const earlier = await collectedRun(ledger, 'r2', { day: '2026-11-19' });
      const kept = await claimStep(ledger, run, 'batch 0');
      const recorded = await claimStep(ledger, run, 'batch 1');
      await record(ledger, recorded, retry(), at);
      const again = await ledger.steps.claim(rightOf(run), 'batch 1', 2, at);
      if (!again) throw new Error('expected a claim, got: none');
      const takenOver = await claimStep(ledger, earlier, 'batch 0');
      await (await reopen()).runs.takeOver('r2');
      expect(await ledger.steps.renewClaims([takenOver, kept, recorded, again])).toEqual([
        takenOver,
        recorded,
      ]);
      expect(await ledger.steps.renewClaims([])).toEqual([]);
    });

    it('starts again with each claim', async () => {
      const { ledger, reopen, endLeases } = opened();
      const run = await collectedRun(ledger, 'r1');
      await perform(ledger, run, 'batch 0', retry());
      await endLeases();
      await claimStep(ledger, run, 'batch 0', 2);
      expect(await (await reopen()).steps.reopenAbandoned('r1')).toBe(0);
    });

    it('of another run is not touched', async () => {
      const { ledger, endLeases } = opened();
      await collectedRun(ledger, 'r1');
      const other = await collectedRun(ledger, 'r2', { day: '2026-11-19' });
      const claim = await claimStep(ledger, other, 'batch 0');
      await endLeases();
      expect(await ledger.steps.reopenAbandoned('r1')).toBe(0);
      expect(await ledger.steps.holdsClaim(claim)).toBe(true);
    });
  });
}
