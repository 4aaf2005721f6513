import { startStandIn, toHeaders } from '../support/http-stand-in.js';
import { openSmtpServer } from '../support/smtp-server.js';

/** What everybody outside was told. */
export interface Outside {
  /** The items of `notify`, one of each kind, and the address to which the service's calls go. */
  readonly notify: readonly object[];
  /** The setting of that name. */
  readonly heartbeat: object;
  readonly serviceUrl: string;
  /** Where the service's calls are passed on to. */
  forwardTo(baseUrl: string): void;
  /** `METHOD path`, then the body. */
  listRequests(): readonly string[];
  /** By channel. */
  listMessages(): ReadonlyMap<string, readonly string[]>;
  close(): Promise<void>;
}

const secret = `whsec_${Buffer.from('notify-secret-of-the-faces-12345').toString('base64')}`;

/** Stands before the sandbox and behind every channel. */
export async function startOutside(): Promise<Outside> {
  let sandbox = '';
  const service = await startStandIn(async ({ method, url, rawHeaders, readBody }) => {
    const { host: _, 'content-length': __, connection: ___, ...headers } = toHeaders(rawHeaders);
    const body = await readBody();
    const answer = await fetch(sandbox + url, { method, headers, ...(body.length > 0 && { body }) });
    return {
      kind: 'text',
      status: answer.status,
      body: Buffer.from(await answer.arrayBuffer()),
      // By the clock of the recording, as the sandbox would if it ran elsewhere.
      headers: {
        'content-type': answer.headers.get('content-type') ?? '',
        date: new Date().toUTCString(),
      },
    };
  });
  // As PagerDuty answers; the others only look at the status.
  const receiver = await startStandIn(() => ({ kind: 'json', status: 202, body: { status: 'success' } }));
  const mails = await openSmtpServer();
  const at = (name: string) => `http://127.0.0.1:${receiver.port}/${name}`;
  return {
    notify: [
      {
        ...{ kind: 'email', smtp: `smtp://127.0.0.1:${mails.port}` },
        ...{ from: 'review@agency.example', to: ['night@agency.example'] },
      },
      { kind: 'slack', url: at('slack') },
      { kind: 'teams', url: at('teams') },
      { kind: 'webhook', url: at('webhook'), secret },
      { kind: 'pagerduty', url: at('pagerduty'), routingKey: 'routing-key-of-the-faces' },
    ],
    heartbeat: { kind: 'healthchecks', url: at('heartbeat') },
    serviceUrl: new URL(service.baseUrl).origin,
    forwardTo(baseUrl) {
      sandbox = new URL(baseUrl).origin;
    },
    listRequests: () => service.requests.map(({ method, url, body }) => `${method} ${url}\n${body}`),
    listMessages() {
      const messages = new Map([['email', mails.emails.map(({ raw }) => raw)]]);
      for (const { url, body } of receiver.requests) {
        const [, name = '', ...below] = url.split('/');
        const path = below.map((part) => `/${part}\n`).join('');
        messages.set(name, [...(messages.get(name) ?? []), `${path}${body}`]);
      }
      return messages;
    },
    async close() {
      await Promise.all([service.close(), receiver.close(), mails.close()]);
    },
  };
}
