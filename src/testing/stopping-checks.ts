import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { assertLetsGo } from './lets-go.js';
import { never } from './read-all.js';
import type { ReadingCheck, ReadingSubject } from './reading-check.js';

const reason = new Error('stopped by hand');
const isReason = (error: unknown) => error === reason;

/** A reading, and what stops it. */
function begin({ source, day }: ReadingSubject) {
  const stopping = new AbortController();
  const reading = source.read(day, { signal: stopping.signal })[Symbol.asyncIterator]();
  return { reading, stop: () => stopping.abort(reason) };
}

/** What a source does when it is stopped, or left. */
export const stoppingChecks: readonly ReadingCheck[] = [
  {
    name: 'throws the reason at once when it was aborted before',
    records: 10,
    async check({ source, day }) {
      const reading = source.read(day, { signal: AbortSignal.abort(reason) })[Symbol.asyncIterator]();
      await rejects(reading.next(), isReason);
    },
  },
  {
    name: 'stops when aborted between two chunks, and lets go of what it holds',
    records: 60_000,
    async check(subject) {
      const { reading, stop } = begin(subject);
      await reading.next();
      stop();
      await rejects(reading.next(), isReason);
      deepEqual(await reading.next(), { done: true, value: undefined });
      await assertLetsGo(subject.held);
    },
  },
  {
    name: 'throws when aborted behind the last chunk, too',
    records: 1,
    async check(subject) {
      const { reading, stop } = begin(subject);
      const first = await reading.next();
      ok(!first.done, 'the day holds a booking');
      if (subject.count !== undefined) equal(first.value.records.length, subject.count);
      stop();
      await rejects(reading.next(), isReason);
    },
  },
  {
    name: 'lets go of what it holds when aborted, also if nobody asks again',
    records: 60_000,
    async check(subject) {
      const { reading, stop } = begin(subject);
      await reading.next();
      if (subject.held) ok((await subject.held()) > 0, 'it holds something open while it reads');
      stop();
      await assertLetsGo(subject.held);
    },
  },
  {
    name: 'stops when aborted while it is being asked',
    records: 60_000,
    async check(subject) {
      const { reading, stop } = begin(subject);
      const asked = reading.next();
      stop();
      // The first chunk may have been on its way; the second is not.
      const outcome = await asked.then(() => reading.next()).catch((error: unknown) => error);
      equal(outcome, reason);
      await assertLetsGo(subject.held);
    },
  },
  {
    name: 'lets go of what it holds when the reader walks away',
    records: 60_000,
    async check({ source, day, held }) {
      for await (const chunk of source.read(day, { signal: never() })) {
        ok(chunk.records.length > 0);
        break;
      }
      await assertLetsGo(held);
    },
  },
];
