import { describe, expect, it } from 'vitest';
import { createNormaliser } from '../../../src/booking/normalise.js';
import { SourceError } from '../../../src/booking/source.js';
import { readErasedGuests, rememberReference } from '../../../src/ledger/guests.js';
import { createBodyDelivery } from '../../../src/review/body/body-delivery.js';
import { createDayReader } from '../../../src/review/collect/day-reader.js';
import { CollectError, type CollectLimits } from '../../../src/rules/gates.js';
import { createArraySource, readerOf, record, records, type Script } from '../array-source.js';
import { afterEachStore, lenient, now, prepareCollect, readReferences } from '../collecting.js';
import { whole } from '../late-days.js';

const hashKey = 'a key of the tests';

describe('collecting a day', () => {
  it('stores every booking in source order, batch by batch, and plans one step per batch', async () => {
    const { ledger, right, collect } = await prepareCollect();
    const run = await collect([records(0, 70), records(70, 52)], { limits: { ...lenient, batchSize: 50 } });
    const counts = { read: 122, accepted: 122, duplicates: 0, rejected: 0, pending: 122 };
    expect(run).toMatchObject({
      state: 'delivering',
      source: 'the array of 2026-11-20',
      openSteps: 3,
      counts,
    });
    expect(run).toMatchObject({ collectStartedAt: now, collectedAt: now });
    const steps = await ledger.steps.listOpen(right.runId, { limit: 10 });
    expect(steps.map(({ name }) => name)).toEqual(['batch 0', 'batch 1', 'batch 2']);
    const references = [];
    for (const batch of [0, 1, 2]) references.push(await readReferences(ledger, right, batch));
    expect(references.map(({ length }) => length)).toEqual([50, 50, 22]);
    expect(references.flat()).toEqual(Array.from({ length: 122 }, (_, number) => `BR-${number}`));
  });

  it('rejects a booking that its delivery cannot send, with place and reference', async () => {
    const { ledger, right, collect } = await prepareCollect();
    // An erased guest has no name, and is reviewed all the same.
    await ledger.guests.rememberErased([rememberReference('BR-3', hashKey, now)]);
    const delivery = createBodyDelivery({
      service: { reviewBookedHotels: () => Promise.reject(new Error('nothing is sent while collecting')) },
      masterIdName: 'ServiceId',
      batchSize: 500,
    });
    const run = await collect([[whole(1), whole(2, { ProviderName: undefined }), whole(3)]], {
      delivery: { ...delivery, kind: 'file', incomplete: 'reject' },
      readErased: () => readErasedGuests(ledger, hashKey),
    });
    expect(run.counts).toMatchObject({ read: 3, accepted: 2, rejected: 1 });
    expect(await ledger.bookings.trace('BR-2')).toMatchObject([
      { kind: 'reject', place: 2, reason: 'not-for-the-file' },
    ]);
    expect(await readReferences(ledger, right, 0)).toEqual(['BR-3']);
  });

  it('stores place, reason and reference of every reject, and sends none of them', async () => {
    const { ledger, right, collect } = await prepareCollect();
    const run = await collect([
      [record(1), record(2, { ServiceId: undefined }), record(3, { ServiceId: '12x' })],
      [{ place: 9, unreadable: 'wrong-cell-count' }, record(10, { ServiceId: 0 })],
    ]);
    expect(run.counts).toMatchObject({ read: 5, accepted: 1, rejected: 4 });
    expect(await readReferences(ledger, right, 0)).toEqual(['BR-1']);
    expect(await ledger.rejects.count(right.runId)).toEqual([
      { reason: 'service-id-invalid', count: 2, firstPlace: 3 },
      { reason: 'service-id-missing', count: 1, firstPlace: 2 },
      { reason: 'wrong-cell-count', count: 1, firstPlace: 9 },
    ]);
    expect(await ledger.bookings.trace('BR-3')).toMatchObject([
      { kind: 'reject', place: 3, reason: 'service-id-invalid' },
    ]);
  });

  it('drops duplicates in all fields: in a batch, across batches and across transactions', async () => {
    const { collect } = await prepareCollect();
    const first = records(0, 2_500);
    const again = [first[0], first[499], first[500], first[2_499]].filter((each) => !!each);
    const run = await collect([first.slice(0, 3), first.slice(1, 3), first.slice(3), again], {
      limits: { ...lenient, batchSize: 20 },
    });
    expect(run.counts).toMatchObject({ read: 2_506, accepted: 2_500, duplicates: 6 });
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
    const source = createArraySource([records(0, 2_000), records(2_000, 2_000)]);
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
  const strict: CollectLimits = { ...lenient, maxRejectedShare: 0.1, emptyDay: 'fail' };
  const filtered = { records: [], filtered: 2 };

  it.each<[Script, string, string]>([
    [
      [records(0, 17, { CheckInDate: '2026-12-31' }), records(20, 2, { CheckInDate: '31/12/2026' })],
      'too-many-unreadable-dates',
      '2 of 19 dates',
    ],
    [[filtered, filtered], 'empty-day', '(4 filtered)'],
    [[{ records: [...records(0, 89), ...bad(11)], filtered: 900 }], 'too-many-rejects', '11 of 100 records'],
  ])('%#', async (script, code, words) => {
    const { ledger, right, collect } = await prepareCollect();
    const collecting = collect(script, { limits: strict });
    await expect(collecting).rejects.toBeInstanceOf(CollectError);
    await expect(collecting).rejects.toMatchObject({ code, message: expect.stringContaining(words) });
    expect(await ledger.runs.get(right.runId)).toMatchObject({ state: 'collecting', openSteps: 0 });
    expect(await ledger.steps.listOpen(right.runId, { limit: 10 })).toEqual([]);
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
    const [some, others] = [nameless(51).slice(0, 40), nameless(51).slice(40)];
    const script: Script = [records(0, 49, complete), some, others];
    await expect(collect(script, { limits: half, delivery: ofFile })).rejects.toMatchObject({
      code: 'too-many-posted',
      message: expect.stringMatching(/^51 of 100 bookings .* Missing most often: BookingClientName \(51\)\./),
    });
    expect(await ledger.steps.listOpen(right.runId, { limit: 10 })).toEqual([]);
    expect(events.filter(({ type }) => type === 'no-review-file')).toEqual([]);
  });

  it('but if it is allowed, a day without a file is announced before anything is sent', async () => {
    const { collect, events } = await prepareCollect();
    await collect([nameless(3)], { limits: { ...half, maxPostedShare: 1 }, delivery: ofFile });
    expect(events.filter(({ type }) => type === 'no-review-file')).toMatchObject([{ posted: 3 }]);
  });

  it('a source that fails in the middle, with its code and message', async () => {
    const { ledger, right, collect } = await prepareCollect();
    const cause = new SourceError('truncated', 'the array ends in the middle');
    const failure = { name: 'CollectError', code: 'truncated', message: cause.message, cause };
    await expect(collect([records(0, 10), cause])).rejects.toMatchObject(failure);
    expect((await ledger.runs.get(right.runId)).state).toBe('collecting');
  });
});

describe('an interrupted collect', () => {
  it('is not mistaken for a short day if the source simply ends', async () => {
    const { ledger, right, collect } = await prepareCollect();
    const stop = new AbortController();
    const source = createArraySource([records(0, 10)], { onPull: () => queueMicrotask(() => stop.abort()) });
    await expect(collect([], { reader: readerOf(source) }, stop.signal)).rejects.toThrow();
    expect(await ledger.runs.get(right.runId)).toMatchObject({ state: 'collecting', counts: { read: 0 } });
  });
});

it('the name of an erased guest is neither sent nor kept, whatever cell of a rejected record holds their reference', async () => {
  const { ledger, right, collect } = await prepareCollect();
  await ledger.guests.rememberErased([rememberReference('BR-2', hashKey, now)]);
  const shifted = [
    { ServiceId: 'Ana Lovelace', BookingReferenceId: 'BR-2' },
    { ServiceId: 'Ana Lovelace', BookingReferenceId: '=7' },
  ];
  const whole = shifted.map((fields, at) => ({
    place: 3 + at,
    fields,
    whole: [...Object.values(fields), 'BR-2'],
  }));
  const valued = [1, 2].map((number) => ({ ...record(number), extraValues: [`Ana ${number}`] }));
  await collect([], {
    reader: createDayReader({
      ...{ source: createArraySource([[...valued, ...whole]]), normaliserFor: () => createNormaliser() },
      extraLabels: ['Remark'],
    }),
    readErased: () => readErasedGuests(ledger, hashKey),
  });
  const lines = (await ledger.bookings.readBatch(right.runId, 'posted', 0)).toString().trimEnd().split('\n');
  expect(lines).toEqual(['700001,BR-1,Ana Lovelace,,,,', '700002,BR-2,,,,,']);
  const extra = await ledger.bookings.readExtra(right.runId, 'posted', 0);
  expect(extra).toEqual({ labels: ['Remark'], rows: [['Ana 1'], null] });
  expect(JSON.stringify(await ledger.rejects.list(right.runId, 9))).not.toContain('Ana');
  for (const other of [undefined, 'another key of the tests'])
    await expect(readErasedGuests(ledger, other)).rejects.toThrow('set hashKey to that key');
});
