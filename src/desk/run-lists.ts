import * as z from 'zod';
import { showInLine } from '../base/foreign-text.js';
import { formatCount, formatKilometres } from '../base/format.js';
import { type Html, html } from '../base/html.js';
import { guestNameFields } from '../booking/booking.js';
import { describeWhy } from '../cases/booking-history.js';
import type { ReadOnlyLedger } from '../ledger/ledger.js';
import { rejectToJson } from '../ledger/rejects.js';
import { neverSynced } from '../mappings/copied-hotels.js';
import type { ListName } from '../review/lists/listed-lines.js';
import { type ListedBooking, listBookings } from '../review/lists/listing.js';
import { createRunMask } from '../review/stored/stored-line.js';
import type { AuditedAction } from '../rules/action.js';
import { alone, outcomeOfRun } from '../rules/day-outcome.js';
import { explainUnknown } from '../rules/describe-day.js';
import { hasSentNothing, type Run } from '../rules/run.js';
import { outlineBooking } from './day-report.js';
import { pageField } from './fields.js';
import { findShownRun, runInput } from './find-run.js';
import { definePage } from './page.js';
import {
  entriesPerPage,
  renderPages,
  renderTable,
  showDay,
  showMessage,
  toPage,
  writeAddress,
} from './parts.js';

const masked = '***';
const showsValue = (text: string | null) => text !== null && text !== masked;

/** The records of a run that could not be sent: where in the source, why, and the value there. */
const rejectedPage = definePage({
  path: '/runs/:id/rejected',
  permission: 'see-bookings',
  cost: 'expensive',
  input: runInput.extend({ reason: z.string().max(100).optional(), page: pageField }),
  async read({ id, reason, page }, { desk: { ledger }, may }) {
    const run = await findShownRun(ledger, id);
    const reasons = await ledger.rejects.count(run.id);
    const kept = reasons.reduce((sum, one) => sum + one.count, 0);
    const found = reason === undefined ? kept : (reasons.find((one) => one.reason === reason)?.count ?? 0);
    const listed = toListed(run, found, page);
    const skip = (listed.page - 1) * entriesPerPage;
    const rejects = await ledger.rejects.list(run.id, entriesPerPage, { reason, skip });
    // Columns are easily mixed up, so each of them may be a name.
    const show = (text: string | null) => (text === null || may('see-names') ? text : masked);
    return {
      ...listed,
      reason,
      reasons,
      more: Math.max(0, run.counts.rejected - kept),
      rejected: rejects.map(rejectToJson).map(({ reference, value, ...one }) => ({
        ...one,
        reference: show(reference),
        value: show(value),
      })),
    };
  },
  audit: ({ day, runId, rejected }) => ({
    action: 'rejected',
    subject: day,
    details: { run: runId, found: rejected.length },
    revealsNames: rejected.some(({ reference, value }) => showsValue(reference) || showsValue(value)),
  }),
  render({ runId, reason, reasons, more, rejected, ...listed }, { desk: { placeUnit } }) {
    const path = `/runs/${encodeURIComponent(runId)}/rejected`;
    const link = (of: string | undefined, name: string) =>
      html`<li><a href="${writeAddress(path, { reason: of })}"${of === reason ? html` aria-current="true"` : undefined}>${name}</a></li>`;
    const others = more > 0 ? ` ${formatCount(more)} more were counted, but not kept.` : '';
    const empty = reason === undefined ? 'No record of this run was rejected.' : 'No record for this reason.';
    const table = renderTable(
      rejected,
      {
        // Named, so no number: the first column is a heading.
        [`${placeUnit.slice(0, 1).toUpperCase()}${placeUnit.slice(1)}`]: ({ place }) => formatCount(place),
        Reason: (one) => one.reason,
        // Not a link: no name belongs into an address.
        Reference: ({ reference }) => reference ?? '',
        Field: ({ field }) => field ?? '',
        Value: ({ value }) => value ?? '',
      },
      { empty },
    );
    return {
      title: 'Rejected records',
      content: html`${backToRun(runId)}
<p>Records that can't be sent: correct them in the source, and run the day again.${others}</p>
<ul class="plain buttons">${link(undefined, 'All')}${reasons.map((one) => link(one.reason, `${showInLine(one.reason)} (${formatCount(one.count)})`))}</ul>
${renderPages(listed, 'record', (page) => writeAddress(path, { reason, page }))}
${table}`,
    };
  },
});

type Columns = Readonly<Record<string, (booking: ShownBooking) => Html | string | null | undefined>>;

const why: Columns = { Why: (booking) => describeWhy(booking) ?? null };

const bookingLists: Readonly<Record<ListName, ListWords>> = {
  refused: {
    action: 'show',
    title: 'Refused bookings',
    words: 'The service would not take these bookings',
    ifSent: '; all others of their batches were sent without them.',
    empty: 'The service refused no booking of this run.',
    columns: {
      Code: ({ code = '' }) => html`<code>${showInLine(code)}</code>`,
      'What the service said': ({ answer }) =>
        answer === undefined ? html`<span class="faint">not kept</span>` : answer,
      Step: ({ step }) => step,
    },
  },
  unanswered: {
    action: 'affected',
    title: 'Bookings without a verdict',
    words: 'Nothing is known about their mapping, which does not mean that it is correct',
    empty: 'Every booking of the file has its verdict.',
    columns: why,
  },
  posted: {
    action: 'posted',
    title: 'Bookings that went by body',
    titleIfUnsent: 'Bookings that would go by body',
    words: 'They could not be in the file',
    ifSent: ': their verdicts come by e-mail only.',
    empty: 'No booking of this run was kept out of a file.',
    columns: why,
  },
  suspects: {
    action: 'suspects',
    title: 'Suspects',
    words: 'The local copy of the mappings says something else, or nothing, about these bookings',
    ifSent: '. They were sent anyway.',
    empty: 'The local copy of the mappings agrees with every booking of this run.',
  },
  affected: {
    action: 'affected',
    title: 'Affected bookings',
    words: 'The result marks their mapping as incorrect',
    empty: 'The result marks no booking of this run as incorrect.',
  },
};

interface ListWords {
  /** How the audit trail names a look at it. */
  readonly action: AuditedAction;
  readonly title: string;
  readonly titleIfUnsent?: string;
  /** A sentence without its end. */
  readonly words: string;
  /** How that continues, unless nothing of the run was sent. */
  readonly ifSent?: string;
  readonly empty: string;
  /** What this list says besides. */
  readonly columns?: Columns;
}

/** The list behind a count of a run. */
function defineBookingList(name: ListName) {
  const about = bookingLists[name];
  const isRefused = name === 'refused';
  return definePage({
    path: `/runs/:id/${name}`,
    permission: 'see-bookings',
    cost: 'expensive',
    input: runInput.extend({ page: pageField }),
    async read({ id, page }, { desk: { ledger }, now, today, may }) {
      const run = await findShownRun(ledger, id);
      const list = await listBookings(ledger, name, [alone(run)], {
        today,
        clock: () => now,
        // The list of refused bookings is about the service's words.
        withNames: !isRefused && may('see-names'),
      });
      // In the order of the command: guests in house first, then the nearest check-in.
      const listed = toListed(run, list.count, page);
      const from = (listed.page - 1) * entriesPerPage;
      const bookings: ListedBooking[] = [];
      for await (const some of list.read({ from, to: from + entriesPerPage })) bookings.push(...some);
      const hasAnswers = isRefused && run.counts.accepted <= bookingsMasked;
      const answers = hasAnswers ? await readAnswers(ledger, run, bookings) : undefined;
      return {
        ...listed,
        unknown: explainEmpty(name, run, list.count),
        hasAnswers,
        bookings: bookings.map((one) => toShown(one, answers?.get(one.step ?? ''))),
      };
    },
    audit: ({ day, runId, bookings, hasAnswers }) => ({
      action: about.action,
      subject: day,
      details: {
        run: runId,
        found: bookings.length,
        ...(isRefused ? { answers: hasAnswers } : { lists: name }),
      },
      revealsNames: hasAnswers || bookings.some(hasGuest),
    }),
    render({ runId, isSent, unknown, hasAnswers, bookings, ...listed }, { desk: { command } }) {
      const unsent = isSent ? '' : 'Nothing of this run was sent. ';
      const end = (isSent && about.ifSent) || '.';
      const list = html`<p>${unsent}${about.words}${end} Guests in house first, then the nearest check-in.</p>
${isRefused && !hasAnswers ? html`<p>Of a run with more than ${formatCount(bookingsMasked)} bookings, the service's words are shown one by one: <code>${command('show REFERENCE --answers')}</code></p>` : undefined}
${renderPages(listed, 'booking', (page) => `/runs/${encodeURIComponent(runId)}/${name}?page=${page}`)}
${renderBookings(bookings, about)}`;
      return {
        title: (!isSent && about.titleIfUnsent) || about.title,
        content: html`${backToRun(runId)}
${unknown === undefined ? list : html`<p class="wait">${showInLine(showMessage(unknown, command))}</p>`}`,
      };
    },
  });
}

/** Every name of the run is masked in the service's words, which would take a page too long for a larger run. */
const bookingsMasked = 30_000;

/** What the service said last about each step, with guests masked. */
async function readAnswers(ledger: ReadOnlyLedger, run: Run, refused: readonly ListedBooking[]) {
  const names = refused.flatMap(({ step }) => step ?? []);
  const answers = await ledger.steps.listAnswers(run.id, names);
  const texts = answers.flatMap(({ answer }) => answer ?? []);
  const mask = await createRunMask(ledger, run, texts);
  return new Map(answers.map(({ step, answer = '' }) => [step, mask.apply(answer)]));
}

/** An empty list is no good news if nothing is known. */
function explainEmpty(name: ListName, run: Run, count: number): string | undefined {
  if (name === 'suspects' && run.suspects === undefined)
    return 'Unknown: this run was not compared with a copy of the mappings.';
  const isAboutVerdicts = name === 'affected' || (name === 'unanswered' && count === 0);
  return isAboutVerdicts ? explainUnknown(outcomeOfRun(run)) : undefined;
}

/** @param answer what the service said last about its step */
function toShown(booking: ListedBooking, answer: string | undefined) {
  const guest = booking.fields[guestField];
  const shown = guest === undefined ? undefined : String(guest);
  return { ...booking, ...outlineBooking(booking), guest: shown, answer };
}

type ShownBooking = ReturnType<typeof toShown>;

/** What the lists of a run share. */
function toListed(run: Run, count: number, page: number) {
  return { runId: run.id, day: run.day, isSent: !hasSentNothing(run), ...toPage(count, page) };
}

const [guestField = ''] = guestNameFields;

const hasGuest = ({ guest }: ShownBooking) => guest !== undefined;

function renderBookings(bookings: readonly ShownBooking[], { columns, empty }: ListWords): Html {
  const showDate = (date: string | null) => date && html`<span class="whole">${showDay(date)}</span>`;
  return renderTable(
    bookings,
    {
      Reference: ({ reference }) => linkBooking(reference),
      Guest: bookings.some(hasGuest) && (({ guest = null }) => guest),
      'Check-in': ({ checkIn }) => showDate(checkIn),
      'Check-out': ({ checkOut }) => showDate(checkOut),
      Provider: ({ providerName }) => providerName,
      'Hotel id': ({ providerHotelId }) => providerHotelId,
      Booked: ({ serviceId, bookedHotel }) => showHotel(serviceId, bookedHotel),
      'In the copy': showCopy,
      ...columns,
      Case: ({ case: found }) =>
        found ? html`<a href="/cases/${found.id}">${found.id}</a>` : html`<span class="faint">none</span>`,
    },
    { empty },
  );
}

function showHotel(serviceId: number, name: string | null): Html {
  return html`${serviceId}${name ? html` <span class="faint">${showInLine(name)}</span>` : undefined}`;
}

function showCopy({ serviceId, copyServiceId, copy, reason, movedAt, ...hotels }: ShownBooking): Html {
  const moved = movedAt
    ? html` <span class="faint">moved ${showDay(movedAt.slice(0, 10))}</span>`
    : undefined;
  if (copy === 'never-synced') return html`${neverSynced}`;
  if (copyServiceId === null) return html`${reason === 'moved' ? 'deleted' : 'none'}${moved}`;
  if (copyServiceId === serviceId) return html`the same${moved}`;
  const distance = hotels.distanceKm === null ? '' : `, ${formatKilometres(hotels.distanceKm)}`;
  return html`${showHotel(copyServiceId, hotels.copyHotel)}${distance}${moved}`;
}

function backToRun(runId: string): Html {
  return html`<p><a href="/runs/${encodeURIComponent(runId)}">‹ Run ${showInLine(runId)}</a></p>`;
}

/** A reference, linked to everything that is known about it. */
function linkBooking(reference: string | null): Html {
  if (reference === null) return html`<span class="faint">none</span>`;
  const address = writeAddress('/bookings', { reference: reference.toWellFormed() });
  return html`<a href="${address}">${showInLine(reference)}</a>`;
}

/** The lists behind the counts of a run. */
export const runLists = [
  rejectedPage,
  ...(Object.keys(bookingLists) as ListName[]).map((name) => defineBookingList(name)),
];
