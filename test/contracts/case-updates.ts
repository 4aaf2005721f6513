import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CaseEvent } from '../../src/cases/events.js';
import { openCases } from '../../src/cases/open-cases.js';
import { updateCases } from '../../src/cases/update-cases.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { createComparingCollect } from '../../src/review/suspects/comparison.js';
import { planBatches } from '../../src/rules/batch-plan.js';
import type { ResultCounts } from '../../src/rules/review-file.js';
import type { Run } from '../../src/rules/run.js';
import { someBooking, toChunk } from '../desk/some-bookings.js';
import { withReplaced } from '../support/fake-ledger.js';
import {
  at,
  batchOf,
  chunkOf,
  claimStep,
  done,
  newRun,
  record,
  rightOf,
  startCollect,
} from './ledger/days.js';
import { collectedFileRun, performUpTo, planFileRun } from './ledger/file-days.js';
import { type MadeStay, storeRun } from './ledger/stays.js';
import type { OpenedLedger } from './ledger.js';
import { rowOf, syncRows } from './mapping-copy/pages.js';

/** The check-in day of `collectedFileRun`. */
const today = '2026-11-20';
const now = at + 1_000;
const counts: ResultCounts = { affected: 1, unanswered: 0, unclear: 0, malformed: 0, listsUnanswered: true };

function stayOf(reference: string | undefined, changes: Partial<MadeStay['booking']> = {}): MadeStay {
  const booking = {
    ...{ serviceId: 7, providerName: 'hotelbeds', providerHotelId: '007' },
    ...{ checkInDate: '2026-12-01', checkOutDate: '2026-12-05' },
    ...(reference !== undefined && { bookingReferenceId: reference }),
    ...changes,
  };
  return { stream: 'posted', booking };
}

/** The contract of what runs and syncs do to the cases of every adapter. */
export function describeCaseUpdatesContract(
  name: string,
  { open }: { readonly open: () => Promise<OpenedLedger> },
): void {
  describe(`cases after runs and syncs: ${name}`, () => {
    let opened: OpenedLedger;
    let ledger: Ledger;
    let events: CaseEvent[];
    beforeEach(async () => {
      opened = await open();
      ledger = opened.ledger;
      events = [];
    });
    afterEach(() => opened.cleanUp());

    const update = (clock = now, each = ledger) =>
      updateCases({
        ledger: each,
        today,
        clock: () => clock,
        escalateAfterMs: 1_000,
        notify: (event) => events.push(event),
      });
    const listChanges = async () => {
      const trail = await ledger.audit.nextActions({ subject: 'case 1' });
      return trail?.actions.map(({ action, details }) => JSON.stringify([action, details])).toSorted();
    };
    const bookings = async (id = 1) => (await ledger.cases.find(id))?.bookings ?? [];
    const references = async (id = 1) => (await bookings(id)).map(({ reference }) => reference);
    const store = (id: string, day: string, stays: readonly MadeStay[]) =>
      storeRun(ledger, {
        ...{ id, day, delivery: 'body', trigger: 'manual', topsUp: false, isCollected: true },
        stays,
      });

    /** A file run whose result marks its first booking, F-0. */
    async function judgedRun(): Promise<void> {
      const run = await collectedFileRun(ledger, 'r1', { file: 3 });
      await performUpTo(ledger, run, 'trigger');
      await update();
      expect(await ledger.cases.list({ today })).toEqual([]);
      const claim = await claimStep(ledger, run, 'await-result');
      const verdicts = [{ batch: 0, judged: 'incorrect' as const, rows: [0] }];
      await record(ledger, claim, { ...done, file: { verdicts: counts }, verdicts }, at);
    }

    it('are opened by a late result, with every stay on the mapping that is not over, once over all processes', async () => {
      await store('r0', '2026-11-19', [
        stayOf('B-1'),
        stayOf(undefined),
        stayOf('B-2', { checkInDate: '2026-11-19' }),
        stayOf('B-5', { checkInDate: '2026-11-10', checkOutDate: '2026-11-19' }),
        stayOf('B-3', { serviceId: 8 }),
        stayOf('B-4', { providerHotelId: '07' }),
        stayOf('B-6', { checkInDate: '1900-01-01', checkOutDate: '1900-01-02' }),
      ]);
      await judgedRun();
      await Promise.all([update(), update(now, await opened.reopen())]);
      await update();
      expect(await ledger.cases.list({ today })).toMatchObject([
        { id: 1, providerHotelId: '007', serviceId: 7, origins: ['affected'], bookings: 7, openBookings: 7 },
      ]);
      expect((await bookings()).filter(({ isNamed }) => isNamed)).toMatchObject([{ reference: 'F-0' }]);
      expect((await references()).toSorted()).toEqual(['B-1', 'B-2', 'B-6', 'F-0', 'F-1', 'F-2', undefined]);
      expect(events).toEqual([{ type: 'case-opened', cases: 1, bookings: 7 }]);
      expect(await ledger.cases.listRunsToFollow()).toEqual([]);
    });

    it('are opened by suspects whose mapping moved elsewhere or was deleted, not by a merge or a move to what is booked', async () => {
      const hotels: readonly [hotel: string, from: number, to: number | null, booked: number][] = [
        ['moved', 7, 8, 7],
        ['gone', 7, null, 7],
        ['back', 6, 7, 7],
        ['merged', 5, 4, 5],
      ];
      const other = { providerName: 'expedia' };
      const rows = (which: 1 | 2) =>
        hotels.map((one) => rowOf(one[0], one[which] ?? one[1], { isDeleted: one[which] === null }));
      await syncRows(ledger.mappings, [...rows(1), rowOf('other', 5, other)], at - 9);
      await syncRows(ledger.mappings, [...rows(2), rowOf('other', 4, other)], at - 8);
      const run = await ledger.runs.create(newRun('r1'));
      const start = { source: 'x', at, batchSize: hotels.length, comparesMappings: true };
      const collect = await ledger.bookings.beginCollect(rightOf(run), start);
      const bookings = hotels.map(([providerHotelId, , , serviceId]) =>
        someBooking({ providerHotelId, serviceId, bookingReferenceId: providerHotelId }),
      );
      await createComparingCollect(collect, ledger.mappings, at).store(toChunk(bookings));
      const steps = planBatches(hotels.length, hotels.length);
      expect((await collect.finish({ steps, at })).suspects).toBe(hotels.length);
      await update();
      const cases = await ledger.cases.list({ today });
      expect(cases.map((one) => one.providerHotelId).toSorted()).toEqual(['gone', 'moved']);
    });

    it('are corrected at once by a move that came after the verdict', async () => {
      await syncRows(ledger.mappings, [rowOf('007', 7)], at - 9);
      await judgedRun();
      await syncRows(ledger.mappings, [rowOf('007', 8)], at + 2_000);
      await update();
      expect(await ledger.cases.list({ state: 'all', today })).toMatchObject([{ state: 'corrected' }]);
    });

    /** Records what the result of the run says by now, as its steps do while they wait for the rest. */
    async function recordVerdicts(run: Run, attempt: number, incorrect: readonly number[], unnamed = 0) {
      const claim = await claimStep(ledger, run, 'await-result', attempt);
      const verdicts = [
        { batch: 0, judged: 'incorrect' as const, rows: incorrect, sources: incorrect.map(() => 0) },
      ];
      const known = { ...counts, affected: incorrect.length, unanswered: unnamed };
      await record(
        ledger,
        claim,
        {
          kind: 'waiting',
          evidence: { code: 'result-growing' },
          until: at,
          file: { verdicts: known },
          verdicts: incorrect.length > 0 ? verdicts : [],
        },
        at,
      );
    }
    const named = async () =>
      (await bookings()).flatMap(({ reference, isNamed }) => (isNamed ? [reference] : [])).toSorted();
    /** A run whose result is awaited. */
    const awaited = async (references = ['F-0', 'F-1', 'F-2']) => {
      const run = await ledger.runs.create(newRun('r1', { delivery: 'file' }));
      const collect = await startCollect(ledger, run);
      await collect.store(chunkOf({ batches: [batchOf(0, references, 'file')] }));
      await collect.finish({ steps: planFileRun({ file: references.length }), at });
      await performUpTo(ledger, run, 'trigger');
      return run;
    };

    it('say that a newer result calls a named booking correct in all its rooms, once, and resolve nothing', async () => {
      const run = await awaited(['F-0', 'F-1', 'F-2', 'F-2']);
      await recordVerdicts(run, 1, [0, 1, 2], 1);
      await update();
      await recordVerdicts(run, 2, [0, 2]);
      await update();
      await update();
      expect(await named()).toEqual(['F-0', 'F-1', 'F-2']);
      expect((await bookings()).some(({ resolved }) => resolved)).toBe(false);
      expect(await listChanges()).toContain(
        JSON.stringify(['case-updated', { calledCorrect: 1, run: 'r1' }]),
      );
      expect((await listChanges())?.filter((change) => change.includes('calledCorrect'))).toHaveLength(1);
    });

    it('look again at verdicts that are recorded while they look', async () => {
      const run = await awaited();
      await recordVerdicts(run, 1, [0], 2);
      const racing = withReplaced(ledger, {
        cases: {
          async changeByKey(keys, decide) {
            await recordVerdicts(run, 2, [0, 1], 1);
            return ledger.cases.changeByKey(keys, decide);
          },
        },
      });
      await update(now, racing);
      await update();
      expect(await named()).toEqual(['F-0', 'F-1']);
    });

    it('are reported once if the first answer was lost and another process has opened them since', async () => {
      await judgedRun();
      const reconnecting = withReplaced(ledger, {
        cases: {
          async changeByKey(keys, decide) {
            for (const key of keys) decide(undefined, key);
            await update();
            return ledger.cases.changeByKey(keys, decide);
          },
        },
      });
      await update(now, reconnecting);
      expect(events).toEqual([{ type: 'case-opened', cases: 1, bookings: 3 }]);
    });

    it('are reported even if opening others fails: they are not opened again', async () => {
      const hotels = Array.from({ length: 26 }, (_, index) => ({ providerHotelId: `H-${index}` }));
      await store(
        'r0',
        '2026-11-19',
        hotels.map((hotel) => stayOf('B-1', hotel)),
      );
      let left = 1;
      const failing = withReplaced(ledger, {
        cases: {
          changeByKey(keys, decide) {
            left -= 1;
            return left < 0 ? Promise.reject(new Error('away')) : ledger.cases.changeByKey(keys, decide);
          },
        },
      });
      const about = { providerName: 'hotelbeds', serviceId: 7, origin: 'email', at } as const;
      const opening = openCases(
        hotels.map((hotel) => ({ ...about, ...hotel })),
        { ledger: failing, today, clock: () => now, notify: (event) => events.push(event) },
      );
      await expect(opening).rejects.toThrow('away');
      expect(events).toEqual([{ type: 'case-opened', cases: 25, bookings: 25 }]);
    });

    it('let others work between two runs, and stop there on request', async () => {
      for (const id of ['r1', 'r2', 'r3']) await store(id, '2026-11-19', [stayOf(id)]);
      const stopping = new AbortController();
      const followed: string[] = [];
      const watched = withReplaced(ledger, {
        runs: {
          get(id) {
            followed.push(id);
            // As a signal would arrive: in a turn of the event loop.
            setImmediate(() => stopping.abort());
            return ledger.runs.get(id);
          },
        },
      });
      await updateCases({
        ...{ ledger: watched, today, clock: () => now, escalateAfterMs: 1_000 },
        signal: stopping.signal,
      });
      expect(followed).toEqual(['r1']);
      await update();
      expect(await ledger.cases.listRunsToFollow()).toEqual([]);
    });

    const versions: readonly (readonly [day: string, stays: readonly MadeStay[]])[] = [
      ['2026-11-21', [stayOf('N-1'), stayOf('F-0', { providerHotelId: '008' }), stayOf('F-1')]],
      ['2026-11-21', [stayOf('F-0', { checkInDate: '2026-12-02' }), stayOf('F-1', { serviceId: 9 })]],
      ['2026-11-19', [stayOf('F-1', { checkInDate: '2026-12-03' }), stayOf('F-2', { serviceId: 9 })]],
      ['2026-11-21', [stayOf('F-2', { checkInDate: '2026-12-04' })]],
      ['2026-11-22', [stayOf('N-2'), stayOf('N-2', { checkOutDate: '2026-12-07' }), stayOf('F-2')]],
      [
        '2026-11-23',
        [stayOf('N-1', { checkInDate: '2026-11-01' }), stayOf(undefined), stayOf('F-1', { serviceId: 9 })],
      ],
    ];

    it('take in runs that are followed together as if each had been followed alone', async () => {
      await judgedRun();
      await update();
      for (const [index, [day, stays]] of versions.entries()) await store(`v${index}`, day, stays);
      await update();
      const together = await bookings();
      const changes = await listChanges();
      await opened.cleanUp();
      opened = await open();
      ledger = opened.ledger;
      await judgedRun();
      await update();
      for (const [index, [day, stays]] of versions.entries()) await store(`v${index}`, day, stays);
      const alone = (await ledger.cases.listRunsToFollow()).map(({ runId }) => runId);
      for (const runId of alone) {
        const listRunsToFollow = async () => [{ runId, hasBookings: false }];
        await update(now, withReplaced(ledger, { cases: { listRunsToFollow } }));
      }
      expect(together).toEqual(await bookings());
      expect(together.filter(({ resolved }) => resolved)).not.toEqual([]);
      expect(changes).toEqual(await listChanges());
    });
  });
}
