import PostalMime from 'postal-mime';
import { expect, onTestFinished } from 'vitest';
import { secrets, type Texts, variable } from './canary-night.js';
import { type StandIn, startStandIn } from './http-stand-in.js';
import { startSmtpServer } from './smtp-server.js';

export interface CanaryReceivers {
  /** A channel of each kind. */
  readonly notify: readonly object[];
  /**
   * What each receiver got, without the secret that is meant for it.
   *
   * @param run sends what is left: on a busy machine one process may not send everything before it ends
   * @throws when one of them got nothing
   */
  read(run: () => Promise<unknown>): Promise<Texts>;
}

const mostRuns = 10;

/** Receivers of all kinds, which first refuse what they get and quote it. */
export async function startReceivers(): Promise<CanaryReceivers> {
  const [slack, teams, webhook, pagerduty] = await Promise.all([start(), start(), start(), start()]);
  const mail = await startSmtpServer({ login: { user: 'night', password: secrets.smtpPassword } });
  const address = ({ port }: StandIn) => `http://127.0.0.1:${port}`;
  return {
    notify: [
      { kind: 'slack', url: `${address(slack)}/services/${variable('SLACK_TOKEN')}` },
      { kind: 'teams', url: `${address(teams)}/workflows?sig=${variable('TEAMS_TOKEN')}` },
      { kind: 'webhook', url: address(webhook), secret: variable('NOTIFY_SECRET') },
      { kind: 'pagerduty', url: address(pagerduty), routingKey: variable('PAGERDUTY_KEY') },
      {
        kind: 'email',
        smtp: `smtp://night:${variable('SMTP_PASSWORD')}@127.0.0.1:${mail.port}`,
        from: 'night@agency.example',
        to: ['ops@agency.example'],
      },
    ],
    async read(run) {
      const texts: Texts = new Map();
      const hasAll = () =>
        [slack, teams, webhook, pagerduty].every(({ requests }) => requests.length > 1) &&
        mail.emails.some(({ raw }) => raw.includes('filename=report-'));
      for (let runs = 0; runs < mostRuns && !hasAll(); runs += 1) await run();
      for (const [name, { requests }] of Object.entries({ slack, teams, webhook, pagerduty })) {
        expect(requests.length, name).toBeGreaterThan(1);
        for (const [index, { rawHeaders, body }] of requests.entries())
          texts.set(
            `what ${name} got, ${index}`,
            `${rawHeaders.join('\n')}\n${body}`.replaceAll(
              secrets.pagerdutyKey,
              name === 'pagerduty' ? '' : '$&',
            ),
          );
      }
      const emails = await Promise.all(mail.emails.map(({ raw }) => PostalMime.parse(raw)));
      const files = emails.flatMap(({ attachments }) => attachments.map(({ content }) => toText(content)));
      expect(files.join()).toContain('<html');
      for (const [index, { raw }] of mail.emails.entries())
        texts.set(`e-mail ${index}`, raw.replaceAll('=\r\n', ''));
      for (const [index, file] of files.entries()) texts.set(`attachment ${index}`, file);
      return texts;
    },
  };
}

async function start(): Promise<StandIn> {
  const server = await startStandIn(async ({ url, rawHeaders, readBody }, number) =>
    number === 1
      ? { kind: 'text', status: 503, body: `${url} ${rawHeaders.join(' ')} ${await readBody()}` }
      : { kind: 'text', status: 202, body: 'ok' },
  );
  onTestFinished(() => server.close());
  return server;
}

function toText(content: ArrayBuffer | Uint8Array | string): string {
  return typeof content === 'string' ? content : Buffer.from(content as ArrayBuffer).toString();
}
