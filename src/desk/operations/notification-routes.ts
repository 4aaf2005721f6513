import * as z from 'zod';
import { noticeEventNames, severities } from '../../notifications/notice.js';
import type { NoticeReader, OpenProblem, StoredMessage } from '../../notifications/notice-store.js';
import { UsageError } from '../../review/refusals.js';
import { formatCountOf, formatLocalInstant } from '../../text/format.js';
import { type Html, html } from '../../text/html.js';
import { type ChangeAction, defineAction, definePage, type Page } from '../routing/route.js';
import { renderSeverity } from '../routing/state-mark.js';
import type { Operations } from './operations.js';

export interface NotificationParts {
  readonly ledger: { readonly notices: NoticeReader };
  readonly operations: Pick<Operations, 'channels' | 'testChannels'>;
}

const messagesShown = 100;
const problemsShown = 100;
const instant = z.iso.datetime();
const about = {
  event: z.enum(noticeEventNames),
  subject: z.string(),
  severity: z.enum(severities),
  day: z.string().nullable(),
  runId: z.string().nullable(),
};
const data = z.object({
  channels: z.array(z.object({ name: z.string(), kind: z.string() })),
  problemCount: z.int(),
  problems: z.array(z.object({ ...about, since: instant, lastToldAt: instant, reminders: z.int() })),
  pending: z.int(),
  givenUp: z.int(),
  messages: z.array(
    z.object({
      ...about,
      stage: z.enum(['raised', 'reminder', 'recovered']),
      channel: z.string(),
      state: z.enum(['pending', 'sent', 'given-up']),
      attempts: z.int(),
      raisedAt: instant,
      dueAt: instant,
      endedAt: instant.nullable(),
      code: z.string().nullable(),
    }),
  ),
});
type Data = z.output<typeof data>;

/** Who is notified of what: channels, open problems and the last messages. */
export function createNotificationsPage({ ledger: { notices }, operations }: NotificationParts): Page {
  return definePage({
    path: '/notifications',
    permission: 'operate',
    summary: 'Channels, open problems and the last messages',
    input: z.object({}),
    data,
    async read() {
      const [problems, counts, messages] = await Promise.all([
        notices.listProblems(),
        notices.countMessages(),
        notices.listMessages({ limit: messagesShown }),
      ]);
      return {
        channels: operations.channels.map(({ name, kind }) => ({ name, kind })),
        problemCount: problems.length,
        problems: problems.slice(-problemsShown).reverse().map(toProblem),
        pending: counts.pending,
        givenUp: counts.givenUp,
        messages: messages.map(toMessage),
      };
    },
    render: (shown, { timezone }) => ({
      title: 'Notifications',
      content: html`${renderChannels(shown)}${renderProblems(shown, timezone)}${renderMessages(shown, timezone)}`,
    }),
  });
}

function toProblem({ raisedAt, lastToldAt, reminders, ...notice }: OpenProblem): Data['problems'][number] {
  return { ...toAbout(notice), since: toIso(raisedAt), lastToldAt: toIso(lastToldAt), reminders };
}

function toMessage({ notice, ...message }: StoredMessage): Data['messages'][number] {
  const { channel, state, attempts, dueAt, endedAt, code = null } = message;
  return {
    ...toAbout(notice),
    stage: notice.stage,
    ...{ channel, state, attempts, code },
    raisedAt: toIso(notice.raisedAt),
    dueAt: toIso(dueAt),
    endedAt: endedAt === undefined ? null : toIso(endedAt),
  };
}

type About = Pick<Data['problems'][number], 'event' | 'subject' | 'severity' | 'day' | 'runId'>;

function toAbout({
  event,
  subject,
  severity,
  day,
  runId,
}: Pick<OpenProblem, 'event' | 'subject' | 'severity' | 'day' | 'runId'>): About {
  return { event, subject, severity, day: day ?? null, runId: runId ?? null };
}

const toIso = (at: number) => new Date(at).toISOString();

function renderChannels({ channels }: Data): Html {
  if (channels.length === 0)
    return html`<p>No channel is configured, so nobody is told anything: list them in the setting <code>notify</code>.</p>`;
  return html`<h2>Channels</h2><ul class="plain">${channels.map(
    ({ name, kind }) =>
      html`<li class="buttons"><span>${name}${name === kind ? undefined : html` <span class="faint">(${kind})</span>`}</span> <a class="button quiet" href="/notifications/test?channel=${encodeURIComponent(name)}">Test ${name}</a></li>`,
  )}</ul>${channels.length > 1 ? html`<p><a href="/notifications/test">Test all</a></p>` : undefined}`;
}

function renderProblems({ problems, problemCount }: Data, timezone: string): Html {
  if (problemCount === 0) return html`<h2>Open problems</h2><p>None.</p>`;
  const more =
    problemCount > problems.length ? `The ${problems.length} newest of ${problemCount}.` : undefined;
  return html`<h2>Open problems</h2>${more === undefined ? undefined : html`<p>${more}</p>`}<div class="wide" tabindex="0"><table>
<thead><tr><th scope="col">Problem</th><th scope="col">About</th><th scope="col">Severity</th><th scope="col">Since</th><th scope="col">Last told</th></tr></thead>
<tbody>${problems.map(
    (problem) =>
      html`<tr><th scope="row">${problem.event}</th><td>${renderSubject(problem)}</td><td>${renderSeverity(problem.severity)}</td><td class="whole">${showInstant(problem.since, timezone)}</td><td class="whole">${showInstant(problem.lastToldAt, timezone)}</td></tr>`,
  )}</tbody></table></div>`;
}

function renderMessages({ messages, pending, givenUp }: Data, timezone: string): Html {
  const waiting = `${formatCountOf(pending, 'message')} to be sent, ${formatCountOf(givenUp, 'message')} given up.`;
  if (messages.length === 0) return html`<h2>Last messages</h2><p>None.</p>`;
  return html`<h2>Last messages</h2><p>${waiting}</p><div class="wide" tabindex="0"><table>
<thead><tr><th scope="col">When</th><th scope="col">Channel</th><th scope="col">Message</th><th scope="col">About</th><th scope="col">State</th></tr></thead>
<tbody>${messages.map(
    (message) =>
      html`<tr><td class="whole">${showInstant(message.endedAt ?? message.dueAt, timezone)}</td><td>${message.channel}</td><th scope="row">${message.event}${message.stage === 'raised' ? undefined : ` (${message.stage})`}</th><td>${renderSubject(message)}</td><td>${describeState(message)}</td></tr>`,
  )}</tbody></table></div>`;
}

function showInstant(iso: string, timezone: string): string {
  return formatLocalInstant(Date.parse(iso), timezone);
}

function renderSubject({ subject, day }: About): Html {
  if (day === null) return html`${subject}`;
  const link = html`<a class="whole" href="/days/${encodeURIComponent(day)}">${day}</a>`;
  return subject === day ? link : html`${link} ${subject}`;
}

function describeState({ state, attempts, code }: Data['messages'][number]): Html {
  const why = code === null ? '' : ` (${code})`;
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
    summary: 'Send a test message through a channel, or all of them',
    title: 'Test notifications',
    input: z.object({ channel: z.string().max(40).optional().describe('Its name; all if absent.') }),
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
