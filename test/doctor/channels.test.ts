import { expect, it } from 'vitest';
import { checkChannels, checkMessages } from '../../src/checks/doctor/channels.js';
import type { WaitingMessages } from '../../src/ledger/notices.js';
import { noticeEventNames } from '../../src/rules/notice.js';
import { parse } from '../config/writing.js';

const email = {
  kind: 'email',
  smtp: 'smtp://night:hidden@mail.example.com',
  from: 'a@example.com',
  to: ['b@example.com'],
};
const look = (...notify: readonly object[]) =>
  checkChannels(parse({ notify }).notify).map(({ verdict, message }) => `${verdict}: ${message}`);

it('doctor warns that nobody is told without a channel', () => {
  expect(look()).toEqual(['warning: Nobody is told: no channel is configured.']);
});

it('doctor lists the channels, and nothing that is secret', () => {
  const lines = look(
    {
      kind: 'slack',
      name: 'ops',
      url: 'https://hooks.example.com/hidden',
      minimum: 'warning',
    },
    { kind: 'pagerduty', routingKey: 'hidden', on: ['day-late', 'run-failed'] },
    email,
  );
  expect(lines).toEqual([
    `ok: ops (slack): ${noticeEventNames.length - 2} kinds of events, from warning`,
    'ok: pagerduty (pagerduty): 2 kinds of events',
    `ok: email (email): ${noticeEventNames.length - 1} kinds of events`,
  ]);
});

it('doctor warns of e-mails that cross the network in plain text', () => {
  expect(look({ ...email, plaintext: 'allowed' })).toContain(
    'warning: email sends to mail.example.com without TLS: the password and its e-mails cross the network in plain text',
  );
  for (const smtp of ['smtps://mail.example.com', 'smtp://localhost'])
    expect(look({ ...email, smtp, plaintext: 'allowed' })).toHaveLength(1);
});

it('doctor warns of messages that a receiver did not accept or nobody sends, and of those given up', async () => {
  const hour = 3_600_000;
  const now = 10 * hour;
  const messages = async (waiting: readonly WaitingMessages[], givenUp = 0) => {
    const notices = {
      countMessages: async () => ({ pending: 3, givenUp, perhapsReceived: givenUp }),
      listWaiting: async (dueBy: number) => (dueBy === now - hour ? [...waiting] : []),
    };
    const found = await checkMessages(notices, [{ name: 'ops' }], now);
    return found.map(({ message, advice }) => `${message}. ${advice}`);
  };
  expect(await messages([])).toEqual([]);
  const waiting = [
    { channel: 'old', messages: 2, since: now - 2 * hour },
    { channel: 'ops', messages: 1, since: now - 60_000, lastCode: 'http-503' },
  ];
  expect(await messages(waiting, 1)).toEqual([
    '2 messages for old not confirmed yet, the oldest for 2 h. notify has no channel of that name any more: they are given up after three days.',
    '1 message for ops not confirmed yet, the oldest for 1 min; the last try: http-503. Try the channel with notify test. The next run, or serve, sends what is pending.',
    expect.stringContaining('1 message could not be sent for three days and was given up'),
    '1 message perhaps received: the receiver did not confirm it, and it is not sent again. Ask people whether they were told, and try the channels with notify test.',
  ]);
});
