import { describe, expect, it } from 'vitest';
import type { RecordedAction } from '../../../src/rules/action.js';
import type { OpenedLedger } from '../ledger.js';
import { at, collectedRun, rightOf } from './days.js';

function action(changes: Partial<RecordedAction> = {}): RecordedAction {
  return {
    at,
    who: 'ana',
    action: 'show',
    subject: 'BR-1',
    details: { found: 2, answers: true },
    ...changes,
  };
}

export function describeAudit(opened: () => OpenedLedger): void {
  describe('the audit trail', () => {
    async function list(filter = {}): Promise<RecordedAction[]> {
      const { audit } = await opened().reopen();
      const actions: RecordedAction[] = [];
      let after: number | undefined;
      for (;;) {
        const chunk = await audit.nextActions(filter, after);
        if (!chunk) return actions;
        actions.push(...chunk.actions);
        after = chunk.cursor;
      }
    }

    it('keeps every action in order, for every process', async () => {
      expect(await list()).toEqual([]);
      const { ledger, reopen } = opened();
      await ledger.audit.record(action());
      await (await reopen()).audit.record(
        action({ who: 'serve', action: 'affected', subject: '2026-11-20' }),
      );
      // A clock that was set back does not change the order.
      await ledger.audit.record(action({ at: at - 5_000, subject: undefined, details: undefined }));
      expect(await list()).toEqual([
        action(),
        action({ who: 'serve', action: 'affected', subject: '2026-11-20' }),
        { at: at - 5_000, who: 'ana', action: 'show', details: {} },
      ]);
    });

    it('finds the actions in a period, and those about a booking', async () => {
      const { ledger } = opened();
      for (const [offset, subject] of [
        [0, 'BR-1'],
        [1, 'BR-2'],
        [2, 'BR-1'],
        [3, 'BR-1'],
      ] as const)
        await ledger.audit.record(action({ at: at + offset, subject }));
      const found = async (filter: object) => (await list(filter)).map((one) => one.at - at);
      expect(await found({ from: at + 1 })).toEqual([1, 2, 3]);
      expect(await found({ from: at + 1, to: at + 2 })).toEqual([1, 2]);
      expect(await found({ subject: 'BR-1' })).toEqual([0, 2, 3]);
      expect(await found({ subject: 'BR-1', to: at + 2 })).toEqual([0, 2]);
      expect(await found({ subject: 'BR-' })).toEqual([]);
    });

    it('is read in chunks, none left out and none twice', async () => {
      const { ledger } = opened();
      const numbers = Array.from({ length: 1_001 }, (_, number) => number);
      // At once: one after the other would take as many commits.
      await Promise.all(numbers.map((number) => ledger.audit.record(action({ at: at + number }))));
      const found = (await list()).map((one) => one.at - at);
      expect(found.toSorted((one, next) => one - next)).toEqual(numbers);
    });

    it('is read newest first, page by page, with the total number of entries', async () => {
      const { ledger, reopen } = opened();
      for (let number = 0; number < 5; number += 1)
        await ledger.audit.record(action({ at: at + number, subject: number === 3 ? 'BR-2' : 'BR-1' }));
      const { audit } = await reopen();
      const filter = { subject: 'BR-1', from: at + 1 };
      const first = await audit.latestActions(filter, { limit: 2 });
      expect([first.total, first.actions.map((one) => one.at - at)]).toEqual([3, [4, 2]]);
      const second = await audit.latestActions(filter, { before: first.cursor, limit: 2 });
      expect([second.total, second.actions.map((one) => one.at - at)]).toEqual([3, [1]]);
      expect(second.cursor).toBeUndefined();
      expect(await audit.latestActions({ to: at - 1 }, { limit: 2 })).toEqual({ actions: [], total: 0 });
    });

    it('finds what a person did, by a part of the name', async () => {
      const { ledger } = opened();
      await ledger.audit.record(action({ who: 'Ana (desk)' }));
      await ledger.audit.record(action({ who: 'serve', action: 'run' }));
      await ledger.audit.record(action({ who: '100%_!', action: 'evidence' }));
      const found = async (filter: object) => (await list(filter)).map(({ who }) => who);
      expect(await found({ who: 'ana' })).toEqual(['Ana (desk)']);
      expect(await found({ who: 'e' })).toEqual(['Ana (desk)', 'serve']);
      expect(await found({ action: 'run' })).toEqual(['serve']);
      expect(await found({ who: 'e', action: 'show' })).toEqual(['Ana (desk)']);
      for (const part of ['%', '_', '!', '0%_']) expect(await found({ who: part })).toEqual(['100%_!']);
    });

    it('can replace the subject of a booking whose reference is erased', async () => {
      const { ledger } = opened();
      for (const subject of ['BR-1', 'BR-2', 'BR-1']) await ledger.audit.record(action({ subject }));
      expect(await ledger.audit.replaceSubject('BR-1', 'erased')).toBe(2);
      expect((await list()).map(({ subject }) => subject)).toEqual(['erased', 'BR-2', 'erased']);
    });

    it('is pruned with the records of the same time', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1', { day: '2026-10-01', bookings: ['a'] });
      await ledger.runs.settle(rightOf(run), { state: 'succeeded', at: Date.parse('2026-10-02') });
      const times = ['2026-10-02T23:59:59.999Z', '2026-10-03T00:00:00Z'].map((time) => Date.parse(time));
      for (const time of times) await ledger.audit.record(action({ at: time }));
      await ledger.guests.prune('2026-10-03');
      expect((await list()).map((one) => one.at)).toEqual(times.slice(1));
    });
  });
}
