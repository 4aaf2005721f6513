import { formatCountOf, formatDuration } from '../../base/format.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { WaitingMessages } from '../../ledger/notices.js';
import type { ChannelSettings, SettingsOf } from '../../notify/channels/channel-settings.js';
import { readSmtpAddress } from '../../notify/channels/smtp-address.js';
import { nobodyIsTold, noticeEventNames } from '../../rules/notice.js';
import { type Finding, findingsOf } from '../examination/finding.js';

const { ok, warning } = findingsOf('notify');

/** Shows the channels and their risks. Sends nothing: `notify test` does. */
export function checkChannels(channels: readonly ChannelSettings[]): readonly Finding[] {
  if (channels.length === 0)
    return [
      warning(
        nobodyIsTold,
        'List in the setting notify who is told what happens, and what should have happened.',
      ),
    ];
  return channels.flatMap((channel) => [
    ok(`${channel.name} (${channel.kind}): ${describeRouting(channel)}`),
    ...(channel.kind === 'email' ? warnOfPlainText(channel) : []),
  ]);
}

/** A message that nobody tried to send waits for the next run, or `serve`. */
const longWaitMs = 3_600_000;

/** Reports messages that a receiver did not accept, that nobody sends, and those that were given up. */
export async function checkMessages(
  notices: Pick<ReadOnlyLedger['notices'], 'countMessages' | 'listWaiting'>,
  channels: readonly Pick<ChannelSettings, 'name'>[],
  now: number,
): Promise<readonly Finding[]> {
  const { givenUp, perhapsReceived } = await notices.countMessages();
  const waiting = await notices.listWaiting(now - longWaitMs);
  return [
    ...waiting.map((one) => describeWaiting(one, channels, now)),
    ...(givenUp > 0
      ? [
          warning(
            `${formatCountOf(givenUp, 'message')} could not be sent for three days and ${givenUp === 1 ? 'was' : 'were'} given up`,
            'Use status to see what is still wrong, and try the channels with notify test.',
          ),
        ]
      : []),
    ...(perhapsReceived > 0
      ? [
          warning(
            `${formatCountOf(perhapsReceived, 'message')} perhaps received: the receiver did not confirm ${perhapsReceived === 1 ? 'it, and it is' : 'them, and they are'} not sent again`,
            'Ask people whether they were told, and try the channels with notify test.',
          ),
        ]
      : []),
  ];
}

function describeWaiting(
  { channel, messages, since, lastCode }: WaitingMessages,
  channels: readonly Pick<ChannelSettings, 'name'>[],
  now: number,
): Finding {
  const last = lastCode === undefined ? '' : `; the last try: ${lastCode}`;
  const message = `${formatCountOf(messages, 'message')} for ${channel} not confirmed yet, the oldest for ${formatDuration(now - since)}${last}`;
  return channels.some(({ name }) => name === channel)
    ? warning(message, 'Try the channel with notify test. The next run, or serve, sends what is pending.')
    : warning(message, `notify has no channel of that name any more: they are given up after three days.`);
}

function describeRouting({ on, minimum }: ChannelSettings): string {
  const events = on.length === noticeEventNames.length ? 'all events' : `${on.length} kinds of events`;
  return minimum === 'info' ? events : `${events}, from ${minimum}`;
}

function warnOfPlainText({ name, smtp, plaintext }: SettingsOf<'email'>): readonly Finding[] {
  const address = readSmtpAddress(smtp);
  const isPlain = plaintext === 'allowed' && address?.isImplicitTls === false;
  if (address === undefined || !isPlain || address.isThisMachine) return [];
  return [
    warning(
      `${name} sends to ${address.host} without TLS: ${address.login ? 'the password and ' : ''}its e-mails cross the network in plain text`,
      'Remove plaintext if the server supports STARTTLS, or use smtps://.',
    ),
  ];
}
