import * as z from 'zod';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { MessageCounts } from '../../ledger/messages.js';
import { type Notice, nobodyIsTold } from '../../ledger/notice.js';
import type { OpenProblem, StoredMessage } from '../../ledger/notices.js';
import { formatCountOf, formatLocalInstant } from '../../text/format.js';
import { type Html, html } from '../../text/html.js';
import { UsageError } from '../../text/usage-error.js';
import { renderSeverity } from '../marks.js';
import { type ChangeAction, defineAction, definePage, type Page } from '../page.js';
import type { Operations } from './operations.js';

export interface NotificationParts {
  readonly ledger: ReadOnlyLedger;
  readonly operations: Pick<Operations, 'channels' | 'testChannels'>;
}

const messagesShown = 100;
const problemsShown = 100;

/** Who is notified of what: channels, open problems and the last messages. */
export function createNotificationsPage({ ledger: { notices }, operations }: NotificationParts): Page {
  return definePage({
    path: '/notifications',
    permission: 'operate',
    input: z.object({}),
    async read() {
      const [problems, counts, messages] = await Promise.all([
        notices.listProblems(),
        notices.countMessages(),
        notices.listMessages({ limit: messagesShown }),
      ]);
      return { problems, counts, messages };
    },
    render: ({ problems, counts, messages }, { timezone }) => ({
      title: 'Notifications',
      content: html`${renderChannels(operations)}${renderProblems(problems, timezone, operations.channels.length > 0)}${renderMessages(messages, counts, timezone)}`,
    }),
  });
}

function renderChannels({ channels }: Pick<Operations, 'channels'>): Html {
  if (channels.length === 0)
    return html`<p>${nobodyIsTold} List channels in the setting <code>notify</code>.</p>`;
  return html`<h2>Channels</h2><ul class="plain">${channels.map(
    ({ name, kind }) =>
      html`<li class="buttons"><span>${name}${name === kind ? undefined : html` <span class="faint">(${kind})</span>`}</span> <a class="button quiet" href="/notifications/test?channel=${encodeURIComponent(name)}">Test ${name}</a></li>`,
  )}</ul>${channels.length > 1 ? html`<p><a href="/notifications/test">Test all</a></p>` : undefined}`;
}

/** Without a channel, the ledger still notes when people would have been told. */
function renderProblems(problems: readonly OpenProblem[], timezone: string, hasChannels: boolean): Html {
  if (problems.length === 0) return html`<h2>Open problems</h2><p>None.</p>`;
  const shown = problems.slice(-problemsShown).reverse();
  const more =
    problems.length > shown.length ? `The ${shown.length} newest of ${problems.length}.` : undefined;
  return html`<h2>Open problems</h2>${more === undefined ? undefined : html`<p>${more}</p>`}<div class="wide" tabindex="0"><table>
<thead><tr><th scope="col">Problem</th><th scope="col">About</th><th scope="col">Severity</th><th scope="col">Since</th>${hasChannels ? html`<th scope="col">Last told</th>` : undefined}</tr></thead>
<tbody>${shown.map(
    (problem) =>
      html`<tr><th scope="row">${problem.event}</th><td>${renderSubject(problem)}</td><td>${renderSeverity(problem.severity)}</td><td class="whole">${formatLocalInstant(problem.raisedAt, timezone)}</td>${hasChannels ? html`<td class="whole">${formatLocalInstant(problem.lastToldAt, timezone)}</td>` : undefined}</tr>`,
  )}</tbody></table></div>`;
}

function renderMessages(
  messages: readonly StoredMessage[],
  { pending, givenUp }: MessageCounts,
  timezone: string,
): Html {
  const waiting = `${formatCountOf(pending, 'message')} to be sent, ${formatCountOf(givenUp, 'message')} given up.`;
  if (messages.length === 0) return html`<h2>Last messages</h2><p>None.</p>`;
  return html`<h2>Last messages</h2><p>${waiting}</p><div class="wide" tabindex="0"><table>
<thead><tr><th scope="col">When</th><th scope="col">Channel</th><th scope="col">Message</th><th scope="col">About</th><th scope="col">State</th></tr></thead>
<tbody>${messages.map(
    ({ notice, ...message }) =>
      html`<tr><td class="whole">${formatLocalInstant(message.endedAt ?? message.dueAt, timezone)}</td><td>${message.channel}</td><th scope="row">${notice.event}${notice.stage === 'raised' ? undefined : ` (${notice.stage})`}</th><td>${renderSubject(notice)}</td><td>${describeState(message)}</td></tr>`,
  )}</tbody></table></div>`;
}

function renderSubject({ subject, day }: Pick<Notice, 'subject' | 'day'>): Html {
  if (day === undefined) return html`${subject}`;
  const link = html`<a class="whole" href="/days/${encodeURIComponent(day)}">${day}</a>`;
  return subject === day ? link : html`${link} ${subject}`;
}

function describeState({ state, attempts, code }: Pick<StoredMessage, 'state' | 'attempts' | 'code'>): Html {
  const why = code === undefined ? '' : ` (${code})`;
  switch (state) {
    case 'sent':
      return html`<span class="whole good">✓ sent</span>`;
    case 'given-up':
      return html`<span class="bad">✗ given up${why}</span>`;
    case 'pending':
      return html`<span class="wait">… ${attempts === 0 ? 'waits' : `to be tried again${why}`}</span>`;
  }
}

/** What `hotel-review notify test` does. */
export function createNotificationTest({ operations }: Pick<NotificationParts, 'operations'>): ChangeAction {
  const back = '/notifications';
  return defineAction({
    path: '/notifications/test',
    permission: 'operate',
    title: 'Test notifications',
    /** All channels, if none is named. */
    input: z.object({ channel: z.string().max(40).optional() }),
    form: z.object({}),
    reason: 'optional',
    async preview({ channel }) {
      const chosen = operations.channels.filter(({ name }) => channel === undefined || name === channel);
      const names = chosen.map(({ name }) => name).join(', ');
      if (chosen.length === 0)
        return { lines: [], refusal: 'No such channel is configured.', button: 'Send', back };
      return {
        lines: [`Sends a test message: ${names}. It says that nothing happened.`],
        button: `Send to ${names}`,
        back,
      };
    },
    audit: ({ channel }, { reason }) => ({
      action: 'notify-test',
      ...(channel !== undefined && { subject: channel }),
      ...(reason !== '' && { details: { reason } }),
    }),
    async perform({ channel }) {
      const trials = await operations.testChannels(channel);
      const faults = trials.flatMap(({ message }) => message ?? []);
      if (faults.length > 0) throw new UsageError(faults.join('; '));
      return { message: `Accepted: ${trials.map(({ name }) => name).join(', ')}.`, next: back };
    },
  });
}
