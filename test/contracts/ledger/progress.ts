import { describe, expect, it } from 'vitest';
import type { OpenedLedger } from '../ledger.js';
import {
  at,
  claimStep,
  collectedRun,
  done,
  failed,
  halved,
  perform,
  references,
  refused,
  retry,
} from './days.js';
import { collectedFileRun, performUpTo } from './file-days.js';

export function describeProgress(opened: () => OpenedLedger): void {
  describe('the progress of a run', () => {
    it('counts the steps by kind and state', async () => {
      const { ledger } = opened();
      const run = await collectedFileRun(ledger, 'r1', { file: 6, body: 6 });
      await performUpTo(ledger, run, 'write');
      await perform(ledger, run, 'batch 0', done);
      expect(await ledger.steps.count('r1')).toEqual([
        { kind: 'upload', state: 'ready', steps: 1, bookings: 6 },
        { kind: 'write', state: 'done', steps: 1, bookings: 0 },
        { kind: 'batch', state: 'done', steps: 1, bookings: 4 },
        { kind: 'batch', state: 'ready', steps: 1, bookings: 2 },
      ]);
    });

    it('says what is in progress, what can start, and what waits until when', async () => {
      const { ledger, endLeases } = opened();
      const run = await collectedRun(ledger, 'r1', { bookings: references(16) });
      expect(await ledger.steps.readOpenWork('r1', at)).toEqual({
        performed: 0,
        abandoned: 0,
        ready: 4,
        delayed: 0,
      });
      await perform(ledger, run, 'batch 0', retry({ notBefore: at + 60_000, spendsTry: false }));
      await perform(ledger, run, 'batch 1', retry({ notBefore: at + 9_000 }));
      const next = {
        step: 'batch 1',
        kind: 'batch',
        until: at + 9_000,
        code: 'timeout',
        endedAt: at,
        tries: 1,
        waits: 0,
      };
      expect(await ledger.steps.readOpenWork('r1', at)).toEqual({
        performed: 0,
        abandoned: 0,
        ready: 2,
        delayed: 2,
        next,
      });
      expect(await ledger.steps.readOpenWork('r1', at + 9_000)).toMatchObject({
        ready: 3,
        delayed: 1,
        next: { step: 'batch 0', tries: 0, waits: 1 },
      });
      await claimStep(ledger, run, 'batch 2');
      const oldest = { step: 'batch 2', kind: 'batch', since: at };
      expect(await ledger.steps.readOpenWork('r1', at)).toMatchObject({
        performed: 1,
        abandoned: 0,
        oldest,
        next,
      });
      await endLeases();
      expect(await ledger.steps.readOpenWork('r1', at)).toMatchObject({ performed: 0, abandoned: 1, oldest });
    });

    it('lists the attempts that did not succeed, the newest first, and what the service said at the end', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1', { bookings: references(12) });
      await perform(ledger, run, 'batch 0', done);
      await perform(ledger, run, 'batch 1', failed);
      await perform(ledger, run, 'batch 2', halved);
      await perform(ledger, run, 'batch 2.0', halved);
      await perform(ledger, run, 'batch 2.0.1', refused);
      const troubles = await ledger.steps.listTroubles('r1', 10);
      expect(troubles.map(({ step, outcome }) => `${step} ${outcome}`).sort()).toEqual([
        'batch 1 failed',
        'batch 2 halved',
        'batch 2.0 halved',
        'batch 2.0.1 refused',
      ]);
      expect(JSON.stringify(troubles)).not.toContain('Ana Gil');
      expect(await ledger.steps.listTroubles('r1', 2)).toHaveLength(2);
      expect(await ledger.steps.listAnswers('r1', ['batch 2.0.1', 'batch 1'])).toMatchObject([
        { step: 'batch 2.0.1', attempt: 1, statusCode: 2009, answer: 'Invalid hotel data of Ana Gil' },
      ]);
      expect(await ledger.steps.listAnswers('r1', [])).toEqual([]);
      expect((await ledger.bookings.listRefused('r1', 5, 0)).length).toBe(1);
      expect(await ledger.bookings.listRefused('r1', 5, 1)).toEqual([]);
    });
  });
}
