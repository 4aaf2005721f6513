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
  it('takes the channels of the design, and completes them', () => {
    expect(parse().notify).toEqual([]);
    const chosen = { on: ['run-failed', 'day-late', 'day-recovered', 'affected-found'] };
    const digest = { on: ['morning-digest'], at: '07:30' };
    const ops = { ...slack, name: 'ops', minimum: 'warning' };
    const { notify } = parse({
      notify: [{ ...webhook, ...chosen }, { ...email, ...digest }, ops, teams, pagerduty],
    });
    const on = noticeEventNames.filter((event) => !['morning-digest', 'mappings-synced'].includes(event));
    const usual = { on, minimum: 'info', at: '08:00' };
    expect(notify).toEqual([
      { ...usual, ...webhook, ...chosen, name: 'webhook' },
      { ...usual, ...email, ...digest, name: 'email' },
      { ...usual, ...ops },
      { ...usual, ...teams, name: 'teams' },
      { ...usual, ...pagerduty, name: 'pagerduty', url: 'https://events.pagerduty.com/v2/enqueue' },
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
    const added = nightEvents.filter((event) => event !== 'day-late');
    expect(channel?.on).toEqual(['affected-found', 'day-late', ...added]);
  });

  it('allows plain http to this machine', () => {
    const urls = ['http://localhost:8065/hooks/1', 'http://127.0.0.1/1', 'http://[::1]:9/1'];
    expect(urls.flatMap((url) => complain({ notify: [{ ...slack, url }] }))).toEqual([]);
    for (const publicUrl of ['http://localhost:8080', 'https://review.example.com:8443/'])
      expect(complain({ server: { publicUrl } })).toEqual([]);
  });

  it('knows which of its secrets are in the file itself', () => {
    const env = { URL: slack.url, SECRET: webhook.secret, KEY: 'hidden', SMTP: 'hidden' };
    const literalIn = (notify: readonly object[]) =>
      parse({ notify }, env).literalSecrets.filter((setting) => setting.startsWith('notify'));
    expect(
      literalIn([
        { ...slack, url: `\${URL}` },
        { ...webhook, url: 'https://example.com/', secret: `\${SECRET}` },
        { ...pagerduty, routingKey: `\${KEY}`, url: 'https://events.eu.pagerduty.com/v2/enqueue' },
        { ...email, smtp: `smtps://night:\${SMTP}@smtp.example.com` },
      ]),
    ).toEqual([]);
    expect(literalIn([slack, teams, webhook, pagerduty, email])).toEqual([
      ...['notify[0].url', 'notify[1].url', 'notify[2].url', 'notify[2].secret'],
      ...['notify[3].routingKey', 'notify[4].smtp'],
    ]);
  });
});
