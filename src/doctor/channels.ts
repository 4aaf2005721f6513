import type { ChannelSettings, SettingsOf } from '../channels/channel-settings.js';
import { readSmtpAddress } from '../channels/smtp-address.js';
import { type Finding, findingsOf } from '../examination/finding.js';
import type { MessageCounts } from '../ledger/messages.js';
import { nobodyIsTold, noticeEventNames } from '../ledger/notice.js';
import { formatCountOf, formatDuration } from '../text/format.js';

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

/** Longer than a receiver's restart. */
const longWaitMs = 3_600_000;

/** Reports messages that have waited too long, and those that were given up. */
export function checkMessages(
  { pending, pendingSince, givenUp }: MessageCounts,
  now: number,
): readonly Finding[] {
  const waitMs = pendingSince === undefined ? 0 : now - pendingSince;
  return [
    ...(waitMs > longWaitMs
      ? [
          warning(
            `${formatCountOf(pending, 'message')} not sent yet, the oldest for ${formatDuration(waitMs)}`,
            'Try the channels with notify test. The next run, or serve, sends what is pending.',
          ),
        ]
      : []),
    ...(givenUp > 0
      ? [
          warning(
            `${formatCountOf(givenUp, 'message')} could not be sent for three days and ${givenUp === 1 ? 'was' : 'were'} given up`,
            'Use status to see what is still wrong, and try the channels with notify test.',
          ),
        ]
      : []),
  ];
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
