import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WatchEvent } from '../../src/cases/events.js';
import { watchMappings } from '../../src/cases/follow-mappings.js';
import { openCases } from '../../src/cases/open-cases.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { withReplaced } from '../support/fake-ledger.js';
import { type MadeStay, storeRun } from './ledger/stays.js';
import type { OpenedLedger } from './ledger.js';
import { at, rowOf, syncRows } from './mapping-copy/pages.js';

const { signal } = new AbortController();
const today = '2026-11-22';
const now = Date.UTC(2026, 10, 22, 5, 0);

/** A booking of a hotel of this provider, as master hotel 7. */
function bookingOf(
  providerName: string,
  reference: string,
  changes: { serviceId?: number; checkInDate?: string; checkOutDate?: string } = {},
): MadeStay {
  const { serviceId = 7, checkInDate = '2026-12-01', checkOutDate = '2026-12-30' } = changes;
  const booking = {
    ...{ serviceId, bookingReferenceId: reference, providerName, providerHotelId: 'H' },
    ...{ checkInDate, checkOutDate },
  };
  return { stream: 'posted', booking };
}

/** How that provider's hotel is mapped now. */
const mapped = (providerName: string, serviceId: number, isDeleted = false) =>
  rowOf('H', serviceId, { providerName, isDeleted });

/** The contract of what the watch reads from every adapter of the ledger. */
export function describeWatchContract(
  name: string,
  { open }: { readonly open: () => Promise<OpenedLedger> },
): void {
  describe(`the watch: ${name}`, () => {
    let opened: OpenedLedger;
    let ledger: Ledger;
    let events: string[];
    beforeEach(async () => {
      opened = await open();
      ledger = opened.ledger;
      events = [];
      await syncRows(
        ledger.mappings,
        ['a', 'b', 'c'].map((provider) => mapped(provider, 7)),
      );
    });
    afterEach(() => opened.cleanUp());

    const book = (id: string, stays: readonly MadeStay[]) =>
      storeRun(ledger, {
        ...{ id, day: '2026-11-20', delivery: 'body', trigger: 'schedule', topsUp: false, isCollected: true },
        stays,
      });
    const notify = ({ type }: { readonly type: WatchEvent['type'] | string }) => void events.push(type);
    const watch = (watched: Ledger = ledger) =>
      watchMappings({ ledger: watched, today, clock: () => now, notify }, signal);

    it('looks again if it was cut off before the moves counted as compared, and opens nothing twice', async () => {
      await book('r1', [bookingOf('a', 'BR-1')]);
      await syncRows(ledger.mappings, [mapped('a', 8)], at + 1);
      const killed = async () => {
        throw new Error('killed');
      };
      const cutOff = withReplaced(ledger, { watch: { finishMoves: killed } });
      await expect(watch(cutOff)).rejects.toThrow('killed');
      const [first] = await ledger.cases.listActive();
      // When the move was seen, not when the watch found it.
      expect(first).toMatchObject({ evidenceAt: at + 1 });
      const { findings } = await watch();
      expect(findings).toMatchObject([{ providerName: 'a', caseId: first?.id }]);
      expect(await ledger.cases.listActive()).toEqual([first]);
    });

    it('takes back what it alone has found once the other hotels of the master hotel have followed', async () => {
      await book('r1', [bookingOf('a', 'BR-1'), bookingOf('b', 'BR-2')]);
      const named = { providerName: 'a', providerHotelId: 'H', serviceId: 7, origin: 'email', at } as const;
      await openCases([named], { ledger, today, clock: () => now });
      await syncRows(ledger.mappings, [mapped('a', 8)], at + 1);
      await watch();
      await syncRows(ledger.mappings, [mapped('b', 9)], at + 2);
      await watch();
      await syncRows(ledger.mappings, [mapped('b', 8), mapped('c', 8)], at + 3);
      expect((await watch()).counts).toMatchObject({ dismissed: 1 });
      expect(await ledger.cases.listActive()).toMatchObject([
        { providerName: 'a', origins: ['email', 'watch'] },
      ]);
    });

    it('compares any number of moves, a part at a time', async () => {
      const { watch: store } = ledger;
      await syncRows(ledger.mappings, [mapped('a', 8), mapped('b', 8), mapped('a', 9)], at + 1);
      await syncRows(ledger.mappings, [mapped('c', 9)], at + 2);
      const first = await store.nextMoves(3);
      expect(first).toMatchObject({
        moves: 3,
        mappings: [
          { providerName: 'b', copyServiceId: 8, movedAt: at + 1 },
          { providerName: 'a', copyServiceId: 9, movedAt: at + 1 },
        ],
      });
      await store.finishMoves(first?.upTo ?? 0);
      const second = await store.nextMoves(3);
      expect(second).toMatchObject({ moves: 1, mappings: [{ providerName: 'c', copyServiceId: 9 }] });
      await store.finishMoves(second?.upTo ?? 0);
      await store.finishMoves(first?.upTo ?? 0);
      expect(await store.nextMoves(3)).toBeUndefined();
    });
  });
}
