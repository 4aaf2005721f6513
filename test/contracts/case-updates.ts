import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CaseEvent } from '../../src/cases/events.js';
import { updateCases } from '../../src/cases/update-cases.js';
import type { Suspect } from '../../src/ledger/findings.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { planBatches } from '../../src/rules/batch-plan.js';
import { applyCommand, toDecision } from '../../src/rules/case-transitions.js';
import type { ResultCounts } from '../../src/rules/review-file.js';
import type { Run } from '../../src/rules/run.js';
import { withReplaced } from '../support/fake-ledger.js';
import { at, batchOf, chunkOf, claimStep, done, newRun, record, rightOf } from './ledger/days.js';
import { collectedFileRun, performUpTo } from './ledger/file-days.js';
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
    const collectSuspects = async (day: string, suspects: readonly Suspect[]) => {
      const run = await ledger.runs.create(newRun(day, { day, delivery: 'file' }));
      const collect = await ledger.bookings.beginCollect(rightOf(run), {
        ...{ source: 'bookings.csv', at, batchSize: 4, comparesMappings: true },
      });
      const batch = batchOf(0, ['F-0', 'F-1', 'F-2'], 'file');
      await collect.store(chunkOf({ batches: [{ ...batch, suspects }] }));
      await collect.finish({ steps: planBatches(3, 4), at });
      await update();
      return (await ledger.cases.list({ today })).map(({ origins }) => origins);
    };
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
    const awaited = async () => {
      const run = await collectedFileRun(ledger, 'r1', { file: 3 });
      await performUpTo(ledger, run, 'trigger');
      return run;
    };

    it('follow each verdict that is recorded, before the result is complete and after', async () => {
      const run = await awaited();
      await recordVerdicts(run, 1, [0], 2);
      await update();
      expect(await named()).toEqual(['F-0']);
      expect(await ledger.cases.listRunsToFollow()).toEqual([]);
      await recordVerdicts(run, 2, [0, 2], 1);
      expect(await ledger.cases.listRunsToFollow()).toEqual([{ runId: 'r1', hasBookings: true }]);
      await update();
      expect(await named()).toEqual(['F-0', 'F-2']);
      expect(events.map(({ type }) => type)).toEqual(['case-opened']);
    });

    it.each(['failed', 'cancelled'] as const)(
      'follow what a run had recorded before it was %s',
      async (state) => {
        const run = await awaited();
        await update();
        await recordVerdicts(run, 1, [1], 2);
        await ledger.runs.settle(rightOf(run), { state, at });
        await update();
        expect(await named()).toEqual(['F-1']);
      },
    );

    it('do not look again at verdicts that are recorded once more', async () => {
      const run = await awaited();
      await recordVerdicts(run, 1, [0], 2);
      await update();
      await recordVerdicts(run, 2, [0], 2);
      expect(await ledger.cases.listRunsToFollow()).toEqual([]);
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

    it('say that a newer result calls a named booking correct, once, and resolve nothing', async () => {
      const run = await awaited();
      await recordVerdicts(run, 1, [0, 1], 1);
      await update();
      await recordVerdicts(run, 2, [0]);
      await update();
      await update();
      expect(await named()).toEqual(['F-0', 'F-1']);
      expect((await bookings()).some(({ resolved }) => resolved)).toBe(false);
      expect(await listChanges()).toContain(
        JSON.stringify(['case-updated', { calledCorrect: 1, run: 'r1' }]),
      );
      expect((await listChanges())?.filter((change) => change.includes('calledCorrect'))).toHaveLength(1);
    });

    it('name a booking that a later run had moved to another hotel before its verdict came', async () => {
      const run = await awaited();
      await store('r2', '2026-11-21', [stayOf('F-0', { providerHotelId: '008' })]);
      await update();
      await recordVerdicts(run, 1, [0], 2);
      const { listStayRuns } = ledger.stays;
      const killed = withReplaced(ledger, {
        stays: {
          // Once its case is open, the later runs are followed.
          listStayRuns: async () => {
            if ((await named()).length > 0) throw new Error('killed');
            return listStayRuns();
          },
        },
      });
      await expect(update(now, killed)).rejects.toThrow('killed');
      await update();
      const rebooked = { isNamed: true, resolved: { as: 'rebooked', isAutomatic: true } };
      expect((await bookings()).find(({ reference }) => reference === 'F-0')).toMatchObject(rebooked);
      const changes = await listChanges();
      await recordVerdicts(run, 2, [0, 1], 1);
      await update();
      expect(await named()).toEqual(['F-0', 'F-1']);
      expect((await bookings()).find(({ reference }) => reference === 'F-0')).toMatchObject(rebooked);
      expect((await listChanges())?.length).toBe((changes?.length ?? 0) + 1);
    });

    it('name a booking that shared the mapping and was moved elsewhere before its verdict came', async () => {
      const run = await awaited();
      await recordVerdicts(run, 1, [1], 2);
      await update();
      await store('r2', '2026-11-21', [stayOf('F-0', { providerHotelId: '008' })]);
      await update();
      await recordVerdicts(run, 2, [0, 1], 1);
      await update();
      expect(await named()).toEqual(['F-0', 'F-1']);
      expect((await bookings()).find(({ reference }) => reference === 'F-0')).toHaveProperty('resolved');
    });

    it('do not take an older result that calls a booking correct for a newer one', async () => {
      for (const [index, id] of ['r1', 'r2'].entries()) {
        const run = await collectedFileRun(ledger, id, { file: 3 });
        await performUpTo(ledger, run, 'trigger');
        await recordVerdicts(run, 1, index === 0 ? [] : [0]);
        await ledger.runs.settle(rightOf(run), { state: 'succeeded', at });
      }
      await update();
      expect(await named()).toEqual(['F-0']);
      expect((await listChanges())?.filter((change) => change.includes('calledCorrect'))).toEqual([]);
    });

    it('lose nothing when a process ends before it has recorded how far it got', async () => {
      await judgedRun();
      const { markFollowed } = ledger.cases;
      const killed = withReplaced(ledger, {
        cases: { markFollowed: () => Promise.reject(new Error('killed')) },
      });
      await expect(update(now, killed)).rejects.toThrow('killed');
      await update();
      expect(await references()).toEqual(['F-0', 'F-1', 'F-2']);
      expect(events).toHaveLength(1);
      expect(await markFollowed({ runId: 'r1', verdictsRecorded: 1 })).toBeUndefined();
    });

    it('lose nothing when opening them fails once', async () => {
      for (const day of ['2026-11-20', '2026-11-21']) {
        const run = await ledger.runs.create(newRun(day, { day, delivery: 'file' }));
        const start = { source: 'bookings.csv', at, batchSize: 4, comparesMappings: true };
        const collect = await ledger.bookings.beginCollect(rightOf(run), start);
        const suspects = [{ row: 0, reason: 'moved' as const }];
        await collect.store(chunkOf({ batches: [{ ...batchOf(0, [`S-${day}`], 'file'), suspects }] }));
        await collect.finish({ steps: planBatches(1, 4), at });
      }
      let failures = 0;
      const failing = withReplaced(ledger, {
        cases: {
          changeByKey(keys, decide) {
            failures += 1;
            return failures === 1
              ? Promise.reject(new Error('lost'))
              : ledger.cases.changeByKey(keys, decide);
          },
        },
      });
      await expect(update(now, failing)).rejects.toThrow('lost');
      const left = (await ledger.cases.listRunsToFollow()).filter(({ hasBookings }) => !hasBookings);
      expect(left.map(({ runId }) => runId)).toEqual(['2026-11-20', '2026-11-21']);
      await update();
      expect((await references()).toSorted()).toEqual(['S-2026-11-20', 'S-2026-11-21']);
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

    it('take in new bookings on their mapping, and new versions of those they have', async () => {
      await judgedRun();
      await update();
      await store('r2', '2026-11-21', [
        stayOf('N-1'),
        stayOf('F-0', { providerHotelId: '008' }),
        stayOf('F-1', { serviceId: 9 }),
        stayOf('F-2', { checkInDate: '2026-11-25' }),
      ]);
      await update();
      const byReference = new Map((await bookings()).map((booking) => [booking.reference, booking]));
      const resolved = {
        as: 'rebooked',
        isAutomatic: true,
        note: 'another hotel in the bookings of 2026-11-21',
      };
      expect(byReference.get('F-0')).toMatchObject({ resolved });
      expect(byReference.get('F-1')).toMatchObject({ resolved });
      expect(byReference.get('F-2')).toMatchObject({ checkIn: '2026-11-25', day: '2026-11-21' });
      expect(byReference.get('F-2')).not.toHaveProperty('resolved');
      expect(byReference.get('N-1')).toMatchObject({ isNamed: false });
      expect(byReference.size).toBe(4);
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

    it('are not written again by a run that has been followed', async () => {
      await judgedRun();
      await update();
      await store('r2', '2026-11-21', [stayOf('r2'), stayOf('F-0', { serviceId: 9 })]);
      await update();
      expect(await references()).toEqual(['F-0', 'F-1', 'F-2', 'r2']);
      const before = { bookings: await bookings(), changes: await listChanges() };
      const listRunsToFollow = async () => [{ runId: 'r2', hasBookings: false }];
      await update(now + 1, withReplaced(ledger, { cases: { listRunsToFollow } }));
      expect({ bookings: await bookings(), changes: await listChanges() }).toEqual(before);
    });

    it('are up to date with the runs before one that cannot be read', async () => {
      await judgedRun();
      await update();
      // A day is read as a whole.
      for (const [id, day] of Object.entries({ r2: '2026-11-21', r3: '2026-11-22', r4: '2026-11-22' }))
        await store(id, day, [stayOf(id)]);
      const { findStays } = ledger.stays;
      const broken = withReplaced(ledger, {
        stays: {
          findStays: (run, hashes, from) =>
            run.runId === 'r3' ? Promise.reject(new Error('unreadable')) : findStays(run, hashes, from),
        },
      });
      await expect(update(now, broken)).rejects.toThrow('unreadable');
      expect((await ledger.cases.listRunsToFollow()).map(({ runId }) => runId)).toEqual(['r3', 'r4']);
      expect(await references()).toEqual(['F-0', 'F-1', 'F-2', 'r2']);
    });

    it('are not opened by suspects whose master hotel was merged, or whose mapping is as booked', async () => {
      const { mappings } = ledger;
      const hotels = ['a', 'b', 'c'].map((provider) => rowOf('H', 7, { providerName: provider }));
      await syncRows(mappings, hotels, at - 9);
      await syncRows(
        mappings,
        hotels.map((row) => ({ ...row, serviceId: 70 })),
        at - 8,
      );
      expect(
        await collectSuspects('2026-11-17', [
          { row: 0, reason: 'other-master', serviceId: 70 },
          { row: 1, reason: 'moved', serviceId: 7, movedAt: at },
        ]),
      ).toEqual([]);
    });

    it.each<Suspect>([
      { row: 0, reason: 'other-master', serviceId: 8 },
      { row: 0, reason: 'moved', movedAt: at },
    ])('are opened by a suspect with another master hotel or none: $reason', async (suspect) => {
      expect(await collectSuspects('2026-11-18', [suspect])).toEqual([['suspect']]);
      expect(await references()).toEqual(['F-0', 'F-1', 'F-2']);
    });

    it('are corrected when a sync shows that the mapping moved, and escalated when none does in time', async () => {
      await syncRows(ledger.mappings, [rowOf('007', 7)], at - 9);
      await judgedRun();
      await update();
      await ledger.cases.changeById([1], (held) =>
        toDecision(held, applyCommand(held, 'report', now) ?? held, []),
      );
      await update(now + 999);
      expect((await ledger.cases.find(1))?.state).toBe('reported');
      await update(now + 1_000);
      expect((await ledger.cases.find(1))?.state).toBe('escalated');
      await syncRows(ledger.mappings, [rowOf('007', 8)], now + 2_000);
      await Promise.all([update(now + 3_000), update(now + 3_000, await opened.reopen())]);
      expect(await ledger.cases.list({ today })).toMatchObject([{ state: 'corrected', openBookings: 3 }]);
      expect(events.map(({ type }) => type)).toEqual(['case-opened', 'case-escalated', 'case-corrected']);
      const trail = (await ledger.audit.nextActions({ subject: 'case 1' }))?.actions ?? [];
      expect(trail.map(({ action }) => action)).toEqual(['case-opened', 'case-escalated', 'case-corrected']);
    });
  });
}
