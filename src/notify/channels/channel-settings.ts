import * as z from 'zod';
import { isLoopback } from '../../base/addresses.js';
import {
  confidentiality,
  expected,
  group,
  groupByKind,
  headerText,
  isAccepted,
  oneOf,
  textLike,
  textThat,
  timeOfDay,
  webAddress,
} from '../../base/setting-values.js';
import { type NoticeEvent, nightEvents, noticeEventNames, severities } from '../../rules/notice.js';
import { readKeys, shortestKey } from '../../transports/http/webhook-signature.js';
import type { ChannelRules } from '../routing.js';

const kind = <const Kind extends string>(name: Kind, description: string) =>
  z.literal(name, expected(name)).describe(description);

/** Which messages a channel gets, and when. The same for every kind. */
const routing = {
  name: textLike(/^[\w.-]{1,40}$/, 'a name of letters, digits, dots, - and _')
    .exactOptional()
    .describe(
      'Its name in `notify test` and in messages; by default its kind. Each channel needs a name of its own.',
    ),
  on: z
    .array(
      z.enum(
        ['night', ...noticeEventNames] as const,
        expected('night, or the name of an event such as day-late'),
      ),
      expected('a list of events'),
    )
    .min(1, expected('at least one event'))
    .exactOptional()
    .describe(
      'The events that it gets; by default all of them, but `morning-digest` only by e-mail, and `mappings-synced` only by webhook. `night` stands for those that say ' +
        `whether the nights go well: ${nightEvents.map((event) => `\`${event}\``).join(', ')}.`,
    ),
  minimum: oneOf(...severities)
    .default('info')
    .describe('The lowest severity that it gets.'),
  at: timeOfDay('08:00')
    .default('08:00')
    .describe('When it gets the morning digest, in the configured time zone.'),
};

const receivedAt = (example: string) =>
  webAddress(example)
    .describe('The address of the webhook. Anybody who knows it can post there, so treat it like a password.')
    .register(confidentiality, { level: 'secret' });

const mailbox = textLike(
  /^(?:[^<>@,;:"\p{Cc}]+ <[^\s<>@,;:"\p{Cc}]+@[^\s<>@,;:"\p{Cc}]+>|[^\s<>@,;:"\p{Cc}]+@[^\s<>@,;:"\p{Cc}]+)$/u,
  'an address such as name@example.com or "Hotel review <name@example.com>"',
);

const email = group({
  kind: kind('email', 'E-mail by SMTP.'),
  ...routing,
  smtp: textThat(
    (url) => readSmtpAddress(url) !== undefined,
    'an address such as smtps://USER:PASSWORD@smtp.example.com (percent-encode special characters)',
  )
    .describe(
      'The mail server: `smtps://` with TLS from the start (port 465), `smtp://` with STARTTLS (port 587). The certificate is verified. E-mails never name guests.',
    )
    .register(confidentiality, { level: 'private' }),
  from: mailbox.describe('The sender.'),
  to: z
    .array(mailbox, expected('a list of addresses'))
    .min(1, expected('a list of addresses'))
    .describe('The recipients, as a list.'),
  plaintext: oneOf('allowed')
    .exactOptional()
    .describe('Sends without TLS where `smtp://` leads to another machine, on a network that you trust.'),
});

const slack = group({
  kind: kind('slack', 'An incoming webhook of Slack, or of a compatible program (Mattermost, Rocket.Chat).'),
  ...routing,
  url: receivedAt('https://hooks.slack.com/services/…'),
});

const teams = group({
  kind: kind('teams', 'A workflow of Microsoft Teams that begins with a webhook.'),
  ...routing,
  url: receivedAt('https://….api.powerplatform.com/…'),
});

const webhook = group({
  kind: kind('webhook', 'Any program of yours: JSON, signed according to Standard Webhooks.'),
  ...routing,
  url: webAddress('https://example.com/notifications')
    .describe('The address that is called.')
    .register(confidentiality, { level: 'private' }),
  secret: textThat(
    (secret) => isAccepted(() => readKeys(secret)),
    `at least ${shortestKey} random bytes, such as the output of: echo "whsec_$(openssl rand -base64 32)" (after whsec_, base64)`,
  )
    .describe('The secret that signs the calls.')
    .register(confidentiality, { level: 'secret' }),
});

const pagerduty = group({
  kind: kind('pagerduty', 'PagerDuty, by its Events API v2.'),
  ...routing,
  routingKey: headerText()
    .describe("The integration key of the service's Events API v2 integration.")
    .register(confidentiality, { level: 'secret' }),
  url: webAddress('https://events.eu.pagerduty.com/v2/enqueue')
    .register(confidentiality, { level: 'private' })
    .default('https://events.pagerduty.com/v2/enqueue')
    .describe('The address of the Events API; in the EU `https://events.eu.pagerduty.com/v2/enqueue`.'),
});

/** The channels by which people are notified. */
export const notify = z
  .array(
    groupByKind([email, slack, teams, webhook, pagerduty], 'a group with kind'),
    expected('a list of channels, each with kind'),
  )
  .superRefine((channels, { addIssue }) => {
    const names = channels.map(nameOf);
    for (const [index, name] of names.entries()) {
      if (names.indexOf(name) === index) continue;
      addIssue({
        code: 'custom',
        path: [index, 'name'],
        message: `must differ from the names of other channels; another one is called ${name}, too`,
      });
    }
  });

type WrittenChannel = z.output<typeof notify>[number];

function nameOf({ name, kind }: WrittenChannel): string {
  return name ?? kind;
}

type Resolved<Written> = Written extends unknown ? Omit<Written, keyof ChannelRules> & ChannelRules : never;

/** The settings of a channel as the parts use them. */
export type ChannelSettings = Resolved<WrittenChannel>;
export type SettingsOf<Kind extends ChannelSettings['kind']> = Extract<ChannelSettings, { kind: Kind }>;

export function resolveChannels(channels: readonly WrittenChannel[]): readonly ChannelSettings[] {
  return channels.map(
    (channel): ChannelSettings => ({
      ...channel,
      name: nameOf(channel),
      on:
        channel.on?.flatMap((name) => (name === 'night' ? nightEvents : name)).filter(isFirst) ??
        noticeEventNames.filter((event) => (onlyBy[event] ?? channel.kind) === channel.kind),
    }),
  );
}

/** What other kinds of channels get only if they ask for it: no problem, and it may come every day. */
const onlyBy: Readonly<Partial<Record<NoticeEvent, WrittenChannel['kind']>>> = {
  'morning-digest': 'email',
  'mappings-synced': 'webhook',
};

const isFirst = <One>(one: One, index: number, all: readonly One[]) => all.indexOf(one) === index;

/** A mail server, as `smtp://USER:PASSWORD@HOST:PORT` or `smtps://…` names it; undefined for anything else. */
export function readSmtpAddress(text: string) {
  const form = /^(smtps?):\/\/[^/?#]+\/?$/i.exec(text);
  if (form === null || !URL.canParse(text)) return undefined;
  const { hostname, port, username, password } = new URL(text);
  const login = readLogin(username, password);
  if (hostname === '' || login === undefined) return undefined;
  const isImplicitTls = form[1]?.toLowerCase() === 'smtps';
  const host = hostname.toLowerCase();
  return {
    host: host.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? (isImplicitTls ? 465 : 587) : Number(port),
    /** Whether TLS begins with the connection. */
    isImplicitTls,
    isThisMachine: isLoopback(host),
    ...(login.user !== '' && { login }),
  };
}

/** Undefined for a password without a user, and for a stray %. */
function readLogin(username: string, password: string) {
  try {
    const login = { user: decodeURIComponent(username), password: decodeURIComponent(password) };
    return login.user === '' && login.password !== '' ? undefined : login;
  } catch {
    return undefined;
  }
}
