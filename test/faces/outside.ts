import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';

/** What everybody outside was told, in the order of arrival. */
export interface Outside {
  /** The items of `notify`, one of each kind, and the address to which the service's calls go. */
  readonly notify: readonly object[];
  readonly serviceUrl: string;
  /** Where the service's calls are passed on to. */
  forwardTo(baseUrl: string): void;
  /** `METHOD path`, then the body. */
  readonly requests: readonly string[];
  /** By channel. */
  readonly messages: ReadonlyMap<string, readonly string[]>;
  close(): Promise<void>;
}

const secret = `whsec_${Buffer.from('notify-secret-of-the-faces-12345').toString('base64')}`;

/** Stands before the sandbox and behind every channel. */
export async function startOutside(): Promise<Outside> {
  const requests: string[] = [];
  const messages = new Map<string, string[]>();
  let service = '';
  const keep = (channel: string, text: string) => {
    messages.set(channel, [...(messages.get(channel) ?? []), text]);
  };

  const proxy = createServer(async (request, response) => {
    const { method = 'GET', url = '/', headers } = request;
    const body = await buffer(request);
    requests.push(`${method} ${url}\n${body}`);
    const { host: _, 'content-length': __, connection: ___, ...passed } = headers;
    const answer = await fetch(service + url, {
      ...{ method, headers: passed as Record<string, string> },
      ...(body.length > 0 && { body }),
    });
    const sent = Buffer.from(await answer.arrayBuffer());
    const type = answer.headers.get('content-type');
    // By the clock of the recording, as the sandbox would if it ran elsewhere.
    const date = new Date().toUTCString();
    response.writeHead(answer.status, { date, ...(type !== null && { 'content-type': type }) }).end(sent);
  });
  const receiver = createServer(async (request, response) => {
    keep((request.url ?? '/').slice(1), `${await buffer(request)}`);
    // As PagerDuty answers; the others only look at the status.
    response.writeHead(202, { 'content-type': 'application/json' }).end('{"status":"success"}');
  });
  const mails = new SMTPServer({
    ...{ disabledCommands: ['STARTTLS', 'AUTH'], authOptional: true, logger: false },
    disableReverseLookup: true,
    onData(stream, _session, done) {
      buffer(stream).then((raw) => {
        keep('email', raw.toString());
        done();
      }, done);
    },
  });
  const [servicePort, channelPort] = [await listen(proxy), await listen(receiver)];
  mails.listen(0, '127.0.0.1');
  await once(mails.server, 'listening');
  const { port: mailPort } = mails.server.address() as AddressInfo;
  const at = (name: string) => `http://127.0.0.1:${channelPort}/${name}`;
  return {
    notify: [
      {
        ...{ kind: 'email', smtp: `smtp://127.0.0.1:${mailPort}` },
        ...{ from: 'review@agency.example', to: 'night@agency.example' },
      },
      { kind: 'slack', url: at('slack') },
      { kind: 'teams', url: at('teams') },
      { kind: 'webhook', url: at('webhook'), secret },
      { kind: 'pagerduty', url: at('pagerduty'), routingKey: 'routing-key-of-the-faces' },
    ],
    serviceUrl: `http://127.0.0.1:${servicePort}`,
    forwardTo(baseUrl) {
      service = new URL(baseUrl).origin;
    },
    requests,
    messages,
    async close() {
      for (const server of [proxy, receiver]) server.close().closeAllConnections();
      await new Promise<void>((done) => void mails.close(done));
    },
  };
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
