import { isCalendarDay } from '../../booking/business-day.js';
import { type AuditedAction, auditedActions, type RecordedAction } from '../../ledger/audit.js';
import { showInLine } from '../../text/foreign-text.js';
import { formatCount, formatLocalInstant } from '../../text/format.js';
import { type Html, html } from '../../text/html.js';
import type { DeskVisit, View } from '../page.js';
import { writeAddress } from '../parts.js';
import type { AuditData } from './audit-page.js';

export function renderAuditPage(data: AuditData, { timezone }: Pick<DeskVisit, 'timezone'>): View {
  const { asked, actions, total, cursor } = data;
  return {
    title: 'Audit trail',
    content: html`${renderFilter(asked)}
<p>${total === 1 ? '1 entry.' : `${formatCount(total)} entries, the newest first.`}</p>
${
  actions.length === 0
    ? undefined
    : html`<div class="wide" tabindex="0"><table><thead><tr><th scope="col">When</th><th scope="col">Who</th><th scope="col">Did</th><th scope="col">To what</th><th scope="col">Details</th></tr></thead><tbody>
${actions.map((entry) => renderEntry(entry, timezone))}</tbody></table></div>`
}
${
  cursor === undefined
    ? undefined
    : html`<nav class="buttons" aria-label="Pages"><a rel="next" href="${writeAddress('/audit', { ...asked, before: cursor })}">Older entries</a></nav>`
}`,
  };
}

function renderFilter({ from, to, who, action, subject }: AuditData['asked']): Html {
  return html`<form class="search card" action="/audit" role="search">
<label>From<input name="from" type="date" value="${from ?? ''}"></label>
<label>To<input name="to" type="date" value="${to ?? ''}"></label>
<label>Who<input name="who" value="${who ?? ''}" maxlength="500" autocomplete="off"></label>
<label>Did<select name="action"><option value="">anything</option>${auditedActions.map(
    (one) => html`<option${one === action ? html` selected` : undefined}>${one}</option>`,
  )}</select></label>
<label>To what<input name="subject" value="${subject ?? ''}" maxlength="500" autocomplete="off" spellcheck="false"></label>
<button>Filter</button> <a href="/audit">All</a></form>`;
}

function renderEntry({ at, who, action, subject, details = {} }: RecordedAction, timezone: string): Html {
  return html`<tr><td><time datetime="${new Date(at).toISOString()}">${formatLocalInstant(at, timezone)}</time></td><td>${showInLine(who)}</td><td>${action}</td><td>${renderSubject(action, subject)}</td><td>${Object.entries(
    details,
  )
    .map(([name, value]) => showInLine(`${name}: ${value}`))
    .join(', ')}</td></tr>
`;
}

/** With a link, if it still has a page. */
function renderSubject(action: AuditedAction, subject: string | undefined): Html {
  if (subject === undefined) return html``;
  const address = findAddress(action, subject);
  const words = showInLine(subject);
  return address === undefined ? html`${words}` : html`<a href="${address}">${words}</a>`;
}

function findAddress(action: AuditedAction, subject: string): string | undefined {
  if (isCalendarDay(subject)) return `/days/${subject}`;
  const [, id] = /^case (\d+)$/.exec(subject) ?? [];
  if (id !== undefined) return `/cases/${id}`;
  const isBooking = action === 'show' || action === 'evidence' || action === 'case-resolved';
  return isBooking && !subject.startsWith('erased:')
    ? writeAddress('/bookings', { reference: subject })
    : undefined;
}
