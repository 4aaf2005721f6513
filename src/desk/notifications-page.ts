import * as z from 'zod';
import { showInLine } from '../base/foreign-text.js';
import { formatCountOf } from '../base/format.js';
import { type Html, html } from '../base/html.js';
import { UsageError } from '../base/safe-error.js';
import type { StoredMessage } from '../ledger/notices.js';
import { type Notice, nobodyIsTold } from '../rules/notice.js';
import { renderMark, renderSeverity } from './marks.js';
import { defineAction, definePage } from './page.js';
import { linkDay, renderTable, showInstant, writeAddress } from './parts.js';

const path = '/notifications';
const messagesShown = 100;
const problemsShown = 100;

/** Who is notified of what: channels, open problems and the last messages. */
export const notificationsPage = definePage({
  path,
  permission: 'operate',
  input: z.object({}),
  async read(_, { desk: { ledger } }) {
    const [problems, counts, messages] = await Promise.all([
      ledger.notices.listProblems(),
      ledger.notices.countMessages(),
      ledger.notices.listMessages({ limit: messagesShown }),
    ]);
    // The newest first, as the messages are.
    return {
      problems: problems.toReversed().slice(0, problemsShown),
      open: problems.length,
      counts,
      messages,
    };
  },
  render({ problems, open, counts: { pending, givenUp, perhapsReceived }, messages }, visit) {
    const { channels } = visit.desk.operations;
    return {
      title: 'Notifications',
      content: html`<h2>Channels</h2>
${renderTable(
  channels,
  {
    Name: ({ name }) => name,
    Kind: ({ kind }) => kind,
    Test: ({ name }) =>
      html`<a class="button quiet" href="${writeAddress(`${path}/test`, { channel: name })}">Test ${name}</a>`,
  },
  { empty: html`${nobodyIsTold} List channels in the setting <code>notify</code>.` },
)}
${channels.length > 1 && html`<p><a href="${path}/test">Test all</a></p>`}
<h2>Open problems</h2>
${open > problems.length && html`<p>The ${problems.length} newest of ${open}.</p>`}
${renderTable(
  problems,
  {
    Problem: ({ event }) => event,
    About: renderSubject,
    Severity: ({ severity }) => renderSeverity(severity),
    Since: ({ raisedAt }) => showInstant(raisedAt, visit),
    // Without a channel, the ledger still notes when people would have been told.
    'Last told': channels.length > 0 && (({ lastToldAt }) => showInstant(lastToldAt, visit)),
  },
  { empty: 'None. What goes wrong stands here until it is over.' },
)}
<h2>Last messages</h2>
${messages.length > 0 && html`<p>${formatCountOf(pending, 'message')} to be sent, ${formatCountOf(givenUp, 'message')} given up, ${formatCountOf(perhapsReceived, 'message')} perhaps received.</p>`}
${renderTable(
  messages,
  {
    Message: ({ notice: { event, stage } }) => (stage === 'raised' ? event : `${event} (${stage})`),
    About: ({ notice }) => renderSubject(notice),
    Channel: ({ channel }) => channel,
    When: ({ endedAt, dueAt }) => showInstant(endedAt ?? dueAt, visit),
    State: renderState,
  },
  { empty: 'None. Each problem becomes a message to each channel that wants it.' },
)}`,
    };
  },
});

/** The day it is about, if any, and what else. */
function renderSubject({ subject, day }: Notice): Html | string {
  if (day === undefined) return subject;
  return subject === day ? linkDay(day) : html`${linkDay(day)} ${showInLine(subject)}`;
}

function renderState({ state, attempts, unconfirmed, code }: StoredMessage): Html {
  const why = code === undefined ? '' : ` (${code})`;
  switch (state) {
    case 'sent':
      return renderMark('good', 'sent');
    case 'perhaps-received':
      return renderMark('attention', `given up: perhaps received${why}`);
    case 'given-up':
      return renderMark('attention', `given up${why}`);
    case 'pending': {
      const next = `${unconfirmed > 0 ? 'perhaps received, ' : ''}to be tried again${why}`;
      return renderMark('unfinished', attempts === 0 ? 'waits' : next);
    }
  }
}

/** What `hotel-review notify test` does. */
export const testNotifications = defineAction({
  path: `${path}/test`,
  permission: 'operate',
  title: 'Test notifications',
  /** All channels, if none is named. */
  input: z.object({ channel: z.string().max(40).optional() }),
  form: z.object({}),
  reason: 'optional',
  async preview({ channel }, { desk: { operations } }) {
    const all = operations.channels.map(({ name }) => name);
    const names = all.filter((name) => channel === undefined || name === channel).join(', ');
    return {
      lines: names ? [`Sends a test message: ${names}. It says that nothing happened.`] : [],
      refusal: names ? undefined : 'No such channel is configured.',
      button: `Send to ${names}`,
      back: path,
    };
  },
  audit: ({ channel }) => ({ action: 'notify-test', subject: channel }),
  async perform({ channel }, _, { desk: { operations } }) {
    // Waits for the answers, so that the visitor reads what each receiver said.
    const trials = await operations.testChannels(channel);
    const faults = trials.flatMap(({ message }) => message ?? []);
    if (faults.length > 0) throw new UsageError(faults.join('; '));
    return { message: `Accepted: ${trials.map(({ name }) => name).join(', ')}.`, next: path };
  },
});
