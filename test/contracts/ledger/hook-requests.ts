import { describe, expect, it } from 'vitest';
import type { OpenedLedger } from '../ledger.js';
import { at } from './days.js';

const dayMs = 24 * 60 * 60 * 1_000;

export function describeHookRequests(opened: () => OpenedLedger): void {
  describe('requests of the end-of-day hook', () => {
    it('stay with one run when two processes get them at once', async () => {
      const { ledger, reopen } = opened();
      const other = await reopen();
      await Promise.all([
        ledger.runs.rememberHook({ id: 'msg-1', runId: 'r1', at }),
        other.runs.rememberHook({ id: 'msg-1', runId: 'r2', at }),
      ]);
      const runId = await ledger.runs.findOfHook('msg-1');
      expect(['r1', 'r2']).toContain(runId);
      expect(await other.runs.findOfHook('msg-1')).toBe(runId);
    });

    it('are remembered for a month', async () => {
      const { ledger } = opened();
      await ledger.runs.rememberHook({ id: 'old', runId: 'r1', at });
      await ledger.runs.rememberHook({ id: 'young', runId: 'r2', at: at + 2 * dayMs });
      await ledger.runs.rememberHook({ id: 'new', runId: 'r3', at: at + 30 * dayMs });
      expect(await ledger.runs.findOfHook('old')).toBe('r1');
      await ledger.runs.rememberHook({ id: 'newer', runId: 'r4', at: at + 32 * dayMs });
      expect(await ledger.runs.findOfHook('old')).toBeUndefined();
      expect(await ledger.runs.findOfHook('young')).toBe('r2');
    });
  });
}
