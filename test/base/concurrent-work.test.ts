import { expect, it } from 'vitest';
import { shareWork } from '../../src/base/concurrent-work.js';

it('shares work while it is done and for a while after it succeeded, and does what failed anew', async () => {
  let [now, works] = [0, 0];
  let isFailing = false;
  const share = shareWork(
    async () => {
      works += 1;
      if (isFailing) throw new Error('away');
      return works;
    },
    () => now,
    1_000,
  );
  expect(await Promise.all([share(), share()])).toEqual([1, 1]);
  now = 999;
  expect(await share()).toBe(1);
  now = 1_000;
  isFailing = true;
  const [one, other] = [share(), share()];
  await expect(one).rejects.toThrow('away');
  await expect(other).rejects.toThrow('away');
  expect(works).toBe(2);
  isFailing = false;
  expect(await share()).toBe(3);
});
