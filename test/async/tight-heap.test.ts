import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { withTightHeap } from '../../src/async/tight-heap.js';
import { compiled } from '../support/compiled.js';

it('Work with a tight heap returns what it returns and throws what it throws', async () => {
  expect(await withTightHeap(async () => 'done')).toBe('done');
  const failing = withTightHeap(async () => {
    throw new Error('failed');
  });
  await expect(failing).rejects.toThrow('failed');
});

it('A tight heap takes less memory for the same garbage, until the last work that asked for it has ended', async () => {
  const usual = await measureHeap('makeGarbage()');
  const tight = await measureHeap('withTightHeap(makeGarbage)');
  const overlapping = await measureHeap(
    '(void withTightHeap(async () => {}), withTightHeap(async () => { await undefined; await undefined; return makeGarbage(); }))',
  );
  const after = await measureHeap('withTightHeap(async () => {}).then(makeGarbage)');
  expect(tight).toBeLessThan(0.8 * usual);
  expect(overlapping).toBeLessThan(0.8 * usual);
  // The usual heap itself differs by a fifth from process to process.
  expect(after).toBeGreaterThan(1.5 * tight);
});

/** The most megabytes that the heap of a new process took while it made garbage, with some 50 MB in use. */
async function measureHeap(work: string): Promise<number> {
  const script = `
    const { getHeapStatistics } = await import('node:v8');
    const { withTightHeap } = await import('${compiled}src/async/tight-heap.js');
    async function makeGarbage() {
      const held = [];
      let most = 0;
      for (let made = 0; made < 3_000_000; made += 1) {
        held[made % 300_000] = { made, text: \`text \${made}\` };
        if (made % 10_000 === 0) most = Math.max(most, getHeapStatistics().total_heap_size);
      }
      return most;
    }
    console.log(await ${work});`;
  // A busy machine must not decide when a collection ends, and the young generation differs between versions of Node.
  const flags = ['--single-threaded-gc', '--max-semi-space-size=4', '--input-type=module', '-e', script];
  const { stdout } = await promisify(execFile)(process.execPath, flags);
  return Number(stdout) / 1e6;
}
