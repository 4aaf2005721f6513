import { deepEqual, equal, notEqual, ok, rejects } from 'node:assert/strict';
import type { BusinessDay } from '../../../src/booking/business-day.js';
import { assertReleased, never, readAll } from './reading.js';
import type { PreparedSource } from './source-driver.js';

/** A source with a day in it. */
export interface ReadingSubject extends Omit<PreparedSource, 'places'> {
  readonly day: BusinessDay;
  /** The number of bookings on that day. */
  readonly count: number;
}

/** A check for a source with any bookings. */
export interface ReadingCheck {
  readonly name: string;
  /** The best number of bookings for this check. */
  readonly records: number;
  check(subject: ReadingSubject): Promise<void>;
}

/** Checks that read a source to its end, or not at all. */
const endToEndChecks: readonly ReadingCheck[] = [
  {
    name: 'reads the same day again, and twice at once',
    records: 3_000,
    async check({ source, day, count }) {
      const first = await readAll(source, day);
      equal(first.length, count);
      deepEqual(await Promise.all([readAll(source, day), readAll(source, day)]), [first, first]);
    },
  },
  {
    name: 'says where it reads, without secrets',
    records: 10,
    check({ source, day, secrets = [] }) {
      const location = source.locate(day);
      notEqual(location, '');
      for (const secret of secrets) ok(!location.includes(secret), 'its location holds a secret');
      return Promise.resolve();
    },
  },
  {
    name: 'reports, if any, progress that grows to the total',
    records: 20_000,
    async check({ source, day }) {
      const done: number[] = [];
      for await (const { progress } of source.read(day, { signal: never() })) {
        if (progress) done.push(progress.done / progress.total);
      }
      deepEqual(
        done,
        [...done].sort((one, other) => one - other),
      );
      if (done.length > 0) equal(done.at(-1), 1);
    },
  },
];

const reason = new Error('stopped by hand');
const isReason = (error: unknown) => error === reason;

/** Starts to read, and returns how to stop it. */
function begin({ source, day }: ReadingSubject) {
  const stopping = new AbortController();
  const reading = source.read(day, { signal: stopping.signal })[Symbol.asyncIterator]();
  return { reading, stop: () => stopping.abort(reason) };
}

/** Checks that abort a source, or stop reading early. */
const stoppingChecks: readonly ReadingCheck[] = [
  {
    name: 'throws the reason at once if the signal has already aborted',
    records: 10,
    async check({ source, day }) {
      const reading = source.read(day, { signal: AbortSignal.abort(reason) })[Symbol.asyncIterator]();
      await rejects(reading.next(), isReason);
    },
  },
  {
    name: 'throws when aborted after the last chunk, too',
    records: 1,
    async check(subject) {
      const { reading, stop } = begin(subject);
      const first = await reading.next();
      ok(!first.done, 'the day holds a booking');
      equal(first.value.records.length, subject.count);
      stop();
      await rejects(reading.next(), isReason);
    },
  },
  {
    name: 'releases its resources when aborted, even if nobody reads on',
    records: 60_000,
    async check(subject) {
      const { reading, stop } = begin(subject);
      await reading.next();
      if (subject.held) ok((await subject.held()) > 0, 'it holds something open while it reads');
      stop();
      await assertReleased(subject.held);
      // A read that is left suspended would look like one that the end of the process cuts off.
      await rejects(reading.next(), isReason);
      // Nor may whatever it opened to clean up stay open.
      await assertReleased(subject.held);
    },
  },
  {
    name: 'stops when aborted during a read',
    records: 60_000,
    async check(subject) {
      const { reading, stop } = begin(subject);
      const asked = reading.next();
      stop();
      // The first chunk may have been under way already, but not the second.
      const outcome = await asked.then(() => reading.next()).catch((error: unknown) => error);
      equal(outcome, reason);
      await assertReleased(subject.held);
    },
  },
  {
    name: 'releases its resources when the reader stops early',
    records: 60_000,
    async check({ source, day, held }) {
      for await (const chunk of source.read(day, { signal: never() })) {
        ok(chunk.records.length > 0);
        break;
      }
      await assertReleased(held);
    },
  },
];

export const readingChecks: readonly ReadingCheck[] = [...endToEndChecks, ...stoppingChecks];
