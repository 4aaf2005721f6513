import { describe, expect, it } from 'vitest';
import type { OpenedLedger } from '../ledger.js';
import {
  at,
  batchOf,
  chunkOf,
  collectedRun,
  done,
  halved,
  lineOf,
  newRun,
  perform,
  record,
  references,
  refused,
  retry,
  rightOf,
  startCollect,
} from './days.js';
import { performUpTo, planFileRun } from './file-days.js';

export function describeTracing(opened: () => OpenedLedger): void {
  describe('tracing a booking', () => {
    it('finds nothing for an unknown reference, or for a part of a known one', async () => {
      const { ledger } = opened();
      await collectedRun(ledger, 'r1', { bookings: ['BR-10', undefined, 'BR-11'] });
      for (const reference of ['BR-1', 'R-10', 'br-10', 'BR-10 ', '', '%', 'undefined']) {
        expect(await ledger.bookings.trace(reference)).toEqual([]);
      }
    });

    it('says when each kind of step was performed, over all attempts', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1', { bookings: references(6) });
      await collectedRun(ledger, 'r2', { day: '2026-11-21', bookings: references(3) });
      expect(await ledger.steps.listTimes('r1')).toEqual([]);
      await perform(ledger, run, 'batch 0', retry());
      await perform(ledger, run, 'batch 0', done, 2);
      await perform(ledger, run, 'batch 1', done);
      const [times, ...others] = await ledger.steps.listTimes('r1');
      expect(others).toEqual([]);
      expect(times).toMatchObject({ kind: 'batch', steps: 2, attempts: 3 });
      const attempts = [
        ...(await ledger.steps.listAttempts('r1', 'batch 0')),
        ...(await ledger.steps.listAttempts('r1', 'batch 1')),
      ];
      expect(times?.startedAt).toBe(Math.min(...attempts.map(({ startedAt }) => startedAt)));
      expect(times?.endedAt).toBe(Math.max(...attempts.map(({ endedAt }) => endedAt)));
      expect(await ledger.steps.listTimes('r2')).toEqual([]);
    });

    it('returns the line as sent, the step that contains it and the outcome of its attempts', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1', { bookings: references(6) });
      expect(await ledger.bookings.trace('BR-5')).toEqual([
        {
          kind: 'booking',
          run,
          stream: 'posted',
          batch: 1,
          position: 5,
          line: lineOf('BR-5'),
          step: { name: 'batch 1', kind: 'batch', state: 'ready', first: 0, bookings: 2 },
          attempts: [],
        },
      ]);
      await perform(ledger, run, 'batch 1', retry());
      const claim = await ledger.steps.claim(rightOf(run), 'batch 1', 2, at + 10);
      if (!claim) throw new Error('expected a claim, got: none');
      await record(ledger, claim, done, at + 12);
      const [trace] = await ledger.bookings.trace('BR-5');
      expect(trace).toMatchObject({ run: { counts: { delivered: 2 } }, step: { state: 'done' } });
      expect(trace).toHaveProperty('attempts', [
        { step: 'batch 1', attempt: 1, startedAt: at, endedAt: at, outcome: 'retry', code: 'timeout' },
        {
          step: 'batch 1',
          attempt: 2,
          startedAt: at + 10,
          endedAt: at + 12,
          outcome: 'done',
          code: 'ok',
          httpStatus: 200,
          statusCode: 2000,
          answer: 'Success',
          sha256: 'ab12',
        },
      ]);
    });

    it('follows a booking from the whole batch down to the half that contains it now', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1', { bookings: references(8) });
      await perform(ledger, run, 'batch 1', halved);
      await perform(ledger, run, 'batch 1.0', done);
      await perform(ledger, run, 'batch 1.1', halved);
      await perform(ledger, run, 'batch 1.1.0', refused);
      await perform(ledger, run, 'batch 0', done);
      const way = async (reference: string) => {
        const [trace] = await ledger.bookings.trace(reference);
        return trace?.kind === 'booking'
          ? { step: trace.step, attempts: trace.attempts.map(({ step, outcome }) => `${step} ${outcome}`) }
          : undefined;
      };
      expect(await way('BR-5')).toEqual({
        step: { name: 'batch 1.0', kind: 'batch', state: 'done', first: 0, bookings: 2 },
        attempts: ['batch 1 halved', 'batch 1.0 done'],
      });
      expect(await way('BR-6')).toEqual({
        step: { name: 'batch 1.1.0', kind: 'batch', state: 'refused', first: 2, bookings: 1 },
        attempts: ['batch 1 halved', 'batch 1.1 halved', 'batch 1.1.0 refused'],
      });
      expect(await way('BR-7')).toEqual({
        step: { name: 'batch 1.1.1', kind: 'batch', state: 'ready', first: 3, bookings: 1 },
        attempts: ['batch 1 halved', 'batch 1.1 halved'],
      });
      expect(await way('BR-3')).toMatchObject({ attempts: ['batch 0 done'] });
    });

    it('lists the refused bookings in plan order, with a limit', async () => {
      const { ledger } = opened();
      const run = await collectedRun(ledger, 'r1', { bookings: references(9) });
      await perform(ledger, run, 'batch 2', refused);
      await perform(ledger, run, 'batch 0', halved);
      await perform(ledger, run, 'batch 0.1', halved);
      await perform(ledger, run, 'batch 0.1.1', refused);
      await perform(ledger, run, 'batch 0.1.0', done);
      const all = await ledger.bookings.listRefused('r1', 10);
      expect(all.map(({ step, batch, row, line }) => [step, batch, row, line])).toEqual([
        ['batch 0.1.1', 0, 3, lineOf('BR-3')],
        ['batch 2', 2, 0, lineOf('BR-8')],
      ]);
      expect(await ledger.bookings.listRefused('r1', 1)).toEqual(all.slice(0, 1));
      expect(await ledger.bookings.listRefused('r1', 10, 1)).toEqual(all.slice(1));
    });

    it('finds every booking of a reference that hundreds share, in order', async () => {
      const { ledger } = opened();
      const bookings = references(1_000).map((own, index) => (index % 3 === 0 ? 'GROUP' : own));
      await collectedRun(ledger, 'r1', { bookings });
      const traces = await ledger.bookings.trace('GROUP');
      expect(traces).toHaveLength(334);
      const steps = traces.map((trace) => (trace.kind === 'booking' ? trace.step?.name : undefined));
      expect(steps).toEqual(
        Array.from({ length: 334 }, (_, index) => `batch ${Math.floor((3 * index) / 4)}`),
      );
    });

    it('finds each of thousands of references', async () => {
      const { ledger } = opened();
      const run = await ledger.runs.create(newRun('r1'));
      const collect = await ledger.bookings.beginCollect(rightOf(run), { source: 'x', at, batchSize: 500 });
      const bookings = references(10_000);
      const batches = Array.from({ length: 20 }, (_, batch) =>
        batchOf(batch, bookings.slice(batch * 500, batch * 500 + 500)),
      );
      await collect.store(chunkOf({ batches }));
      await collect.finish({ steps: [], at });
      for (let index = 0; index < bookings.length; index += 97) {
        const traces = await ledger.bookings.trace(`BR-${index}`);
        expect(traces).toMatchObject([{ kind: 'booking', line: lineOf(`BR-${index}`) }]);
      }
    });

    it('distinguishes bookings of both forms', async () => {
      const { ledger } = opened();
      const run = await ledger.runs.create(newRun('r1', { delivery: 'file' }));
      const collect = await startCollect(ledger, run);
      await collect.store(
        chunkOf({ batches: [batchOf(0, ['in-file', 'both'], 'file'), batchOf(0, ['in-body', 'both'])] }),
      );
      await collect.finish({ steps: planFileRun({ file: 2, body: 2 }), at });
      // The call is not made yet, and nothing else has sent the booking.
      const early = {
        stream: 'file',
        step: { name: 'trigger', kind: 'trigger', state: 'ready' },
        attempts: [],
      };
      expect(await ledger.bookings.trace('in-file')).toMatchObject([early]);
      await performUpTo(ledger, run, 'upload');
      expect(await ledger.bookings.trace('in-file')).toMatchObject([early]);
      await perform(ledger, run, 'trigger', done);
      expect(await ledger.bookings.trace('in-file')).toMatchObject([
        { stream: 'file', step: { name: 'trigger', state: 'done' }, attempts: [{ outcome: 'done' }] },
      ]);
      expect(await ledger.bookings.trace('in-body')).toMatchObject([
        { stream: 'posted', step: { name: 'batch 0', state: 'ready' }, attempts: [] },
      ]);
      const both = await ledger.bookings.trace('both');
      expect(both.map((trace) => trace.kind === 'booking' && trace.stream).sort()).toEqual([
        'file',
        'posted',
      ]);
    });

    it('finds rejects by their reference, even before the collect ends', async () => {
      const { ledger } = opened();
      const run = await ledger.runs.create(newRun('r1'));
      const collect = await startCollect(ledger, run);
      await collect.store(
        chunkOf({
          rejects: [
            { place: 17, reason: 'service-id-invalid', reference: 'BR-1' },
            { place: 18, reason: 'service-id-invalid' },
          ],
        }),
      );
      expect(await ledger.bookings.trace('BR-1')).toMatchObject([
        { kind: 'reject', run: { id: 'r1' }, place: 17, reason: 'service-id-invalid' },
      ]);
    });

    it('finds a reject by its reference, however long', async () => {
      const { ledger } = opened();
      const collect = await startCollect(ledger, await ledger.runs.create(newRun('r1')));
      const long = references(20_000).toReversed().join();
      const rejects = [long, `${long}!`].map(
        (reference, place) => ({ place, reason: 'service-id-invalid', reference }) as const,
      );
      await collect.store(chunkOf({ rejects }));
      expect(await ledger.bookings.trace(long)).toMatchObject([{ kind: 'reject', place: 0 }]);
    });

    it('searches all runs and days, newest run first', async () => {
      const { ledger } = opened();
      await collectedRun(ledger, 'r1', { bookings: ['BR-1'] });
      await collectedRun(ledger, 'r2', { day: '2026-11-19', bookings: ['other'] });
      const r3 = await ledger.runs.create(newRun('r3', { replaces: 'r1' }));
      const collect = await startCollect(ledger, r3);
      await collect.store(
        chunkOf({
          batches: [batchOf(0, ['BR-1'])],
          rejects: [{ place: 2, reason: 'wrong-cell-count', reference: 'BR-1' }],
        }),
      );
      await collect.finish({ steps: [], at });
      const traces = await ledger.bookings.trace('BR-1');
      expect(traces.map(({ run, kind }) => `${run.id} ${kind}`)).toEqual([
        'r3 booking',
        'r3 reject',
        'r1 booking',
      ]);
      expect(traces.map(({ run }) => run.state)).toEqual(['delivering', 'delivering', 'cancelled']);
    });

    it('searches what was sent of one day, if asked to', async () => {
      const { ledger } = opened();
      await collectedRun(ledger, 'r1', { day: '2026-11-18', bookings: ['BR-1'] });
      await collectedRun(ledger, 'r2', { day: '2026-11-19', bookings: ['BR-1'] });
      const find = async (day: string) => (await ledger.bookings.trace('BR-1', day)).map(({ run }) => run.id);
      expect(await find('2026-11-18')).toEqual(['r1']);
      expect(await find('2026-11-19')).toEqual(['r2']);
      expect(await find('2026-11-20')).toEqual([]);
    });
  });
}
