import { describe, expect, it } from 'vitest';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import { createBookingStore, maxProviders } from '../../../src/review/collect/store-bookings.js';
import { createArraySource, readerOf, record } from '../array-source.js';

const day = createBusinessDay('2026-11-20', 'Europe/Madrid');

/** Takes chunks of bookings, each given by the name of its provider; a booking of `repeated` is the one before it again. */
async function count(
  chunks: readonly (readonly (string | undefined)[])[],
  repeated: ReadonlySet<number> = new Set(),
) {
  let booking = -1;
  const script = chunks.map((chunk) =>
    chunk.map((name) => {
      booking += 1;
      return record(
        repeated.has(booking) ? booking - 1 : booking,
        name === undefined ? {} : { ProviderName: name },
      );
    }),
  );
  const bookings = createBookingStore('2026-11-20', 500, { store: async () => {}, holds: async () => true });
  const { signal } = new AbortController();
  for await (const chunk of readerOf(createArraySource(script)).read(
    day,
    { kind: 'body', names: 'send' },
    {
      signal,
    },
  ))
    await bookings.take(chunk);
  return bookings.providers;
}

describe('counting bookings by provider', () => {
  it('leaves out duplicates', async () => {
    expect(
      await count(
        [
          ['a', 'a', 'b'],
          ['b', 'a'],
        ],
        new Set([1, 3]),
      ),
    ).toEqual({ a: 2, b: 1 });
  });

  it('gives up on a column with more values than there are providers, in one chunk or over several', async () => {
    const names = Array.from({ length: maxProviders + 1 }, (_, number) => `p${number}`);
    expect(await count([names.slice(1)])).not.toBeNull();
    expect(await count([names])).toBeNull();
    expect(await count([names.slice(0, 600), names.slice(600)])).toBeNull();
    expect(await count([[...names, ...names.map((name) => `${name}x`), 'a', 'a']])).toBeNull();
  });
});
