// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how a configuration names environment variables
import { describe, expect, it } from 'vitest';
import { nightEvents, noticeEventNames } from '../../src/rules/notice.js';
import { complain, parse } from './writing.js';

const webhook = {
  kind: 'webhook',
  url: 'https://example.com/notifications?token=hidden',
  secret: 'hidden-0123456789-abcdefghijklmnop',
};
const email = {
  kind: 'email',
  smtp: 'smtps://night:hidden@smtp.example.com',
  from: 'night@example.com',
  to: ['ops@example.com'],
};
const slack = { kind: 'slack', url: 'https://hooks.slack.com/services/T0/hidden' };
const teams = { kind: 'teams', url: 'https://prod.example.com/workflows/1?sig=hidden' };
const pagerduty = { kind: 'pagerduty', routingKey: 'hidden' };

describe('notify', () => {
  it('is empty by default', () => {
    expect(parse().notify).toEqual([]);
  });

  it('takes the channels of the design, and completes them', () => {
    const { notify } = parse({
      notify: [
        { ...webhook, on: ['run-failed', 'day-late', 'day-recovered', 'affected-found'] },
        { ...email, on: ['morning-digest'], at: '07:30' },
        { ...slack, name: 'ops', minimum: 'warning' },
        teams,
        pagerduty,
      ],
    });
    const other = noticeEventNames.filter((event) => !['morning-digest', 'mappings-synced'].includes(event));
    expect(notify).toEqual([
      {
        ...webhook,
        name: 'webhook',
        on: ['run-failed', 'day-late', 'day-recovered', 'affected-found'],
        minimum: 'info',
        at: '08:00',
      },
      {
        ...email,
        name: 'email',
        on: ['morning-digest'],
        minimum: 'info',
        at: '07:30',
      },
      {
        ...slack,
        name: 'ops',
        on: other,
        minimum: 'warning',
        at: '08:00',
      },
      { ...teams, name: 'teams', on: other, minimum: 'info', at: '08:00' },
      {
        ...pagerduty,
        name: 'pagerduty',
        url: 'https://events.pagerduty.com/v2/enqueue',
        on: other,
        minimum: 'info',
        at: '08:00',
      },
    ]);
  });

  it('sends the morning digest by e-mail, and syncs with news by webhook, unless told otherwise', () => {
    const [byMail, byWebhook] = parse({ notify: [email, webhook] }).notify;
    const allBut = (one: string) => noticeEventNames.filter((event) => event !== one);
    expect(byMail?.on).toEqual(allBut('mappings-synced'));
    expect(byWebhook?.on).toEqual(allBut('morning-digest'));
  });

  it('takes night for the events that say whether the nights go well, among others', () => {
    const [channel] = parse({ notify: [{ ...slack, on: ['affected-found', 'day-late', 'night'] }] }).notify;
    expect(channel?.on).toEqual([
      ...['affected-found', 'day-late'],
      ...nightEvents.filter((event) => event !== 'day-late'),
    ]);
  });

  it('needs a name of its own for each channel', () => {
    expect(
      complain({
        notify: [slack, { ...slack, name: 'ops' }, { ...teams, name: 'slack' }, teams, { ...teams }],
      }),
    ).toEqual([
      'notify[2].name: must differ from the names of other channels; another one is called slack, too',
      'notify[4].name: must differ from the names of other channels; another one is called teams, too',
    ]);
  });

  it.each<[string, object, string]>([
    [
      'an unknown kind',
      { ...slack, kind: 'discord' },
      'notify[0].kind: expected email or slack or teams or webhook or pagerduty, got: discord',
    ],
    [
      'an unknown event',
      { ...slack, on: ['day-lost'] },
      'notify[0].on[0]: expected night, or the name of an event such as day-late, got: day-lost',
    ],
    ['no event', { ...slack, on: [] }, 'notify[0].on: expected at least one event, got: a list'],
    [
      'an unknown severity',
      { ...slack, minimum: 'bad' },
      'notify[0].minimum: expected info or warning or critical, got: bad',
    ],
    [
      'a time that is none',
      { ...slack, at: '24:00' },
      'notify[0].at: expected a time of day such as "08:00", got: 24:00',
    ],
    [
      'a name with spaces',
      { ...slack, name: 'the ops' },
      'notify[0].name: expected a name of letters, digits, dots, - and _, got: the ops',
    ],
    [
      'a misspelt name',
      { ...slack, minimun: 'info' },
      'notify[0].minimun: unknown setting; did you mean minimum?',
    ],
    [
      'a missing secret',
      { kind: 'webhook', url: webhook.url },
      'notify[0].secret: expected at least 24 random bytes, such as the output of: echo "whsec_$(openssl rand -base64 32)" (after whsec_, base64), got: nothing',
    ],
  ])('reports %s by its place', (_, channel, problem) => {
    expect(complain({ notify: [channel] })).toEqual([problem]);
  });

  it.each<[string, object, RegExp]>([
    [
      'a short secret',
      { ...webhook, secret: 'hidden' },
      /^notify\[0\]\.secret: expected at least 24 random bytes.*, got: a text$/,
    ],
    [
      'plain http',
      { ...slack, url: 'http://hooks.example.com/hidden' },
      /^notify\[0\]\.url: must begin with https:\/\/; plain http/,
    ],
    [
      'a login in an address',
      { ...webhook, url: 'https://me:hidden@example.com' },
      /^notify\[0\]\.url: must not hold a user name or a password$/,
    ],
    [
      'another scheme',
      { ...teams, url: 'ftp://example.com/hidden' },
      /^notify\[0\]\.url: expected an address such as .*, got: a text$/,
    ],
    [
      'no mail server',
      { ...email, smtp: 'imaps://night:hidden@example.com' },
      /^notify\[0\]\.smtp: expected an address such as .*, got: a text$/,
    ],
    [
      'a password that is not escaped',
      { ...email, smtp: 'smtp://night:hidden/1@example.com' },
      /^notify\[0\]\.smtp: expected an address/,
    ],
    [
      'a stray %',
      { ...email, smtp: 'smtp://night:hidden%zz@example.com' },
      /^notify\[0\]\.smtp: expected an address/,
    ],
    [
      'a password without a user',
      { ...email, smtp: 'smtp://:hidden@example.com' },
      /^notify\[0\]\.smtp: expected an address/,
    ],
    [
      'a key with a line break',
      { ...pagerduty, routingKey: 'hidden\n' },
      /^notify\[0\]\.routingKey: expected a text of ASCII characters/,
    ],
    [
      'two addresses in one text',
      { ...email, to: ['a@example.com, hidden@example.com'] },
      /^notify\[0\]\.to\[0\]: expected an address such as .*, got: a text$/,
    ],
    [
      'a header in an address',
      { ...email, from: 'a@example.com\nBcc: hidden@example.com' },
      /^notify\[0\]\.from: expected an address/,
    ],
  ])('refuses %s without quoting it', (_, channel, problem) => {
    const problems = complain({ notify: [channel] });
    expect(problems).toEqual([expect.stringMatching(problem)]);
    expect(problems.join('\n')).not.toContain('hidden');
  });

  it('allows plain http to this machine', () => {
    const urls = ['http://localhost:8065/hooks/1', 'http://127.0.0.1/1', 'http://[::1]:9/1'];
    expect(urls.flatMap((url) => complain({ notify: [{ ...slack, url }] }))).toEqual([]);
  });

  it('takes secrets from the environment, and knows which are in the file itself', () => {
    const env = { URL: slack.url, SECRET: webhook.secret, KEY: 'hidden', SMTP: 'hidden' };
    const ofNotify = (setting: string) => setting.startsWith('notify');
    const fromEnvironment = [
      { kind: 'slack', url: '${URL}' },
      { ...webhook, url: 'https://example.com/', secret: '${SECRET}' },
      { kind: 'pagerduty', routingKey: '${KEY}', url: 'https://events.eu.pagerduty.com/v2/enqueue' },
      { ...email, smtp: 'smtps://night:${SMTP}@smtp.example.com' },
    ];
    expect(parse({ notify: fromEnvironment }, env).literalSecrets.filter(ofNotify)).toEqual([]);
    expect(
      parse({ notify: [slack, teams, webhook, pagerduty, email] }).literalSecrets.filter(ofNotify),
    ).toEqual([
      'notify[0].url',
      'notify[1].url',
      'notify[2].url',
      'notify[2].secret',
      'notify[3].routingKey',
      'notify[4].smtp',
    ]);
  });
});

describe('server.publicUrl', () => {
  it('is an address without a path or a query, over https or on this machine', () => {
    const problems = (publicUrl: string) => complain({ server: { publicUrl } });
    expect(problems('https://review.example.com')).toEqual([]);
    expect(problems('https://review.example.com:8443/')).toEqual([]);
    expect(problems('http://localhost:8080')).toEqual([]);
    expect(problems('http://review.example.com')).toEqual([
      'server.publicUrl: must begin with https://; plain http:// is allowed for this machine only (localhost, 127.0.0.1, [::1])',
    ]);
    for (const rest of ['/reviews', '/reviews/', '//', '/?a=1', '?a=1', '/..'])
      expect(problems(`https://review.example.com${rest}`)).toEqual([
        'server.publicUrl: must not hold a path or a query: the pages are at the root of their host',
      ]);
    expect(problems('review.example.com')).toEqual([
      'server.publicUrl: expected an address such as https://review.example.com, got: a text',
    ]);
  });
});
