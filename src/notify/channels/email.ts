import { createHash } from 'node:crypto';
import type { SendMailOptions } from 'nodemailer';
import { shorten } from '../../base/format.js';
import { html } from '../../base/html.js';
import type { Message } from '../channel.js';
import type { SettingsOf } from './channel-settings.js';
import { disarm, unlinked } from './disarm.js';
import { summarise } from './message-texts.js';

const subjectCharacters = 250;

/**
 * An e-mail in plain text and in HTML.
 *
 * @param now epoch milliseconds
 */
export function renderEmail(
  message: Message,
  { from, to }: SettingsOf<'email'>,
  now: number,
): SendMailOptions {
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
