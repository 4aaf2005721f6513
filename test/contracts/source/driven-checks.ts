import { deepEqual, equal, ok } from 'node:assert/strict';
import { inspect } from 'node:util';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import { type SourceChunk, SourceError } from '../../../src/booking/source.js';
import { assertReleased, awkwardRecords, guest, manyRecords, never, readAll } from './reading.js';
import type { SourceDriver } from './source-driver.js';

/** The day of all checks. In UTC its first hour belongs to the day before. */
export const day = createBusinessDay('2026-11-20', 'Europe/Madrid');

/** A check that needs a source with known bookings. */
export interface DrivenCheck {
  readonly name: string;
  check(driver: SourceDriver): Promise<void>;
}

export const drivenChecks: readonly DrivenCheck[] = [
  {
    name: 'returns every record, in order, with unchanged texts',
    async check(driver) {
      const records = [...awkwardRecords(), ...manyRecords(3_000)];
      const { source } = await driver.prepare(records, day);
      deepEqual(
        (await readAll(source, day)).map(({ fields }) => fields),
        records,
      );
    },
  },
  {
    name: 'reports the place of each record',
    async check(driver) {
      const { source, places } = await driver.prepare([...awkwardRecords(), ...manyRecords(3_000)], day);
      deepEqual(
        (await readAll(source, day)).map(({ place }) => place),
        places,
      );
    },
  },
  {
    name: 'reads a day without bookings as a day without bookings',
    async check(driver) {
      const { source } = await driver.prepare([], day);
      deepEqual(await readAll(source, day), []);
    },
  },
  {
    name: 'reads nothing outside the requested day',
    async check(driver) {
      const days = [day.previous(), day, day.next()].map((each) => ({
        day: each,
        records: manyRecords(1_500, each.iso),
      }));
      const { source } = await driver.prepareDays(days);
      for (const { day: asked, records } of days) {
        deepEqual(
          (await readAll(source, asked)).map(({ fields }) => fields.BookingReferenceId),
          records.map(({ BookingReferenceId }) => BookingReferenceId),
        );
      }
    },
  },
  {
    name: 'does not read ahead of its reader',
    async check(driver) {
      const { source, taken } = await driver.prepare(manyRecords(60_000), day);
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
    },
  },
  {
    name: 'throws when it breaks in the middle: a truncated day must not pass for a whole one',
    async check(driver) {
      const records = manyRecords(60_000);
      const { source, held, secrets = [] } = await driver.prepareBroken(records, day);
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
    },
  },
];

function shareDone(chunk: SourceChunk | undefined): number {
  if (chunk?.progress === undefined)
    throw new Error('without progress the prepared source must provide taken()');
  return chunk.progress.done / chunk.progress.total;
}
