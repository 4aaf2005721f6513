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

/** Counts a day's accepted bookings by provider. */
export function createProviderCounts() {
  const counts = new Map<string, number>();
  return {
    /** Counts a line of a chunk. */
    add({ providers, providerOf }: Pick<RenderedLines, 'providers' | 'providerOf'>, line: number): void {
      const name = providers[(providerOf[line] ?? noProvider) - 1];
      if (name === undefined) return;
      const count = counts.get(name) ?? 0;
      if (count > 0 || counts.size <= maxProviders) counts.set(name, count + 1);
    },
    /** Null if there are too many. */
    total: (): Readonly<Record<string, number>> | null =>
      counts.size > maxProviders ? null : Object.fromEntries(counts),
  };
}
