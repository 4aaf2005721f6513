import { describe, expect, it } from 'vitest';
import type { ClaimedMessage } from '../../src/ledger/notices.js';
import { type Channel, ChannelError, type Message } from '../../src/notify/channel.js';
import { createSender } from '../../src/notify/send-messages.js';
import type { Notice } from '../../src/rules/notice.js';
import { fakeLedger } from '../support/fake-ledger.js';
import { createGate } from '../support/gate.js';

const now = Date.UTC(2026, 10, 20, 12);
const noticeOf = (changes: Partial<Notice> = {}): Notice => ({
  event: 'run-failed',
  subject: '2026-11-20',
  day: '2026-11-20',
  runId: 'r1',
  stage: 'raised',
  severity: 'critical',
  facts: { pending: 3, code: 'binary', unanswered: null },
  raisedAt: now,
  ...changes,
});

const claim = (id: string, changes: Partial<Notice> = {}): ClaimedMessage => ({
  ...{ id, attempt: 1, unconfirmed: 0 },
  notice: noticeOf(changes),
});

/** A store that hands out these messages once, and what the sender says of them. */
function storeOf(...claimed: ClaimedMessage[]) {
  const said: unknown[] = [];
  let left = claimed;
  const { notices: store } = fakeLedger({
    notices: {
      async claim() {
        const all = left;
        left = [];
        return all;
      },
      async noteSending(ids, { sentAs, leaseUntil }) {
        said.push(['sending', sentAs, leaseUntil - now, ...ids]);
      },
      async release(ids) {
        said.push(['released', ...ids]);
      },
      async noteSent(ids) {
        said.push(['sent', ...ids]);
      },
      async noteFailed(ids, { code, retryAt, hasNotArrived = false }) {
        const next = retryAt === undefined ? 'given up' : retryAt - now;
        said.push([code, next, ...(hasNotArrived ? ['not arrived'] : []), ...ids]);
      },
    },
  });
  return { store, said };
}

function senderOf(
  store: ReturnType<typeof storeOf>['store'],
  send: (message: Message) => Promise<void>,
  { composeMs = 0 } = {},
) {
  let passedMs = 0;
  const channel: Channel = { name: 'ops', send, close: async () => {} };
  const events: unknown[] = [];
  const sender = createSender({
    store,
    channels: [channel],
    async compose(notices) {
      passedMs += composeMs;
      return { title: `${notices.length} notices`, text: '' };
    },
    clock: () => now + passedMs,
    random: () => 1,
    notify: (event) => events.push(event),
  });
  return { sender, events };
}

const { signal } = new AbortController();

describe('the sender', () => {
  it('sends a message with its numbers, and records it', async () => {
    const { store, said } = storeOf(claim('m1'));
    const received: Message[] = [];
    // Other processes must not take a message that takes long to write.
    const { sender } = senderOf(store, async (message) => void received.push(message), { composeMs: 25_000 });
    await sender.sendDue(signal);
    expect(received).toEqual([
      {
        id: 'm1',
        event: 'run-failed',
        stage: 'raised',
        severity: 'critical',
        incident: 'day 2026-11-20',
        day: '2026-11-20',
        runId: 'r1',
        title: '1 notices',
        text: '',
        counts: { pending: 3, unanswered: null },
        raisedAt: now,
      },
    ]);
    expect(said).toEqual([
      ['sending', 'm1', 205_000, 'm1'],
      ['sent', 'm1'],
    ]);
  });

  it('records what other channels sent before it reports that the ledger is unavailable', async () => {
    const { store, said } = storeOf(claim('m1'));
    const away = { ...store, claim: () => Promise.reject(new Error('away')) };
    const gate = createGate();
    const channelOf = (name: string): Channel => ({ name, send: () => gate.passed, close: async () => {} });
    const sender = createSender({
      store: { ...store, claim: (asked) => (asked.channel === 'ops' ? store.claim(asked) : away.claim()) },
      channels: [channelOf('other'), channelOf('ops')],
      compose: async () => ({ title: 'a notice', text: '' }),
      clock: () => now,
      random: () => 1,
      notify: () => {},
    });
    const ended = sender.sendDue(signal);
    setImmediate(gate.open);
    await expect(ended).rejects.toThrow('away');
    expect(said.at(-1)).toEqual(['sent', 'm1']);
  });

  it('leaves the other messages for later once the receiver is unavailable', async () => {
    const { store, said } = storeOf(claim('m1'), claim('m2', { subject: '2026-11-21' }));
    const { sender, events } = senderOf(store, () =>
      Promise.reject(new ChannelError('not accepted', 'http-503', { retryAfterMs: 60_000 })),
    );
    await sender.sendDue(signal);
    expect(said).toEqual([
      ['sending', 'm1', 180_000, 'm1'],
      ['http-503', 60_000, 'not arrived', 'm1'],
      ['released', 'm2'],
    ]);
    expect(events).toEqual([{ type: 'message-not-sent', channel: 'ops', code: 'http-503' }]);
  });

  it.each([
    ['its process is to stop', true, 0],
    ['its lease would end before another try', false, 60_000],
  ])('gives back what it has not tried once %s', async (_, isStopping, composeMs) => {
    const { store, said } = storeOf(claim('m1'), claim('m2'));
    const stopping = new AbortController();
    const send = async () => (isStopping ? stopping.abort() : undefined);
    await senderOf(store, send, { composeMs }).sender.sendDue(stopping.signal);
    expect(said.slice(1)).toEqual([
      ['sent', 'm1'],
      ['released', 'm2'],
    ]);
  });

  it('sends ten of a kind as one message, and with another id once there are more', async () => {
    const claimed = Array.from({ length: 11 }, (_, index) =>
      claim(`m${index}`, {
        event: 'case-escalated',
        severity: 'warning',
        subject: `case ${index}`,
        facts: {},
      }),
    );
    const received: Message[] = [];
    const told: unknown[] = [];
    for (const count of [10, 10, 11]) {
      const { store, said } = storeOf(...claimed.slice(0, count));
      await senderOf(store, async (message) => void received.push(message)).sender.sendDue(signal);
      told.push(...said);
    }
    expect(received.map(({ title, day, counts }) => [title, day, counts])).toEqual([
      ['10 notices', undefined, { notices: 10 }],
      ['10 notices', undefined, { notices: 10 }],
      ['11 notices', undefined, { notices: 11 }],
    ]);
    const [first, again, more] = received.map(({ id }) => id);
    expect(again).toBe(first);
    expect(more).not.toBe(first);
    expect(claimed.map(({ id }) => id)).not.toContain(first);
    expect(told.at(-1)).toEqual(['sent', ...claimed.map(({ id }) => id)]);
  });

  it('gives up only those of many notices in one message that have waited for days', async () => {
    const claimed = Array.from({ length: 10 }, (_, index) =>
      claim(`m${index}`, { severity: 'warning', raisedAt: now - (index < 8 ? 3 * 86_400_000 : 1) }),
    );
    const { store, said } = storeOf(...claimed);
    await senderOf(store, () => Promise.reject(new ChannelError('no', 'http-404'))).sender.sendDue(signal);
    const old = claimed.slice(0, 8).map(({ id }) => id);
    expect(said.slice(1)).toEqual([
      ['http-404', 'given up', 'not arrived', ...old],
      ['http-404', 15_000, 'not arrived', 'm8', 'm9'],
    ]);
  });

  it('takes a message that was cut off for one that may have arrived', async () => {
    const { store, said } = storeOf(claim('m1'));
    const stopping = new AbortController();
    const { sender, events } = senderOf(store, async () => {
      stopping.abort();
      stopping.signal.throwIfAborted();
    });
    await sender.sendDue(stopping.signal);
    expect(said.at(-1)).toEqual(['timeout', 900_000, 'm1']);
    expect(events).toEqual([{ type: 'message-not-sent', channel: 'ops', code: 'timeout' }]);
  });

  it('sends a message again later, under the same id, if its receiver may have it', async () => {
    const notice = noticeOf({ event: 'case-escalated', severity: 'warning' });
    const claimed = ['m1', 'm2'].map((id) => ({ id, attempt: 2, unconfirmed: 1, sentAs: 'digest', notice }));
    const { store, said } = storeOf(...claimed);
    const ids: string[] = [];
    await senderOf(store, async ({ id }) => {
      ids.push(id);
      throw new ChannelError('no answer', 'timeout', { mayHaveArrived: true });
    }).sender.sendDue(signal);
    expect(ids).toEqual(['digest']);
    expect(said.at(-1)).toEqual(['timeout', 900_000, 'm1', 'm2']);
  });

  it('does not send a message a fourth time that may have arrived three times, even if its process died each time', async () => {
    const { store, said } = storeOf({ ...claim('m1'), unconfirmed: 3, sentAs: 'm1' });
    await senderOf(store, () => Promise.reject(new Error('sent'))).sender.sendDue(signal);
    expect(said).toEqual([['interrupted', 'given up', 'm1']]);
  });

  it('waits for a channel that is still sending, and keeps no other from it', async () => {
    const { store } = storeOf(claim('m1'));
    let sends = 0;
    const gate = createGate();
    const { sender } = senderOf(store, () => {
      sends += 1;
      return gate.passed;
    });
    const both = Promise.all([sender.sendDue(signal), sender.sendDue(signal)]);
    gate.open();
    await both;
    expect(sends).toBe(1);
  });
});
