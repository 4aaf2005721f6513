import { deepEqual, equal, notEqual, ok, rejects } from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { inspect } from 'node:util';
import { describe, it } from 'vitest';
import type { RawBooking } from '../../src/booking/booking.js';
import { type BusinessDay, createBusinessDay } from '../../src/booking/business-day.js';
import { type BookingSource, type SourceChunk, SourceError } from '../../src/booking/source.js';
import { assertReleased, awkwardRecords, guest, manyRecords, never, readAll } from './source/reading.js';

/** A record as the suite expects it: texts only, without missing fields. */
export type IntendedRecord = { readonly [field in keyof RawBooking]: string };

export interface DayOfRecords {
  readonly day: BusinessDay;
  readonly records: readonly IntendedRecord[];
}

export interface PreparedSource {
  readonly source: BookingSource;
  /** The expected place of each record of the first day. */
  readonly places: readonly number[];
  /** What `locate` and errors must not reveal: passwords, keys. */
  readonly secrets?: readonly string[];
  /** How many times the day has been read, over all readers: 1.5 is one and a half times. Needed without progress. */
  readonly taken?: () => number;
  /** How many resources are currently open: files, cursors, connections. */
  readonly held?: () => number | Promise<number>;
}

/**
 * Implemented by a source's test: makes a source that holds exactly these records for these days. What it opens ends with the test.
 *
 * @param breaks it breaks after more than one chunk and before the end
 */
export type PrepareSource = (days: readonly DayOfRecords[], breaks?: boolean) => Promise<PreparedSource>;

/** The day of all checks. In UTC its first hour belongs to the day before. */
const day = createBusinessDay('2026-11-20', 'Europe/Madrid');
const reason = new Error('stopped by hand');
const isReason = (error: unknown) => error === reason;

/** The suite that every source must pass. */
export function describeSourceContract(name: string, prepare: PrepareSource): void {
  describe(`the source contract: ${name}`, () => {
    const prepareDay = (records: readonly IntendedRecord[], breaks = false) =>
      prepare([{ day, records }], breaks);
    /** One of a source with that many bookings. */
    const checkReading = (what: string, count: number, run: (prepared: PreparedSource) => Promise<void>) =>
      it(what, async () => run(await prepareDay(manyRecords(count))));

    it('returns every record, in order, with its place and unchanged texts', async () => {
      const records = [...awkwardRecords(), ...manyRecords(3_000)];
      const { source, places } = await prepareDay(records);
      const signal = never();
      deepEqual(
        await readAll(source, day, signal),
        records.map((fields, index) => ({ place: places[index], fields })),
      );
      equal(getEventListeners(signal, 'abort').length, 0, 'it still listens to the signal');
    });

    it('reads a day without bookings as a day without bookings', async () => {
      const { source } = await prepareDay([]);
      deepEqual(await readAll(source, day), []);
    });

    it('reads nothing outside the requested day', async () => {
      const days = [day.previous(), day, day.next()].map((each) => ({
        day: each,
        records: manyRecords(1_500, each.iso),
      }));
      const { source } = await prepare(days);
      for (const { day: asked, records } of days) {
        deepEqual(
          (await readAll(source, asked)).map(({ fields }) => fields.BookingReferenceId),
          records.map(({ BookingReferenceId }) => BookingReferenceId),
        );
      }
    });

    it('does not read ahead of its reader', async () => {
      const { source, taken } = await prepareDay(manyRecords(60_000));
      const takenAtFirst = taken?.() ?? 0;
      const reading = source.read(day, { signal: never() })[Symbol.asyncIterator]();
      await reading.next();
      // Another reader reads the whole day, which gives a source that reads ahead enough time to do so.
      const takenBefore = taken?.() ?? 0;
      ok(takenBefore - takenAtFirst < 1, 'it has read all of the day for its first chunk');
      let others = 0;
      for await (const { records } of source.read(day, { signal: never() })) others += records.length;
      equal(others, 60_000);
      const takenMeanwhile = (taken?.() ?? 0) - takenBefore;
      const next: IteratorResult<SourceChunk> = await reading.next();
      await reading.return?.();
      if (taken === undefined) ok(shareDone(next.value) < 0.5, 'it has read ahead');
      else ok(takenMeanwhile < 1.5, 'it has read ahead');
    });

    it('throws when it breaks in the middle: a truncated day must not pass for a whole one', async () => {
      const records = manyRecords(60_000);
      const { source, held, secrets = [] } = await prepareDay(records, true);
      let received = 0;
      let failure: unknown;
      try {
        for await (const chunk of source.read(day, { signal: never() })) received += chunk.records.length;
      } catch (error) {
        failure = error;
      }
      ok(failure instanceof SourceError, 'it ended without a SourceError');
      ok(received > 0, 'it broke before its first chunk');
      ok(received < records.length, 'it broke after its end');
      const everythingItSays = inspect(failure, { depth: 10 });
      for (const text of [guest, ...secrets]) {
        ok(!everythingItSays.includes(text), 'the error reveals what it must not');
      }
      await assertReleased(held);
    });

    checkReading('reads the same day again, and twice at once', 3_000, async ({ source }) => {
      const first = await readAll(source, day);
      equal(first.length, 3_000);
      deepEqual(await Promise.all([readAll(source, day), readAll(source, day)]), [first, first]);
    });

    checkReading('says where it reads, without secrets', 10, async ({ source, secrets = [] }) => {
      const location = source.locate(day);
      notEqual(location, '');
      for (const secret of secrets) ok(!location.includes(secret), 'its location holds a secret');
    });

    checkReading('reports, if any, progress that grows to the total', 20_000, async ({ source }) => {
      const done: number[] = [];
      for await (const { progress } of source.read(day, { signal: never() })) {
        if (progress) done.push(progress.done / progress.total);
      }
      deepEqual(
        done,
        [...done].sort((one, other) => one - other),
      );
      if (done.length > 0) equal(done.at(-1), 1);
    });

    checkReading('throws the reason at once if the signal has already aborted', 10, async ({ source }) => {
      const reading = source.read(day, { signal: AbortSignal.abort(reason) })[Symbol.asyncIterator]();
      await rejects(reading.next(), isReason);
    });

    checkReading('throws when aborted after the last chunk, too', 1, async (subject) => {
      const { reading, stop } = begin(subject);
      const first = await reading.next();
      ok(!first.done, 'the day holds a booking');
      equal(first.value.records.length, 1);
      stop();
      await rejects(reading.next(), isReason);
    });

    checkReading('releases its resources when aborted, even if nobody reads on', 60_000, async (subject) => {
      const { reading, stop } = begin(subject);
      await reading.next();
      if (subject.held) ok((await subject.held()) > 0, 'it holds something open while it reads');
      stop();
      await assertReleased(subject.held);
      // A read that is left suspended would look like one that the end of the process cuts off.
      await rejects(reading.next(), isReason);
      // Nor may whatever it opened to clean up stay open.
      await assertReleased(subject.held);
    });

    checkReading('stops when aborted during a read', 60_000, async (subject) => {
      const { reading, stop } = begin(subject);
      const asked = reading.next();
      stop();
      // The first chunk may have been under way already, but not the second.
      const outcome = await asked.then(() => reading.next()).catch((error: unknown) => error);
      equal(outcome, reason);
      await assertReleased(subject.held);
    });

    checkReading('releases its resources when the reader stops early', 60_000, async ({ source, held }) => {
      for await (const chunk of source.read(day, { signal: never() })) {
        ok(chunk.records.length > 0);
        break;
      }
      await assertReleased(held);
    });
  });
}

/** Starts to read, and returns how to stop it. */
function begin({ source }: PreparedSource) {
  const stopping = new AbortController();
  const reading = source.read(day, { signal: stopping.signal })[Symbol.asyncIterator]();
  return { reading, stop: () => stopping.abort(reason) };
}

function shareDone(chunk: SourceChunk | undefined): number {
  if (chunk?.progress === undefined)
    throw new Error('without progress the prepared source must provide taken()');
  return chunk.progress.done / chunk.progress.total;
}
