import { getEventListeners, once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import PostalMime from 'postal-mime';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Message } from '../../../src/notify/channel.js';
import { type ReceivedEmail, type SmtpOptions, startSmtpServer } from '../../support/smtp-server.js';
import {
  email,
  encodedLogin,
  giveUpOn,
  login,
  messageWith,
  now,
  open,
  refusalOf,
  send,
} from './channel-kit.js';

/** A server on this machine without TLS, and a channel that sends to it. */
async function start(options: SmtpOptions = {}, settings: object = {}) {
  const server = await startSmtpServer(options);
  const warnings: string[] = [];
  const channel = await open(
    { ...email, smtp: `smtp://localhost:${server.port}`, ...settings },
    { warn: (line) => warnings.push(line) },
  );
  return { server, channel, warnings };
}

const parseEmail = (received: ReceivedEmail | undefined) => PostalMime.parse(received?.raw ?? '');

async function deliver(message: Message) {
  const { server, channel } = await start();
  await send(channel, message);
  return parseEmail(server.emails[0]);
}

describe('An e-mail', () => {
  it('links its day in text and HTML, and says in its headers what it is about', async () => {
    const received = await deliver(messageWith());
    expect(received).toMatchObject({
      to: [{ address: 'ops@agency.example' }],
      date: new Date(now).toISOString(),
    });
    expect(received.text).toContain('\n\nhttps://review.example.com/days/2026-11-20\n\ncritical · day-late');
    expect(received.html).toContain('>2026-11-20 is late: day 3 without review, 41 check-ins today</h1>');
    expect(received.html).toContain('<a href="https://review.example.com/days/2026-11-20">');
    const headers = Object.fromEntries(received.headers.map(({ key, value }) => [key, value]));
    expect(headers).toMatchObject({
      ...{ 'x-hotel-review-event': 'day-late', 'x-hotel-review-severity': 'critical' },
      ...{ 'auto-submitted': 'auto-generated', importance: 'High' },
    });
  });

  it('has the same id when it is sent again, and belongs to the conversation of its incident', async () => {
    const first = await deliver(messageWith());
    const again = await deliver(messageWith());
    const reminder = await deliver(messageWith({ id: 'msg_2', stage: 'reminder' }));
    const other = await deliver(messageWith({ id: 'msg_3', incident: 'day-2026-11-21' }));
    expect(first.messageId).toMatch(/^<[0-9a-f]{40}@agency\.example>$/);
    expect(again.messageId).toBe(first.messageId);
    expect(reminder.messageId).not.toBe(first.messageId);
    expect(reminder.references).toBe(first.references);
    expect(other.references).not.toBe(first.references);
  });

  it('lets no name add a header, markup, a control character or an address that works', async () => {
    const received = await deliver(
      messageWith({
        title: 'Silent: evil.example\r\nBcc: evil@example.com\r\n\r\n<script> www.evil.test',
        text: '<img src=x onerror=alert(1)>\u0000\u001b[2J https://evil.test/a mailto:a@evil.test \\\\evil\\share',
        url: 'https://review.example.com/?a="><script>',
      }),
    );
    expect(received.subject).toBe(
      'Silent: evil.example\\u000d\\u000aBcc: evil@\u2060example.com\\u000d\\u000a\\u000d\\u000a<\u2060script> www.\u2060evil.test',
    );
    expect(received.headers.map(({ key }) => key)).not.toContain('bcc');
    const [plain] = received.text?.split('https://review.example.com') ?? [];
    expect(plain).not.toMatch(/:\/\/|www\.e|mailto:a|a@e|\\\\e/);
    expect(received.html).not.toMatch(/<script|<img/);
    expect(received.html).toContain('&lt;img src=x onerror=alert(1)&gt;\\u0000\\u001b[2J');
    // Mail programs make no link across an element.
    expect(received.html).toContain('Silent: evil<span>.</span>example');
    expect(received.html).toContain(
      'https<span>:</span>//evil<span>.</span>test/a mailto<span>:</span>a<span>@</span>evil',
    );
  });
});

describe('A mail server', () => {
  it.each([
    ['the login', { login }, { smtp: 'smtp://somebody:hidden-wrong@localhost:PORT' }, 'smtp-535'],
    ['the recipient', { refused: { 'ops@agency.example': 550 } }, {}, 'smtp-550'],
    ['the e-mail', { reply: 554 }, {}, 'smtp-554'],
    ['the e-mail for now', { reply: 451 }, {}, 'smtp-451'],
  ] as const)(
    'may refuse %s: the error has its code, and nothing of its text',
    async (_, options, settings, code) => {
      const server = await startSmtpServer({ login: undefined, ...options } as SmtpOptions);
      const smtp = ('smtp' in settings ? settings.smtp : 'smtp://localhost:PORT').replace(
        'PORT',
        `${server.port}`,
      );
      const refusal = await refusalOf(send(await open({ ...email, smtp })));
      expect(refusal).toMatchObject({ name: 'ChannelError', code, mayHaveArrived: false });
      expect(refusal.message).toContain(code);
      expect(refusal.shown).not.toMatch(/hidden|you said/);
    },
  );

  it('may refuse some of the recipients: those who got it do not get it again', async () => {
    const refused = { 'gone@agency.example': 550 };
    const { server, channel, warnings } = await start(
      { refused },
      { to: ['ops@agency.example', 'gone@agency.example'] },
    );
    const { signal } = new AbortController();
    await send(channel, messageWith(), signal);
    expect(server.emails).toMatchObject([{ to: ['ops@agency.example'] }]);
    expect(warnings).toEqual(['email: refused 1 of its recipients (smtp-550)']);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('that never answers is given up on', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    onTestFinished(() => void silent.close());
    const smtp = `smtp://localhost:${(silent.address() as AddressInfo).port}`;
    const refusal = await refusalOf(send(await open({ ...email, smtp }, { timeoutMs: 200 })));
    expect(refusal).toMatchObject({
      code: 'timeout',
      mayHaveArrived: false,
      message: 'email: the mail server did not answer in time',
    });
  });

  it('that never confirms an e-mail is given up on', async () => {
    const server = await startSmtpServer({ reply: 'never' });
    const smtp = `smtp://localhost:${server.port}`;
    expect(await giveUpOn({ ...email, smtp })).toMatchObject({ code: 'timeout' });
    expect(server.emails).not.toEqual([]);
  });

  it('that is not running is reported', async () => {
    const refusal = await refusalOf(send(await open({ ...email, smtp: 'smtp://localhost:1' })));
    expect(refusal).toMatchObject({ code: 'connection-refused', mayHaveArrived: false });
  });

  it('is abandoned at once when the process is asked to stop: with the reason if it may have the e-mail', async () => {
    const { server, channel } = await start({ reply: 'never' });
    const stopSoon = new AbortController();
    const early = refusalOf(send(channel, messageWith(), stopSoon.signal));
    stopSoon.abort(new Error('stopped'));
    expect(await early).toMatchObject({ code: 'timeout', mayHaveArrived: false });
    const late = await refusalOf(send(channel, messageWith(), stopSoon.signal));
    expect(late).toMatchObject({ code: 'timeout', mayHaveArrived: false });
    const stop = new AbortController();
    const sending = send(channel, messageWith(), stop.signal);
    await vi.waitFor(() => expect(server.emails).toHaveLength(1));
    stop.abort(new Error('stopped'));
    await expect(sending).rejects.toThrow('stopped');
  });
});

describe('A mail server on another machine', () => {
  it('must offer STARTTLS, unless the settings allow plain text', async () => {
    const server = await startSmtpServer({ login });
    // A name for this machine that the program does not recognise as such.
    const smtp = `smtp://${encodedLogin}0.0.0.0:${server.port}`;
    const refusal = await refusalOf(send(await open({ ...email, smtp })));
    expect(refusal.code).toBe('starttls-failed');
    expect(refusal.shown).not.toContain('hidden');
    await send(await open({ ...email, smtp, plaintext: 'allowed' }));
    expect(server.emails).toMatchObject([{ isEncrypted: false, user: login.user }]);
  });
});
