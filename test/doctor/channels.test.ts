import { expect, it } from 'vitest';
import { checkChannels, checkMessages } from '../../src/doctor/channels.js';
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
    'ok: ops (slack): 18 kinds of events, from warning',
    'ok: pagerduty (pagerduty): 2 kinds of events',
    'ok: email (email): all events',
  ]);
});

it('doctor warns of e-mails that cross the network in plain text', () => {
  expect(look({ ...email, plaintext: 'allowed' })).toContain(
    'warning: email sends to mail.example.com without TLS: the password and its e-mails cross the network in plain text',
  );
  for (const smtp of ['smtps://mail.example.com', 'smtp://localhost'])
    expect(look({ ...email, smtp, plaintext: 'allowed' })).toHaveLength(1);
});

it('doctor warns of messages that wait for long or were given up', () => {
  const messages = (counts: Parameters<typeof checkMessages>[0]) =>
    checkMessages(counts, 10_000_000).map(({ message }) => message);
  expect(messages({ pending: 1, pendingSince: 9_000_000, givenUp: 0 })).toEqual([]);
  expect(messages({ pending: 2, pendingSince: 2_800_000, givenUp: 1 })).toEqual([
    '2 messages not sent yet, the oldest for 2 h',
    '1 message could not be sent for three days and was given up',
  ]);
});
