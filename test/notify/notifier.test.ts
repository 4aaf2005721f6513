import { expect, it, onTestFinished, vi } from 'vitest';
import { startNotifier } from '../../src/notify/notifier.js';
import { fakeLedger } from '../support/fake-ledger.js';

it('what time alone makes due is looked for once a minute, also after the clock was set back by a day', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  let now = Date.parse('2026-11-21T02:30:00Z');
  let looks = 0;
  const notifier = startNotifier({
    ...{ ledger: fakeLedger({}), channels: [], settings: [], timezone: 'UTC' },
    ...{ clock: () => now, random: () => 0, signal: new AbortController().signal },
    ...{ notify() {}, warn() {}, compose: () => Promise.reject(new Error('there is nothing to tell')) },
    listChecks() {
      looks += 1;
      throw new Error('not a part of this test');
    },
  });
  const pass = async (seconds: number) => {
    for (let passed = 0; passed < seconds; passed += 5) {
      now += 5_000;
      await vi.advanceTimersByTimeAsync(5_000);
    }
    return looks;
  };
  expect([await pass(5), await pass(55), await pass(60)]).toEqual([1, 1, 2]);
  now -= 86_400_000;
  expect([await pass(5), await pass(60)]).toEqual([3, 4]);
  await notifier.close();
  expect(looks).toBe(5);
});
