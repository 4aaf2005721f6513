import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { withTightHeap } from '../../src/async/tight-heap.js';

it('Work with a tight heap returns what it returns and throws what it throws', async () => {
  expect(await withTightHeap(async () => 'done')).toBe('done');
  const failing = withTightHeap(async () => {
    throw new Error('failed');
  });
  await expect(failing).rejects.toThrow('failed');
});

it('A tight heap takes less memory for the same garbage, and only while it is asked for', async () => {
  const [usual, tight, after] = await Promise.all(['usual', 'tight', 'after'].map(measureHeap));

  expect(tight).toBeLessThan(0.8 * Number(usual));
  expect(after).toBeGreaterThan(0.9 * Number(usual));
});

/** The most megabytes that the heap of a new process took while it made garbage, with some 50 MB in use. */
async function measureHeap(kind: string): Promise<number> {
  const built = new URL('../../dist/src/async/tight-heap.js', import.meta.url).href;
  const script = `
    const { getHeapStatistics } = await import('node:v8');
    const { withTightHeap } = await import(${JSON.stringify(built)});
    async function makeGarbage() {
      const held = [];
      let most = 0;
      for (let made = 0; made < 3_000_000; made += 1) {
        held[made % 300_000] = { made, text: \`text \${made}\` };
        if (made % 10_000 === 0) most = Math.max(most, getHeapStatistics().total_heap_size);
      }
      return most;
    }
    if (${kind === 'after'}) await withTightHeap(async () => {});
    console.log(await (${kind === 'tight'} ? withTightHeap(makeGarbage) : makeGarbage()));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  return Number(stdout) / 1e6;
}
