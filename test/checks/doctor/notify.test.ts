import { expect, it } from 'vitest';
import { messages } from '../../../src/checks/doctor/notify.js';
import type { ReadOnlyLedger } from '../../../src/ledger/ledger.js';
import type { MessageCounts, WaitingMessages } from '../../../src/ledger/notices.js';
import { look, makeApp } from './checked.js';

const hour = 3_600_000;

/** What doctor says with a channel `ops`. */
async function say(counts: Omit<MessageCounts, 'pending'>, waiting: readonly WaitingMessages[]) {
  const clock = () => 10 * hour;
  const notices = {
    countMessages: async () => ({ pending: 3, ...counts }),
    listWaiting: async (dueBy: number) => (dueBy === 9 * hour ? waiting : []),
  };
  const findLedger = async () => ({ notices }) as unknown as ReadOnlyLedger;
  const notify = [{ kind: 'slack', name: 'ops', url: 'https://hooks.example.com/hidden' }];
  const found = await look(messages, makeApp({ notify }, { clock, findLedger }));
  return found.map(({ message, advice }) => `${message}. ${advice}`);
}

it('doctor lists the channels, and warns of messages that nobody accepts or sends, and of those given up', async () => {
  expect(await say({ givenUp: 0, perhapsReceived: 0 }, [])).toEqual(['channels: ops. undefined']);
  const waiting = [
    { channel: 'old', messages: 2, since: 8 * hour },
    { channel: 'ops', messages: 1, since: 10 * hour - 60_000, lastCode: 'http-503' },
  ];
  expect(await say({ givenUp: 1, perhapsReceived: 2 }, waiting)).toEqual([
    'channels: ops. undefined',
    '2 messages for old not confirmed yet, the oldest for 2 h. notify has no channel of that name any more: they are given up after three days.',
    '1 message for ops not confirmed yet, the oldest for 1 min; the last try: http-503. Try the channel with notify test. The next run, or serve, sends what is pending.',
    '1 message given up after three days, 2 messages perhaps received. Ask people whether they were told, and try the channels with notify test.',
  ]);
});
