import * as z from 'zod';
import { showInLine } from '../base/foreign-text.js';
import { formatCount } from '../base/format.js';
import { type Html, html } from '../base/html.js';
import { createBusinessDay, isCalendarDay } from '../booking/business-day.js';
import { type AuditedAction, auditedActions, type RecordedAction } from '../rules/action.js';
import { choiceField, numberField, optionalDayField, searchField } from './fields.js';
import { definePage } from './page.js';
import { entriesPerPage, renderSelect, renderTable, showInstant, writeAddress } from './parts.js';
import { HttpError } from './server/http-error.js';

const searchFields = z.object({
  from: optionalDayField,
  to: optionalDayField,
  who: searchField,
  action: choiceField(auditedActions),
  subject: searchField,
});

/** Who looked at bookings or changed something, when and why. */
export const auditPage = definePage({
  path: '/audit',
  permission: 'see-audit',
  cost: 'expensive',
  /** `before`: only older entries. */
  input: searchFields.extend({ before: numberField(15, 'expected the number of an entry').optional() }),

  async read({ before, ...asked }, { desk: { ledger }, timezone }) {
    const { from, to } = asked;
    if (from && to && to < from) throw new HttpError(400, `to: ${to} is before ${from}`);
    const filter = {
      ...asked,
      from: from ? createBusinessDay(from, timezone).firstInstant.getTime() : undefined,
      to: to ? createBusinessDay(to, timezone).lastInstant.getTime() : undefined,
    };
    return { asked, ...(await ledger.audit.latestActions(filter, { before, limit: entriesPerPage })) };
  },

  render: ({ asked, actions, total, cursor }, visit) => ({
    title: 'Audit trail',
    content: html`${renderFilter(asked)}
<p>${total === 1 ? '1 entry.' : `${formatCount(total)} entries, the newest first.`}</p>
${renderTable(
  actions,
  {
    When: ({ at }) => html`<time datetime="${new Date(at).toISOString()}">${showInstant(at, visit)}</time>`,
    Who: ({ who }) => who,
    Did: ({ action }) => action,
    'To what': renderSubject,
    Details: ({ details = {} }) =>
      Object.entries(details)
        .map(([name, value]) => `${name}: ${value}`)
        .join(', '),
  },
  { empty: html`Nothing matches. <a href="/audit">Show all entries</a>.` },
)}
${
  cursor !== undefined &&
  html`<nav class="buttons" aria-label="Pages"><a rel="next" href="${writeAddress('/audit', { ...asked, before: cursor })}">Older entries</a></nav>`
}`,
  }),
});

function renderFilter({ from, to, who, action, subject }: z.output<typeof searchFields>): Html {
  return html`<form class="search card" action="/audit" role="search">
<label>From<input name="from" type="date" value="${from ?? ''}"></label>
<label>To<input name="to" type="date" value="${to ?? ''}"></label>
<label>Who<input name="who" value="${who ?? ''}" maxlength="500" autocomplete="off"></label>
${renderSelect('Did', 'action', [['', 'anything'], ...auditedActions], action)}
<label>To what<input name="subject" value="${subject ?? ''}" maxlength="500" autocomplete="off" spellcheck="false"></label>
<button>Filter</button> <a href="/audit">All</a></form>`;
}

/** With a link, if it still has a page. */
function renderSubject({ action, subject = '' }: RecordedAction): Html | string {
  const address = findAddress(action, subject);
  return address ? html`<a href="${address}">${showInLine(subject)}</a>` : subject;
}

function findAddress(action: AuditedAction, subject: string): string | undefined {
  if (isCalendarDay(subject)) return `/days/${subject}`;
  if (/^case \d+$/.test(subject)) return subject.replace('case ', '/cases/');
  if (!aboutBookings.includes(action) || subject === '' || subject.startsWith('erased:')) return undefined;
  return writeAddress('/bookings', { reference: subject });
}

const aboutBookings: readonly AuditedAction[] = ['show', 'evidence', 'case-resolved'];
