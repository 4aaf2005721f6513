import { describe, expect, it } from 'vitest';
import { SourceError, type SourceRecord } from '../../../src/booking/source.js';
import { FencedError } from '../../../src/ledger/errors.js';
import { createBodyDelivery } from '../../../src/review/body/body-delivery.js';
import { CollectError, type CollectLimits } from '../../../src/rules/gates.js';
import { createArraySource, readerOf, record, records, type Script } from '../array-source.js';
import { afterEachStore, lenient, now, prepareCollect, readReferences } from '../collecting.js';
import { whole } from '../late-days.js';

describe('collecting a day', () => {
  it('stores every booking in source order, batch by batch, and plans one step per batch', async () => {
    const { ledger, right, collect } = await prepareCollect();
    const run = await collect([records(0, 700), records(700, 520)]);
    expect(run).toMatchObject({
      state: 'delivering',
      source: 'the array of 2026-11-20',
      collectStartedAt: now,
      collectedAt: now,
      openSteps: 3,
      counts: { read: 1_220, accepted: 1_220, duplicates: 0, rejected: 0, pending: 1_220 },
    });
    const steps = await ledger.steps.listOpen(right.runId, { limit: 10 });
    expect(steps.map(({ name }) => name)).toEqual(['batch 0', 'batch 1', 'batch 2']);
    const references = [];
    for (const batch of [0, 1, 2]) references.push(await readReferences(ledger, right, batch));
    expect(references.map(({ length }) => length)).toEqual([500, 500, 220]);
    expect(references.flat()).toEqual(Array.from({ length: 1_220 }, (_, number) => `BR-${number}`));
  });

  it('keeps the sums right in every transaction', async () => {
    const { ledger, right, collect } = await prepareCollect();
    const sums: { read: number; stored: number }[] = [];
    const watched = afterEachStore(ledger, async () => {
      const { counts } = await ledger.runs.get(right.runId);
      const { stored } = await ledger.runs.tally(right.runId);
      expect(counts.read).toBe(counts.accepted + counts.duplicates + counts.rejected);
      expect(counts.accepted).toBe(stored);
      sums.push({ read: counts.read, stored });
    });
    const mixed = records(0, 13_000).map((each) =>
      each.place % 10 === 3 ? record(each.place, { ServiceId: 'none of ours' }) : each,
    );
    // One in thirteen occurs twice.
    const chunks = [mixed.slice(0, 6_000), mixed.slice(5_000, 10_000), mixed.slice(10_000)];
    const run = await collect(chunks, { ledger: watched });
    expect(run.counts).toMatchObject({ read: 14_000, accepted: 11_700, duplicates: 900, rejected: 1_400 });
    expect(sums.length).toBeGreaterThanOrEqual(3);
    expect(sums.at(-1)).toEqual({ read: 14_000, stored: 11_700 });
  });

  it('rejects a booking that its delivery cannot send, with place and reference', async () => {
    const { ledger, collect } = await prepareCollect();
    const delivery = createBodyDelivery({
      service: { reviewBookedHotels: () => Promise.reject(new Error('nothing is sent while collecting')) },
      masterIdName: 'ServiceId',
      batchSize: 500,
    });
    const run = await collect([[whole(1), whole(2, { ProviderName: undefined }), whole(3)]], {
      delivery: { ...delivery, kind: 'file', incomplete: 'reject' },
    });
    expect(run.counts).toMatchObject({ read: 3, accepted: 2, rejected: 1 });
    expect(await ledger.bookings.trace('BR-2')).toMatchObject([
      { kind: 'reject', place: 2, reason: 'not-for-the-file' },
    ]);
  });

  it('stores place, reason and reference of every reject, and sends none of them', async () => {
    const { ledger, right, collect } = await prepareCollect();
    const cut: SourceRecord = { place: 9, unreadable: 'wrong-cell-count' };
    const run = await collect([
      [record(1), record(2, { ServiceId: undefined }), record(3, { ServiceId: '12x' })],
      [record(4, { ProviderName: { nested: true } }), cut, record(10, { ServiceId: 0 })],
    ]);
    expect(run.counts).toMatchObject({ read: 6, accepted: 1, rejected: 5 });
    expect(await readReferences(ledger, right, 0)).toEqual(['BR-1']);
    expect(await ledger.rejects.count(right.runId)).toEqual([
      { reason: 'service-id-invalid', count: 2, firstPlace: 3 },
      { reason: 'field-not-text', count: 1, firstPlace: 4 },
      { reason: 'service-id-missing', count: 1, firstPlace: 2 },
      { reason: 'wrong-cell-count', count: 1, firstPlace: 9 },
    ]);
    expect(await ledger.bookings.trace('BR-3')).toMatchObject([
      { kind: 'reject', place: 3, reason: 'service-id-invalid' },
    ]);
  });

  it.each([
    ['as a booking would be found', ' BR\u20287\t', 'BR 7'],
    ['though it is a number', 77, '77'],
    ['by its beginning where it is endless', `${'x'.repeat(199)}😀😀`, `${'x'.repeat(199)}\ufffd`],
    ['though half a character stands in it', 'BR-\ud83d', 'BR-\ufffd'],
  ])('finds a reject by its reference %s', async (_, written, reference) => {
    const { ledger, collect } = await prepareCollect();
    await collect([[record(5, { ServiceId: '', BookingReferenceId: written })]]);
    expect(await ledger.bookings.trace(reference)).toMatchObject([{ kind: 'reject', place: 5 }]);
  });

  it.each([undefined, null, '  ', 'NULL', { an: 'object' }])(
    'rejects a record without a reference: %j',
    async (reference) => {
      const { collect } = await prepareCollect();
      const run = await collect([[record(5, { ServiceId: '', BookingReferenceId: reference })]]);
      expect(run.counts.rejected).toBe(1);
    },
  );

  it('drops duplicates in all fields: in a batch, across batches and across transactions', async () => {
    const { ledger, right, collect } = await prepareCollect();
    const first = records(0, 12_000);
    const again = [first[0], first[499], first[500], first[5_200], first[11_999]].filter((each) => !!each);
    const run = await collect([first.slice(0, 3), first.slice(1, 3), first.slice(3), again], {
      limits: { ...lenient, batchSize: 100 },
    });
    expect(run.counts).toMatchObject({ read: 12_007, accepted: 12_000, duplicates: 7 });
    expect(await readReferences(ledger, right, 0)).toEqual(
      Array.from({ length: 100 }, (_, number) => `BR-${number}`),
    );
  });

  it('distinguishes bookings that differ in a single field, and recognises those that are equal after normalisation', async () => {
    const { collect } = await prepareCollect();
    const run = await collect([
      [record(1), record(1, { ProviderName: 'Acme' }), record(1, { BookingClientName: ' Ana  Lovelace ' })],
      [record(1, { ServiceId: '0700001' }), record(1, { BookingClientName: '\tAna Lovelace\n' })],
    ]);
    expect(run.counts).toMatchObject({ read: 5, accepted: 3, duplicates: 2 });
  });

  it('counts warnings with their first place, and reports an absent column', async () => {
    const { ledger, right, events, collect } = await prepareCollect();
    const column = { kind: 'absent-column', column: 'guest' } as const;
    await collect([
      {
        records: [
          record(2, { CheckInDate: '2026-11-22', CheckOutDate: '2026-11-21' }),
          record(3, { CheckInDate: 'soon' }),
        ],
        notices: [column],
        progress: { done: 10, total: 40 },
      },
      [record(4, { CheckInDate: 'later', CheckOutDate: '2026-11-21' })],
    ]);
    expect(await ledger.rejects.countWarnings(right.runId)).toEqual([
      { reason: 'unreadable-check-in-date', count: 2, firstPlace: 3 },
      { reason: 'absent-column', count: 1 },
      { reason: 'check-out-before-check-in', count: 1, firstPlace: 2 },
    ]);
    const run = { id: right.runId, day: '2026-11-20' };
    expect(events).toEqual([
      { type: 'source-notice', run, notice: column },
      { type: 'collecting', run, read: 2, progress: { done: 10, total: 40 } },
      { type: 'collecting', run, read: 3 },
    ]);
  });

  it('requests no more records before the current ones are stored', async () => {
    const { ledger, collect } = await prepareCollect();
    const source = createArraySource([records(0, 5_000), records(5_000, 5_000)]);
    let pulledWhileStoring = 0;
    const slow = afterEachStore(ledger, async () => {
      const before = source.pulled();
      for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
      pulledWhileStoring += source.pulled() - before;
    });
    await collect([], { ledger: slow, reader: readerOf(source) });
    expect(source.pulled()).toBe(2);
    expect(pulledWhileStoring).toBe(0);
  });
});

describe('a day that cannot be trusted fails before anything is planned:', () => {
  const bad = (count: number) => records(50_000, count, { ServiceId: 'bad' });
  const undated = (count: number) => records(60_000, count, { CheckInDate: '31/12/2026' });
  const dated = (count: number) => records(70_000, count, { CheckInDate: '2026-12-31' });
  const strict: CollectLimits = { ...lenient, maxRejectedShare: 0.1, emptyDay: 'fail' };

  it.each<[string, Script, string, string]>([
    [
      'too many rejects',
      [records(0, 89), bad(11)],
      'too-many-rejects',
      '11 of 100 records of the array of 2026-11-20 cannot be sent, more than maxRejectedShare allows (10%)',
    ],
    [
      'nothing but rejects',
      [bad(2)],
      'too-many-rejects',
      '2 of 2 records of the array of 2026-11-20 cannot be sent, more than maxRejectedShare allows (10%)',
    ],
    [
      'rejects for most of a small day',
      [records(0, 9), bad(10)],
      'too-many-rejects',
      '10 of 19 records of the array of 2026-11-20 cannot be sent, more than maxRejectedShare allows (10%)',
    ],
    [
      'three rejects of twenty records',
      [records(0, 17), bad(3)],
      'too-many-rejects',
      '3 of 20 records of the array of 2026-11-20 cannot be sent, more than maxRejectedShare allows (10%)',
    ],
    [
      'too many unreadable dates',
      [dated(17), undated(2), records(0, 500)],
      'too-many-unreadable-dates',
      '2 of 19 dates of the array of 2026-11-20 are not calendar dates: check source.dateFormat',
    ],
    [
      'an empty day, where that is set to fail',
      [],
      'empty-day',
      'the array of 2026-11-20 holds no booking; if days without bookings are normal, set emptyDay: succeed',
    ],
    [
      'an empty day with a total row',
      [bad(1)],
      'empty-day',
      'the array of 2026-11-20 holds no booking, only 1 record that cannot be sent; if days without bookings are normal, set emptyDay: succeed',
    ],
    [
      'a day whose records are all filtered',
      [
        { records: [], filtered: 2 },
        { records: [], filtered: 5 },
      ],
      'empty-day',
      'the array of 2026-11-20 holds no booking that source.where takes (7 filtered); if days without bookings are normal, set emptyDay: succeed',
    ],
    [
      'too many rejects beside filtered records',
      [{ records: [...records(0, 89), ...bad(11)], filtered: 900 }],
      'too-many-rejects',
      '11 of 100 records of the array of 2026-11-20 cannot be sent, more than maxRejectedShare allows (10%)',
    ],
  ])('%s', async (_, script, code, message) => {
    const { ledger, right, collect } = await prepareCollect();
    const failure = await collect(script, { limits: strict }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(CollectError);
    expect(failure).toMatchObject({ code, message });
    expect(await ledger.runs.get(right.runId)).toMatchObject({ state: 'collecting', openSteps: 0 });
    expect(await ledger.steps.listOpen(right.runId, { limit: 10 })).toEqual([]);
  });

  it.each<[string, Script, CollectLimits]>([
    ['rejects in just the share allowed', [records(0, 90), bad(10)], strict],
    ['a total row on a small day', [records(0, 6), bad(1)], strict],
    ['unreadable dates in just the share allowed', [dated(18), undated(2)], strict],
    ['an empty day', [], { ...strict, emptyDay: 'succeed' }],
    ['a day without dates', [records(0, 5)], { ...strict, maxRejectedShare: 0 }],
  ])('but not %s', async (_, script, limits) => {
    const { collect } = await prepareCollect();
    expect((await collect(script, { limits })).state).toBe('delivering');
  });

  const byFile = { kind: 'file', names: 'send', masterIdName: 'ServiceId' } as const;
  const ofFile = { ...byFile, plan: () => [], perform: () => Promise.reject(new Error('nothing is sent')) };
  const complete = {
    ...{ ProviderName: 'bedlink', ProviderHotelId: 'H1' },
    ...{ CheckInDate: '2026-12-30', CheckOutDate: '2026-12-31' },
  };
  const nameless = (count: number) => records(80_000, count, { ...complete, BookingClientName: undefined });
  const half: CollectLimits = { ...lenient, maxPostedShare: 0.5 };

  it('too many bookings that cannot be in the review file', async () => {
    const { ledger, right, collect, events } = await prepareCollect();
    const script: Script = [records(0, 49, complete), nameless(51)];
    const failure = await collect(script, { limits: half, delivery: ofFile }).catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({
      code: 'too-many-posted',
      message: expect.stringMatching(
        /^51 of 100 bookings of the array of 2026-11-20 .* file\.maxPostedShare allows \(50%\)\. Missing most often: BookingClientName \(51\)\. .* file\.incomplete: leave-empty/,
      ),
    });
    expect(await ledger.steps.listOpen(right.runId, { limit: 10 })).toEqual([]);
    expect(events.filter(({ type }) => type === 'no-review-file')).toEqual([]);
  });

  it('too many bookings that cannot be in the review file, naming the field that is missing most often first', async () => {
    const { collect } = await prepareCollect();
    const dateless = records(90_000, 3, {
      ...complete,
      CheckInDate: undefined,
      BookingClientName: undefined,
    });
    const failure = collect([nameless(4), dateless], { limits: half, delivery: ofFile });
    await expect(failure).rejects.toMatchObject({
      message: expect.stringContaining('Missing most often: BookingClientName (7), then CheckInDate (3).'),
    });
  });

  it('but not just the share of those that is allowed, and not by body', async () => {
    const script: Script = [records(0, 50, complete), nameless(50)];
    expect((await (await prepareCollect()).collect(script, { limits: half, delivery: ofFile })).state).toBe(
      'delivering',
    );
    expect((await (await prepareCollect()).collect([nameless(9)], { limits: half })).state).toBe(
      'delivering',
    );
  });

  it('but if it is allowed, a day without a file is announced before anything is sent', async () => {
    const { collect, events } = await prepareCollect();
    await collect([nameless(3)], { limits: { ...half, maxPostedShare: 1 }, delivery: ofFile });
    expect(events.filter(({ type }) => type === 'no-review-file')).toMatchObject([{ posted: 3 }]);
  });

  it('a source that fails in the middle, with its code and message', async () => {
    const { ledger, right, collect } = await prepareCollect();
    const cause = new SourceError('truncated', 'the array ends in the middle');
    const failure = await collect([records(0, 10), cause]).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(CollectError);
    expect(failure).toMatchObject({ code: 'truncated', message: 'the array ends in the middle', cause });
    expect((await ledger.runs.get(right.runId)).state).toBe('collecting');
  });
});

describe('an interrupted collect', () => {
  it('leaves the run collecting, with everything stored so far', async () => {
    const { ledger, right, collect } = await prepareCollect();
    const stop = new AbortController();
    const source = createArraySource([records(0, 6_000), records(6_000, 10)], {
      onPull: () => source.pulled() === 2 && stop.abort(new Error('stopped by SIGTERM')),
    });
    await expect(collect([], { reader: readerOf(source) }, stop.signal)).rejects.toThrow(
      'stopped by SIGTERM',
    );
    expect(await ledger.runs.get(right.runId)).toMatchObject({
      state: 'collecting',
      counts: { read: 5_000, accepted: 5_000 },
    });
  });

  it('is not mistaken for a short day if the source simply ends', async () => {
    const { ledger, right, collect } = await prepareCollect();
    const stop = new AbortController();
    const source = createArraySource([records(0, 10)], { onPull: () => queueMicrotask(() => stop.abort()) });
    await expect(collect([], { reader: readerOf(source) }, stop.signal)).rejects.toThrow();
    expect(await ledger.runs.get(right.runId)).toMatchObject({ state: 'collecting', counts: { read: 0 } });
  });

  it('starts again from nothing', async () => {
    const { ledger, right, collect } = await prepareCollect();
    const broken = new SourceError('unreadable', 'gone');
    const bad = records(0, 6_000).map(({ place }) => record(place, { ServiceId: place % 2 ? place : 'bad' }));
    await expect(collect([bad, bad, broken])).rejects.toThrow('gone');
    const run = await collect([records(0, 3)]);
    expect(run).toMatchObject({ counts: { read: 3, accepted: 3, duplicates: 0, rejected: 0 }, openSteps: 1 });
    expect(await ledger.rejects.count(right.runId)).toEqual([]);
    expect(await ledger.runs.tally(right.runId)).toMatchObject({ stored: 3, pending: 3 });
  });

  it('writes nothing more once the run was taken over', async () => {
    const { ledger, right, collect } = await prepareCollect();
    const source = createArraySource([records(0, 10)], {
      onPull: () => void ledger.runs.takeOver(right.runId),
    });
    await expect(collect([], { reader: readerOf(source) })).rejects.toThrow(FencedError);
    expect((await ledger.runs.get(right.runId)).counts.read).toBe(0);
  });
});
