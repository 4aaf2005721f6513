import { expect, it, onTestFinished, vi } from 'vitest';
import { type Channel, ChannelError } from '../../src/notify/channel.js';
import { startNotifier } from '../../src/notify/notifier.js';
import { giveUpAfterMs } from '../../src/notify/routing.js';
import { type NoticeEvent, noticeEventNames } from '../../src/rules/notice.js';
import { openTemporaryLedger } from '../review/temporary-ledger.js';
import { fakeLedger } from '../support/fake-ledger.js';
import { createGate } from '../support/gate.js';

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
  expect(vi.getTimerCount()).toBe(0);
  expect(looks).toBe(5);
});

it('what was raised before anybody was to be told is not told, and what waits is tried by the next process at once', async () => {
  const at = Date.parse('2026-11-21T02:30:00Z');
  const ledger = await openTemporaryLedger(() => at);
  const raise = (event: NoticeEvent, subject: string, raisedAt = at) =>
    ledger.notices.raise([{ event, subject, facts: {}, raisedAt }]);
  const told: string[] = [];
  const closed: string[] = [];
  const start = (send: Channel['send']) =>
    startNotifier({
      ...{ ledger, timezone: 'UTC', clock: () => at, random: () => 0 },
      signal: new AbortController().signal,
      settings: [{ name: 'ops', on: noticeEventNames, minimum: 'info', at: '08:00' }],
      channels: [{ name: 'ops', send, close: async () => void closed.push('ops') }],
      ...{ notify() {}, warn() {}, listChecks: () => expect.unreachable() },
      compose: async ([notice]) => ({ title: notice?.subject ?? '', text: '' }),
    });
  await raise('resource-low', 'before', at - 1);
  await start(async () => expect.unreachable()).close();
  await raise('resource-low', 'disk');
  await start(() => Promise.reject(new ChannelError('busy', 'http-503'))).close();
  const gate = createGate();
  const notifier = start(async ({ title }) => {
    told.push(title);
    await gate.passed;
  });
  await expect.poll(() => told).toEqual(['disk']);
  // It waits for others of its kind, but not longer than the process.
  await raise('sync-failing', 'mappings');
  const closing = notifier.close();
  setImmediate(gate.open);
  await closing;
  expect([told, closed.length]).toEqual([['disk', 'mappings'], 3]);
});

it('a message is given up once it has waited for days for a channel that nobody configures any more', async () => {
  let now = Date.parse('2026-11-21T02:30:00Z');
  const ledger = await openTemporaryLedger(() => now);
  const live = async (name: string) => {
    const busy = () => Promise.reject(new ChannelError('busy', 'http-503'));
    await startNotifier({
      ...{ ledger, timezone: 'UTC', clock: () => now, random: () => 0 },
      signal: new AbortController().signal,
      settings: [{ name, on: noticeEventNames, minimum: 'info', at: '08:00' }],
      channels: [{ name, send: busy, async close() {} }],
      ...{ notify() {}, warn() {}, listChecks: () => expect.unreachable() },
      compose: async () => ({ title: '', text: '' }),
    }).close();
    const { pending, givenUp } = await ledger.notices.countMessages();
    return { pending, givenUp };
  };
  await ledger.notices.raise([{ event: 'resource-low', subject: 'disk', facts: {}, raisedAt: now }]);
  for (const name of ['old', 'new']) expect(await live(name)).toEqual({ pending: 1, givenUp: 0 });
  now += giveUpAfterMs + 1;
  expect(await live('new')).toEqual({ pending: 0, givenUp: 1 });
});
