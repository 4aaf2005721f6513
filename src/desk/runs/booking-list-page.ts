import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { Run } from '../../ledger/run.js';
import { neverSynced } from '../../mappings/copied-hotels.js';
import { countAffected } from '../../review/verdicts/day-verdicts.js';
import { showInLine } from '../../text/foreign-text.js';
import { formatKilometres } from '../../text/format.js';
import { type Html, html } from '../../text/html.js';
import { pageField } from '../fields.js';
import { definePage, type Page } from '../page.js';
import { renderPages, toPage } from '../parts.js';
import { findShownRun, runInput } from './find-run.js';
import { backToRun, linkBooking } from './list-frame.js';
import { type ListedBooking, type ListName, readList } from './listed-bookings.js';

interface ListParts {
  readonly ledger: ReadOnlyLedger;
}

const titles: Readonly<Record<ListName, { readonly title: string; readonly words: string }>> = {
  affected: {
    title: 'Affected bookings',
    words: 'The result marks their mapping as incorrect. Guests in house first, then the nearest check-in.',
  },
  unanswered: {
    title: 'Bookings without a verdict',
    words:
      'Nothing is known about their mapping, which does not mean that it is correct. Guests in house first, then the nearest check-in.',
  },
  posted: {
    title: 'Bookings that went by body',
    words:
      'They could not be in the file: their verdicts come by e-mail only. Guests in house first, then the nearest check-in.',
  },
  suspects: {
    title: 'Suspects',
    words:
      'The local copy of the mappings says something else, or nothing, about these bookings. They were sent anyway. Guests in house first, then the nearest check-in.',
  },
};

/** The list behind a count of a run. */
export function createBookingListPage(name: ListName, { ledger }: ListParts): Page {
  const { title, words } = titles[name];
  return definePage({
    path: `/runs/:id/${name}`,
    permission: 'see-bookings',
    input: runInput.extend({ page: pageField }),
    async read({ id, page }, visit) {
      const run = await findShownRun(ledger, id);
      const { count, bookings } = await readList(ledger, run, name, page, visit);
      const knowledge = name === 'affected' ? knowledgeOf(run) : 'known';
      return { runId: run.id, day: run.day, knowledge, ...toPage(count, page), bookings };
    },
    audit: ({ day, runId, bookings }) => ({
      action: name === 'unanswered' ? 'affected' : name,
      subject: day,
      details: { run: runId, found: bookings.length, lists: name },
      revealsNames: bookings.some(({ guest }) => guest !== undefined),
    }),
    render: ({ runId, knowledge, bookings, ...listed }) => ({
      title,
      content: html`${backToRun(runId)}
<p>${words}</p>
${
  knowledge === 'known'
    ? html`${renderPages(listed, 'booking', (page) => `/runs/${encodeURIComponent(runId)}/${name}?page=${page}`)}${bookings.length > 0 ? renderTable(name, bookings) : undefined}`
    : html`<p class="wait">${knowledge === 'by-email' ? 'Unknown: verdicts of this run come by e-mail only.' : 'Unknown: no result has arrived yet.'}</p>`
}`,
    }),
  });
}

/** An empty list is no good news if nothing is known. */
function knowledgeOf(run: Run): 'known' | 'unknown' | 'by-email' {
  switch (countAffected(run)) {
    case 'by e-mail':
      return 'by-email';
    case 'no result':
      return 'unknown';
    default:
      return 'known';
  }
}

interface Column {
  readonly head: string;
  readonly isDate?: true;
  readonly cell: (booking: ListedBooking) => Html;
}

const plain = (value: string | null | undefined) =>
  value === null || value === undefined
    ? html`<span class="faint">unknown</span>`
    : html`${showInLine(value)}`;

function listColumns(name: ListName, bookings: readonly ListedBooking[]): readonly Column[] {
  const hasNames = bookings.some(({ guest }) => guest !== undefined);
  return [
    ...(hasNames ? [{ head: 'Guest', cell: ({ guest }: ListedBooking) => plain(guest) }] : []),
    { head: 'Check-in', isDate: true, cell: ({ checkIn }) => plain(checkIn) },
    { head: 'Check-out', isDate: true, cell: ({ checkOut }) => plain(checkOut) },
    { head: 'Provider', cell: ({ providerName }) => plain(providerName) },
    { head: 'Hotel id', cell: ({ providerHotelId }) => plain(providerHotelId) },
    { head: 'Booked', cell: (one) => renderHotel(one.serviceId, one.bookedHotel) },
    { head: 'In the copy', cell: renderCopy },
    ...(name === 'unanswered' || name === 'posted'
      ? [{ head: 'Why', cell: ({ why }: ListedBooking) => plain(why) }]
      : []),
    { head: 'Case', cell: ({ caseId }) => linkCase(caseId) },
  ];
}

function renderTable(name: ListName, bookings: readonly ListedBooking[]): Html {
  const columns = listColumns(name, bookings);
  return html`<div class="wide" tabindex="0"><table><thead><tr><th scope="col">Reference</th>${columns.map(({ head }) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>${bookings.map(
    (
      booking,
    ) => html`<tr><th scope="row" class="whole">${linkBooking(booking.reference)}</th>${columns.map(({ isDate, cell }) => html`<td${isDate ? html` class="whole"` : undefined}>${cell(booking)}</td>`)}</tr>
`,
  )}</tbody></table></div>`;
}

function renderHotel(serviceId: number, name: string | null | undefined): Html {
  return html`${serviceId}${name ? html` <span class="faint">${showInLine(name)}</span>` : undefined}`;
}

function renderCopy({
  serviceId,
  copyServiceId,
  copy,
  copyHotel,
  distanceKm,
  suspicion,
  movedAt,
}: ListedBooking): Html {
  const moved = movedAt ? html` <span class="faint">moved ${movedAt.slice(0, 10)}</span>` : undefined;
  if (copy === 'never-synced') return html`${neverSynced}`;
  if (copyServiceId === null || copyServiceId === undefined)
    return html`${suspicion === 'moved' ? 'deleted' : 'none'}${moved}`;
  if (copyServiceId === serviceId) return html`the same${moved}`;
  const distance = typeof distanceKm === 'number' ? `, ${formatKilometres(distanceKm)}` : '';
  return html`${renderHotel(copyServiceId, copyHotel)}${distance}${moved}`;
}

function linkCase(caseId: number | null | undefined): Html {
  return typeof caseId === 'number'
    ? html`<a href="/cases/${caseId}">${caseId}</a>`
    : html`<span class="faint">none</span>`;
}
