import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RawBooking } from '../../src/booking/booking.js';
import { type BusinessDay, createBusinessDay } from '../../src/booking/business-day.js';
import { type BookingSource, type SourceChunk, SourceError } from '../../src/sources/source.js';

/** A record as the suite means it: texts only, and a missing field left out. */
export type IntendedRecord = { readonly [field in keyof RawBooking]: string };

export interface PreparedSource {
  readonly source: BookingSource;
  /** The place that each record is to report. */
  readonly places: readonly number[];
  /** What `locate` and errors must not give away: passwords, keys. */
  readonly secrets?: readonly string[];
  /** How often the day has been taken in, over all readings: 1.5 is once and a half. Needed without progress. */
  readonly taken?: () => number;
  /** How many things it holds open at the moment: files, cursors, connections. */
  readonly held?: () => number | Promise<number>;
}

/** What a source's test brings, so that the suite can try it. */
export interface SourceDriver {
  /** Makes a source that holds exactly these records for that day. */
  prepare(records: readonly IntendedRecord[], day: BusinessDay): Promise<PreparedSource>;
  /** Makes one that holds them too, but breaks behind more than one chunk and before the end. */
  prepareBroken(records: readonly IntendedRecord[], day: BusinessDay): Promise<PreparedSource>;
  /** Takes down what was made for one test. */
  dispose(): Promise<void>;
}

const day = createBusinessDay('2026-11-20', 'Europe/Madrid');
const never = () => new AbortController().signal;
const guest = 'Ann Guest-Canary';

/** The suite that every source must pass. */
export function describeSourceContract(name: string, createDriver: () => SourceDriver): void {
  describe(`the source contract: ${name}`, () => {
    let driver: SourceDriver;
    beforeEach(() => {
      driver = createDriver();
    });
    afterEach(() => driver.dispose());

    it('hands over every record, in order, with texts as they are', async () => {
      const records = [...awkwardRecords(), ...manyRecords(3000)];
      const { source } = await driver.prepare(records, day);
      expect((await readAll(source)).map(({ fields }) => fields)).toEqual(records);
    });

    it('reports the place of each record', async () => {
      const { source, places } = await driver.prepare([...awkwardRecords(), ...manyRecords(3000)], day);
      expect(source.placeUnit).toMatch(/^[a-z]+$/);
      expect((await readAll(source)).map(({ place }) => place)).toEqual(places);
    });

    it('reads a day without bookings as a day without bookings', async () => {
      const { source } = await driver.prepare([], day);
      expect(await readAll(source)).toEqual([]);
    });

    it('reads the same day again, and twice at once', async () => {
      const { source } = await driver.prepare(manyRecords(3000), day);
      const first = await readAll(source);
      expect(first).toHaveLength(3000);
      expect(await Promise.all([readAll(source), readAll(source)])).toEqual([first, first]);
    });

    it('says where it reads, without secrets', async () => {
      const { source, secrets = [] } = await driver.prepare(awkwardRecords(), day);
      const location = source.locate(day);
      expect(location).not.toBe('');
      for (const secret of secrets) expect(location).not.toContain(secret);
    });

    it('reads no further while nobody asks', async () => {
      const { source, taken } = await driver.prepare(manyRecords(60_000), day);
      const held = source.read(day, { signal: never() })[Symbol.asyncIterator]();
      await held.next();
      // Long enough for a source that reads ahead to have read it all: another reader does, meanwhile.
      const takenBefore = taken?.() ?? 0;
      expect(await readAll(source)).toHaveLength(60_000);
      const takenMeanwhile = (taken?.() ?? 0) - takenBefore;
      const next: IteratorResult<SourceChunk> = await held.next();
      await held.return?.();
      if (taken === undefined) expect(shareDone(next.value)).toBeLessThan(0.5);
      else expect(takenMeanwhile).toBeLessThan(1.5);
    });

    it('reports progress, if it does, that grows to the whole', async () => {
      const { source } = await driver.prepare(manyRecords(20_000), day);
      const done: number[] = [];
      for await (const chunk of source.read(day, { signal: never() })) {
        if (chunk.progress) done.push(chunk.progress.done / chunk.progress.total);
      }
      expect(done).toEqual([...done].sort((one, other) => one - other));
      if (done.length > 0) expect(done.at(-1)).toBe(1);
    });

    it('throws the reason at once when it was aborted before', async () => {
      const { source } = await driver.prepare(manyRecords(10), day);
      const reason = new Error('stopped by hand');
      const reading = source.read(day, { signal: AbortSignal.abort(reason) })[Symbol.asyncIterator]();
      await expect(reading.next()).rejects.toBe(reason);
    });

    it('stops when aborted between two chunks, and lets go of what it holds', async () => {
      const { source, held } = await driver.prepare(manyRecords(60_000), day);
      const stopping = new AbortController();
      const reason = new Error('stopped by hand');
      const reading = source.read(day, { signal: stopping.signal })[Symbol.asyncIterator]();
      await reading.next();
      stopping.abort(reason);
      await expect(reading.next()).rejects.toBe(reason);
      expect(await reading.next()).toEqual({ done: true, value: undefined });
      if (held) await expect.poll(held).toBe(0);
    });

    it('throws when aborted behind the last chunk, too', async () => {
      const { source } = await driver.prepare(manyRecords(1), day);
      const stopping = new AbortController();
      const reason = new Error('stopped by hand');
      const reading = source.read(day, { signal: stopping.signal })[Symbol.asyncIterator]();
      expect((await reading.next()).value?.records).toHaveLength(1);
      stopping.abort(reason);
      await expect(reading.next()).rejects.toBe(reason);
    });

    it('lets go of what it holds when aborted, also if nobody asks again', async () => {
      const { source, held } = await driver.prepare(manyRecords(60_000), day);
      const stopping = new AbortController();
      const reading = source.read(day, { signal: stopping.signal })[Symbol.asyncIterator]();
      await reading.next();
      if (held) expect(await held()).toBeGreaterThan(0);
      stopping.abort(new Error('stopped by hand'));
      if (held) await expect.poll(held).toBe(0);
    });

    it('stops when aborted while it is being asked', async () => {
      const { source, held } = await driver.prepare(manyRecords(60_000), day);
      const stopping = new AbortController();
      const reason = new Error('stopped by hand');
      const reading = source.read(day, { signal: stopping.signal })[Symbol.asyncIterator]();
      const asked = reading.next();
      stopping.abort(reason);
      const outcome = await asked
        .then(
          () => reading.next(),
          (error: unknown) => Promise.reject(error),
        )
        .catch((error: unknown) => error);
      expect(outcome).toBe(reason);
      if (held) await expect.poll(held).toBe(0);
    });

    it('lets go of what it holds when the reader walks away', async () => {
      const { source, held } = await driver.prepare(manyRecords(60_000), day);
      for await (const chunk of source.read(day, { signal: never() })) {
        expect(chunk.records.length).toBeGreaterThan(0);
        break;
      }
      if (held) await expect.poll(held).toBe(0);
    });

    it('lets go of what it holds at the end', async () => {
      const { source, held } = await driver.prepare(manyRecords(100), day);
      await readAll(source);
      if (held) await expect.poll(held).toBe(0);
    });

    it('throws when it breaks in the middle: a day cut off is never a short day', async () => {
      const records = manyRecords(60_000);
      const { source, held, secrets = [] } = await driver.prepareBroken(records, day);
      let received = 0;
      let failure: unknown;
      try {
        for await (const chunk of source.read(day, { signal: never() })) received += chunk.records.length;
      } catch (error) {
        failure = error;
      }
      expect(failure).toBeInstanceOf(SourceError);
      expect(received).toBeGreaterThan(0);
      expect(received).toBeLessThan(records.length);
      const everythingItSays = inspect(failure, { depth: 10 });
      for (const text of [guest, ...secrets]) expect(everythingItSays).not.toContain(text);
      if (held) await expect.poll(held).toBe(0);
    });
  });
}

interface ReadRecord {
  readonly place: number;
  readonly fields: RawBooking;
}

async function readAll(source: BookingSource): Promise<ReadRecord[]> {
  const records: ReadRecord[] = [];
  for await (const chunk of source.read(day, { signal: never() })) {
    for (const record of chunk.records) {
      if ('unreadable' in record) throw new Error(`record ${record.place} is ${record.unreadable}`);
      records.push({ place: record.place, fields: withoutMissing(record.fields) });
    }
  }
  return records;
}

/** A source may hand a missing field over as absent, undefined, null or empty. */
function withoutMissing(fields: RawBooking): RawBooking {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null && value !== ''),
  );
}

function shareDone(chunk: SourceChunk | undefined): number {
  if (chunk?.progress === undefined) throw new Error('without progress the driver has to say what was taken');
  return chunk.progress.done / chunk.progress.total;
}

/** Texts that formats and drivers like to break. */
function awkwardRecords(): IntendedRecord[] {
  return [
    { ServiceId: '1' },
    { ServiceId: '9007199254740991', ProviderHotelId: '000123' },
    { ServiceId: '3', BookingClientName: `${guest}, "the 1st"`, ProviderName: "O'Hara; DROP TABLE" },
    { ServiceId: '4', BookingClientName: 'two\nlines', BookingReferenceId: '"' },
    { ServiceId: '5', BookingClientName: 'Žofie 山田 𝒜 🏨', ProviderName: ' spaces around ' },
    { ServiceId: '6', BookingClientName: 'null', BookingReferenceId: '1e5', ProviderHotelId: '0x10' },
    { ServiceId: 'no number', CheckInDate: '20112026', CheckOutDate: '2026-02-31' },
    { ServiceId: '8', BookingReferenceId: '\\', ProviderHotelId: "a\tb\\n'" },
  ];
}

function manyRecords(count: number): IntendedRecord[] {
  return Array.from({ length: count }, (_, index) => ({
    ServiceId: String(10_000_000 + index),
    BookingReferenceId: `BR-${index}`,
    BookingClientName: index % 7 === 0 ? `${guest}, ${index}` : `${guest} ${index}`,
    ProviderName: 'Provider',
    ProviderHotelId: `H${index}`,
    CheckInDate: '2026-11-20',
    CheckOutDate: '2026-11-24',
  }));
}
