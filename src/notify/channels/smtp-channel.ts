import { createHash } from 'node:crypto';
import { createTransport, type SendMailOptions } from 'nodemailer';
import { startTimeLimit } from '../../base/abort.js';
import { shorten } from '../../base/format.js';
import { html } from '../../base/html.js';
import { readNetworkFailure } from '../../transports/http/network-failure.js';
import {
  type Channel,
  ChannelError,
  type ChannelParts,
  confirmWithinMs,
  describeUnreached,
  type Message,
} from '../channel.js';
import { refusesSender } from '../refused-credentials.js';
import { readSmtpAddress, type SettingsOf } from './channel-settings.js';
import { disarm, summarise, unlinked } from './message-texts.js';

/** E-mails by SMTP: a connection for each, with a verified certificate unless the settings allow plain text. */
export function createSmtpChannel(
  settings: SettingsOf<'email'>,
  { clock, warn, timeoutMs = confirmWithinMs.email }: ChannelParts,
): Channel {
  const { name } = settings;
  const options = toSmtpOptions(settings);
  return {
    name,
    async send(message, signal) {
      const limit = startTimeLimit(signal, timeoutMs);
      const transport = createTransport(options);
      let isHandedOver = false;
      transport.use('stream', (mail, done) => {
        mail.message.processFunc((content) => content.once('end', () => (isHandedOver = true)));
        done();
      });
      try {
        limit.signal.throwIfAborted();
        const { rejected, rejectedErrors = [] } = await transport.sendMail({
          ...renderEmail(message, settings, clock()),
          signal: limit.signal,
        });
        // Only a warning: a retry would send it again to those who already got it.
        if (rejected.length > 0)
          warn(`${name}: refused ${rejected.length} of its recipients (${readCode(rejectedErrors[0])})`);
      } catch (error) {
        if (isHandedOver) signal.throwIfAborted();
        const code = limit.signal.aborted ? 'timeout' : readCode(error);
        const outcome = { mayHaveArrived: isHandedOver && !isReply(code) };
        throw new ChannelError(`${name}: ${describeFailure(code)}`, code, outcome);
      } finally {
        limit.stop();
      }
    },
    async close() {},
  };
}

function toSmtpOptions({ smtp, plaintext }: SettingsOf<'email'>) {
  const address = readSmtpAddress(smtp);
  if (address === undefined)
    throw new RangeError('the schema let an address of a mail server through that cannot be read');
  const { host, port, isImplicitTls, isThisMachine, login } = address;
  const needsTls = !(isThisMachine || plaintext === 'allowed');
  return {
    host,
    port,
    secure: isImplicitTls,
    // Local servers often offer a certificate for another name.
    ...(needsTls ? { requireTLS: true } : { ignoreTLS: true }),
    tls: { rejectUnauthorized: true, minVersion: 'TLSv1.2' as const },
    ...(login && { auth: { user: login.user, pass: login.password } }),
    // A server that never closes its side must not keep the process alive.
    socketCloseTimeout: 500,
    logger: false as const,
  };
}

/** Of what the library throws. The server's words may quote what was sent to it, including the password. */
function readCode(error: unknown): string {
  type SmtpFault = { code?: string; originalCode?: string; responseCode?: number; command?: string };
  const { code, originalCode, responseCode, command } = (error ?? {}) as SmtpFault;
  if (command === 'STARTTLS') return 'starttls-failed';
  if (responseCode) return `smtp-${responseCode}`;
  if (code === 'ETIMEDOUT') return 'timeout';
  return readNetworkFailure({ code: originalCode, cause: error }).code;
}

/** The server said what became of the message. */
function isReply(code: string): boolean {
  return code.startsWith('smtp-');
}

function describeFailure(code: string): string {
  if (code === 'starttls-failed')
    return 'the mail server offers no STARTTLS, or its certificate is not trusted; use smtps://, or name the file of its authority in NODE_EXTRA_CA_CERTS';
  if (!isReply(code)) return describeUnreached('the mail server', code);
  const reply = refusesSender(code) ? 'refused user and password' : 'did not accept the message';
  return `the mail server ${reply} (${code})`;
}

const subjectCharacters = 250;

/**
 * An e-mail in plain text and in HTML.
 *
 * @param now epoch milliseconds
 */
function renderEmail(message: Message, { from, to }: SettingsOf<'email'>, now: number): SendMailOptions {
  const { id, event, severity, incident, title, text, url, attachments = [] } = message;
  const domain = /@([^\s<>@]+)>?$/.exec(from)?.[1] ?? 'localhost';
  return {
    from,
    to: [to].flat(),
    date: new Date(now),
    subject: shorten(disarm(title), subjectCharacters),
    // The same if the message is sent again, so that mail programs show it once.
    messageId: toMessageId(id, domain),
    // Mail programs then show a problem, its reminders and its recovery as one conversation.
    references: [toMessageId(incident, domain)],
    headers: {
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      'X-Hotel-Review-Event': event,
      'X-Hotel-Review-Severity': severity,
    },
    priority: severity === 'critical' ? 'high' : 'normal',
    text: `${[disarm(title), disarm(text), url, summarise(message)].filter(Boolean).join('\n\n')}\n`,
    html: renderHtml(message),
    textEncoding: 'quoted-printable',
    attachments: attachments.map(({ name, contentType, content }) => ({
      filename: name,
      contentType,
      content,
    })),
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

function toMessageId(text: string, domain: string): string {
  return `<${createHash('sha256').update(text).digest('hex').slice(0, 40)}@${domain}>`;
}

function renderHtml(message: Message): string {
  const { title, text, url } = message;
  return html`<!DOCTYPE html>
<html lang="en"><body style="font-family: sans-serif">
<h1 style="font-size: 1.2em">${unlinked(title)}</h1>
<p style="white-space: pre-wrap">${unlinked(text)}</p>
${url === undefined ? undefined : html`<p><a href="${url}">${url}</a></p>`}
<p style="color: #5c6675">${summarise(message)}</p>
</body></html>
`.markup;
}
