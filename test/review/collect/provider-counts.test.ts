import { describe, expect, it } from 'vitest';
import {
  createProviderCounts,
  createProviderNumbers,
  maxProviders,
} from '../../../src/review/collect/provider-counts.js';

/** Counts chunks of providers; those in `repeated` are duplicates. */
function count(
  chunks: readonly (readonly (string | undefined)[])[],
  repeated: ReadonlySet<number> = new Set(),
) {
  const counts = createProviderCounts();
  let booking = 0;
  for (const chunk of chunks) {
    const numbers = createProviderNumbers();
    const providerOf = Uint16Array.from(chunk, (name) => numbers.numberOf(name));
    const lines = { providers: numbers.names(), providerOf };
    for (const line of chunk.keys()) {
      if (!repeated.has(booking)) counts.add(lines, line);
      booking += 1;
    }
  }
  return counts.total();
}

describe('counting bookings by provider', () => {
  it('adds up over chunks, without bookings that name none', () => {
    expect(count([['a', 'b', 'a', undefined], [], ['c', 'a'], ['b']])).toEqual({ a: 3, b: 2, c: 1 });
  });

  it('leaves out duplicates', () => {
    expect(count([['a', 'b', 'a'], ['b']], new Set([1, 2, 3]))).toEqual({ a: 1 });
  });

  it('gives up on a column with more values than there are providers, in one chunk or over several', () => {
    const names = Array.from({ length: maxProviders + 1 }, (_, number) => `p${number}`);
    expect(count([names.slice(1)])).not.toBeNull();
    expect(count([names])).toBeNull();
    expect(count([names.slice(0, 600), names.slice(600)])).toBeNull();
    expect(count([[...names, ...names.map((name) => `${name}x`), 'a', 'a']])).toBeNull();
  });
});
