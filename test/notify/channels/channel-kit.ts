import { inspect } from 'node:util';
import { onTestFinished } from 'vitest';
import type { Channel, ChannelError, ChannelParts, Message } from '../../../src/notify/channel.js';
import type { ChannelSettings } from '../../../src/notify/channels/channel-settings.js';
import { openChannel } from '../../../src/notify/channels/open-channel.js';
import { parse } from '../../config/writing.js';

export const now = Date.UTC(2026, 10, 23, 5, 0, 0);

export const path = '/services/T0/hidden-path?sig=hidden-sig';
export const secret = 'hidden-secret-0123456789-abcdefghij';

/** Each kind of channel that posts to an address; everything that must not be shown begins with "hidden". */
export const webKinds: readonly [string, (origin: string) => object][] = [
  ['slack', (origin) => ({ kind: 'slack', url: `${origin}${path}` })],
  ['teams', (origin) => ({ kind: 'teams', url: `${origin}${path}` })],
  ['webhook', (origin) => ({ kind: 'webhook', url: `${origin}${path}`, secret })],
  ['pagerduty', (origin) => ({ kind: 'pagerduty', url: `${origin}${path}`, routingKey: 'hidden-key' })],
];

/** The login of a mail server, also as it is written into an address. */
export const login = { user: 'night@agency.example', password: 'hidden pa55/w0rd' };
export const encodedLogin = `${encodeURIComponent(login.user)}:${encodeURIComponent(login.password)}@`;

/** The settings of an e-mail channel, without its server. */
export const email = {
  kind: 'email',
  from: 'Hotel review <night@agency.example>',
  to: ['ops@agency.example'],
};

/** A message about a late day. */
export const messageWith = (changes: Partial<Message> = {}): Message => ({
  id: 'msg_day-late-2026-11-20-1',
  event: 'day-late',
  stage: 'raised',
  severity: 'critical',
  incident: 'day-2026-11-20',
  day: '2026-11-20',
  runId: '20261121-abcdefgh',
  title: '2026-11-20 is late: day 3 without review, 41 check-ins today',
  text: 'The source has no file for it.\nWhat to do: run 2026-11-20',
  url: 'https://review.example.com/days/2026-11-20',
  counts: { accepted: 0, affected: null },
  raisedAt: Date.UTC(2026, 10, 23, 4, 30),
  ...changes,
});

/** The settings of a channel as a configuration would give them. */
export function settingsOf(written: object): ChannelSettings {
  const [settings] = parse({ notify: [written] }).notify;
  if (settings === undefined) throw new Error('expected a channel');
  return settings;
}

/** Opens a channel until the test ends. */
export async function open(written: object, changes: Partial<ChannelParts> = {}): Promise<Channel> {
  const parts = { proxy: {}, clock: () => now, warn: () => {}, ...changes };
  const channel = await openChannel(settingsOf(written), parts);
  onTestFinished(() => channel.close());
  return channel;
}

export const send = (channel: Channel, message = messageWith(), signal = new AbortController().signal) =>
  channel.send(message, signal);

/** Why a message was not accepted, and everything that a log could show of it. */
export async function refusalOf(sending: Promise<void>): Promise<ChannelError & { readonly shown: string }> {
  const error = await sending.then(
    () => {
      throw new Error('the message was accepted');
    },
    (reason: unknown) => reason as ChannelError,
  );
  return Object.assign(error, { shown: `${inspect(error, { depth: 9 })} ${JSON.stringify(error)}` });
}

/** How a channel gives up on a receiver that has the message: on a busy machine, a short time may be over before it has. */
export async function giveUpOn(written: object) {
  for (const timeoutMs of [200, 2_000, 20_000]) {
    const refusal = await refusalOf(send(await open(written, { timeoutMs })));
    if (refusal.mayHaveArrived) return refusal;
  }
  throw new Error('expected that the message may have arrived');
}
