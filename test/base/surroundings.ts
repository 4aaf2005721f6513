import { resolve } from 'node:path';

/** What writing a file needs of a command that nobody stops, unless a signal is given. */
export function surroundings({ stop, halted }: { stop?: AbortSignal; halted?: AbortSignal } = {}) {
  const never = new AbortController().signal;
  return {
    signal: stop ?? never,
    io: { halted: halted ?? never },
    locate: (path: string) => resolve(path),
  };
}
