import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import { assertLetsGo } from './lets-go.js';
import { never, readAll } from './read-all.js';
import type { ReadingCheck } from './reading-check.js';
import { stoppingChecks } from './stopping-checks.js';

/** What is asked of a source that is read from one end to the other, or is not read at all. */
export const readingChecks: readonly ReadingCheck[] = [
  {
    name: 'reports places that grow, and what they count',
    records: 3_000,
    async check({ source, day }) {
      match(source.placeUnit, /^[a-z]+$/);
      const places = (await readAll(source, day)).map(({ place }) => place);
      deepEqual(
        places,
        [...new Set(places)].sort((one, other) => one - other),
      );
    },
  },
  {
    name: 'reads the same day again, and twice at once',
    records: 3_000,
    async check({ source, day, count }) {
      const first = await readAll(source, day);
      if (count !== undefined) equal(first.length, count);
      ok(first.length > 0, 'the day holds a booking');
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
    name: 'reports progress, if it does, that grows to the whole',
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
  {
    name: 'lets go of what it holds at the end',
    records: 100,
    async check({ source, day, held }) {
      await readAll(source, day);
      await assertLetsGo(held);
    },
  },
  ...stoppingChecks,
];
