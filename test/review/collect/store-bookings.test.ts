import { expect, it } from 'vitest';
import { createBookingStore, maxProviders } from '../../../src/review/collect/store-bookings.js';
import { createArraySource, readerOf, record } from '../array-source.js';
import { day } from '../late-days.js';

/** What is counted of chunks of bookings, each given by its number and the name of its provider. */
async function count(...chunks: readonly (readonly (readonly [number, string?])[])[]) {
  const source = createArraySource(
    chunks.map((chunk) => chunk.map(([number, name]) => record(number, name ? { ProviderName: name } : {}))),
  );
  const bookings = createBookingStore(day.iso, 500, { store: async () => {}, holds: async () => true });
  const { signal } = new AbortController();
  for await (const chunk of readerOf(source).read(day, { kind: 'body', names: 'send' }, { signal }))
    await bookings.take(chunk);
  return bookings.providers;
}

it('bookings are counted by provider, each once, without those that name none', async () => {
  expect(
    await count(
      [[1, 'a'], [2, 'a'], [2, 'a'], [3]],
      [
        [4, 'b'],
        [1, 'a'],
      ],
    ),
  ).toEqual({ a: 2, b: 1 });
});

it('a column with more values than there are providers is given up, in one chunk or over several', async () => {
  const rows = Array.from({ length: maxProviders + 1 }, (_, number) => [number, `p${number}`] as const);
  expect(await count(rows.slice(1))).not.toBeNull();
  expect(await count(rows)).toBeNull();
  expect(await count(rows.slice(0, 600), rows.slice(600))).toBeNull();
});
