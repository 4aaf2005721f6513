import { expect, it } from 'vitest';
import { deliverLater } from '../../src/sandbox/parts/deliver-later.js';
import { makeTemporaryFolder } from '../support/temporary-folder.js';

it('a delivery whose draft cannot be removed says so, and whoever waits for it goes on', async () => {
  const told: string[] = [];
  const pending = new Set<Promise<void>>();
  const { signal } = new AbortController();
  // A folder is not removed as a file is.
  const drafts = [makeTemporaryFolder()];
  deliverLater(
    { name: 'a', fault: undefined, drafts, write: async () => 'written', notify: async () => undefined },
    { resultDelayMs: 0, signal, tell: (line) => void told.push(line), pending },
  );
  await Promise.all(pending);
  expect(told).toEqual(['a: written', expect.stringMatching(/^a: a draft is left behind \(.+\)$/)]);
  expect(pending.size).toBe(0);
});
