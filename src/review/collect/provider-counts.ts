import type { RenderedLines } from './day-reader.js';

/** More names than this can't be providers: the column holds something else. */
export const maxProviders = 1_000;

/** Stands for no provider, or one beyond the limit. */
export const noProvider = 0;

/** Numbers the providers of a chunk from 1 in the order of their first booking. */
export function createProviderNumbers() {
  const numbers = new Map<string, number>();
  return {
    numberOf(name: string | undefined): number {
      if (name === undefined) return noProvider;
      const known = numbers.get(name);
      if (known !== undefined) return known;
      // One more than the limit, so that the count of names shows that it was exceeded.
      if (numbers.size > maxProviders) return noProvider;
      numbers.set(name, numbers.size + 1);
      return numbers.size;
    },
    names: () => [...numbers.keys()],
  };
}

/** Counts a day's accepted bookings by provider, chunk by chunk: a booking costs one addition. */
export function createProviderCounts() {
  const counts = new Map<string, number>();
  let pending = (): void => {};

  return {
    /** Returns the function that counts a line of the chunk. */
    open({ providers, providerOf }: Pick<RenderedLines, 'providers' | 'providerOf'>) {
      pending();
      const ofChunk = new Uint32Array(providers.length + 1);
      pending = () => {
        for (const [index, name] of providers.entries()) {
          const count = ofChunk[index + 1] ?? 0;
          if (count > 0 && (counts.has(name) || counts.size <= maxProviders))
            counts.set(name, (counts.get(name) ?? 0) + count);
        }
      };
      return (line: number): void => {
        const provider = providerOf[line] ?? noProvider;
        ofChunk[provider] = (ofChunk[provider] ?? 0) + 1;
      };
    },
    /** Null if there are too many. */
    total(): Readonly<Record<string, number>> | null {
      pending();
      pending = () => {};
      return counts.size > maxProviders ? null : Object.fromEntries(counts);
    },
  };
}
