import { expect, it } from 'vitest';
import type { RawBooking } from '../../src/booking/booking.js';
import { createBusinessDay } from '../../src/booking/business-day.js';
import { createNormaliser } from '../../src/booking/normalise.js';
import { type BookingSource, type SourceChunk, SourceError } from '../../src/booking/source.js';
import { readNormalised } from '../../src/review/collect/day-reader.js';

const day = createBusinessDay('2026-11-20', 'Europe/Madrid');
const { signal } = new AbortController();

const chunkOf = (count: number): SourceChunk => ({
  records: Array.from({ length: count }, (_, place) => ({ place, fields: { ServiceId: place } })),
});

async function read(chunks: readonly (SourceChunk | SourceError)[], atMost?: number) {
  const source: BookingSource = {
    locate: () => 'a list',
    placeUnit: 'record',
    measure: async () => undefined,
    async *read() {
      for (const chunk of chunks) {
        if (chunk instanceof SourceError) throw chunk;
        yield chunk;
      }
    },
  };
  const firsts: (readonly RawBooking[])[] = [];
  const decide = (_: unknown, listFirst: () => readonly RawBooking[]) => {
    firsts.push(listFirst());
    return createNormaliser();
  };
  const passed: SourceChunk[] = [];
  let failure: unknown;
  try {
    for await (const { chunk } of readNormalised(source, day, decide, { signal, atMost })) passed.push(chunk);
  } catch (error) {
    failure = error;
  }
  return { decidedBy: firsts.map((first) => first.length), passed, failure };
}

it('The first thousand records of a day decide how it is read, however they arrive', async () => {
  const small = Array.from({ length: 150 }, () => chunkOf(10));
  expect(await read(small)).toMatchObject({ decidedBy: [1_000], passed: small });
  expect(await read([chunkOf(2_500), chunkOf(5)])).toMatchObject({ decidedBy: [1_000] });
  expect(await read([chunkOf(3), chunkOf(4)])).toMatchObject({ decidedBy: [7] });
  expect(await read(small, 5)).toMatchObject({ decidedBy: [10], passed: small });
  expect(await read([])).toMatchObject({ decidedBy: [0], passed: [] });
});

it('What was read before the source failed is passed on', async () => {
  const failure = new SourceError('unreadable', 'gone');
  expect(await read([chunkOf(3), failure])).toMatchObject({ passed: [chunkOf(3)], failure });
});
