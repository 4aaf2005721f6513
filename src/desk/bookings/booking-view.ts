import { describeSuspicion, describeVerdict } from '../../cases/shown-bookings.js';
import { neverSynced } from '../../mappings/copied-hotels.js';
import { describeCanary } from '../../review/canary.js';
import { showInLine } from '../../text/foreign-text.js';
import { formatCountOf, formatKilometres, formatLocalInstant } from '../../text/format.js';
import { type Html, html } from '../../text/html.js';
import { linkToMapping, renderMappingHistory } from '../mappings-page.js';
import { renderMark } from '../marks.js';
import type { DeskVisit, View } from '../page.js';
import { type Fact, renderFacts, renderPaging, writeAddress } from '../parts.js';
import type { BookingData, BookingInRun, NameState } from './read-booking.js';

type Visit = Pick<DeskVisit, 'may' | 'timezone'>;

const runsPerPage = 20;

export function renderBookingPage(data: BookingData, visit: Visit, page: number): View {
  const { reference } = data;
  return {
    title: reference === null ? 'Bookings' : `Booking ${showInLine(reference)}`,
    content: html`${renderSearch(data)}
${reference === null ? undefined : renderFound({ ...data, reference }, visit, page)}`,
  };
}

function renderSearch({ reference, answers }: BookingData): Html {
  return html`<form class="search card" action="/bookings" role="search">
<label>Booking reference<input name="reference" value="${reference ?? ''}" maxlength="500" autocomplete="off" spellcheck="false" required></label>
<label class="check"><input type="checkbox" name="answers" value="yes"${answers ? html` checked` : undefined}>
with what the service said</label>
<button>Find</button></form>
<p class="faint">Each search is recorded in the audit trail.</p>`;
}

type Found = BookingData & { readonly reference: string };

function renderFound(data: Found, visit: Visit, page: number): Html {
  const { bookings, canary, reference } = data;
  if (canary)
    return html`<p class="card">${describeCanary(canary, {
      command: (words) => `hotel-review ${words}`,
      timezone: visit.timezone,
    })}. It is no booking; no count and no list has it. <a href="/runs/${encodeURIComponent(canary.runId)}">The run that sent it</a></p>`;
  const [newest] = bookings;
  if (!newest) return renderNone(data);
  const pages = Math.ceil(bookings.length / runsPerPage);
  const shown = bookings.slice((page - 1) * runsPerPage, page * runsPerPage);
  const total = formatCountOf(bookings.length, 'run');
  return html`${renderSummary(newest, reference, visit)}
${renderHotels(newest)}
<h2>Its mapping</h2>
${data.mappings.map((pair) => html`<div class="card">${renderPairLink(pair)}${renderMappingHistory(pair.copied, visit.timezone, newest.copy !== 'never-synced')}</div>`)}
${data.mappings.length === 0 ? html`<p>Unknown: it names no hotel of a provider.</p>` : undefined}
<h2>${total}, the newest first</h2>
${shown.map((booking) => renderRun(booking, visit))}
${renderPaging({
  ...{ page, pages, total },
  linkTo: (to) =>
    writeAddress('/bookings', { reference, answers: data.answers ? 'yes' : undefined, page: to }),
})}`;
}

function renderNone({ reference, isErased }: Found): Html {
  const erased =
    isErased === true
      ? html`<p>Its guest was <strong>erased</strong>: what the ledger knew of this booking is gone.</p>`
      : undefined;
  const unsure =
    isErased === null
      ? html`<p>Whether its guest was erased is unknown: that takes the setting <code>hashKey</code> of that time.</p>`
      : undefined;
  return html`<div class="card"><p><strong>${showInLine(reference)}</strong> is in no run of this ledger.</p>${erased}${unsure}
${erased ? undefined : html`<p class="faint">It may be older than the ledger keeps, without a reference at its source, or not exported. What was rejected stands on the page of its <a href="/">day</a>.</p>`}</div>`;
}

function renderSummary(newest: BookingInRun, reference: string, visit: Visit): Html {
  const fields = newest.booking ?? {};
  const facts: readonly Fact[] = [
    ['Verdict', renderVerdict(newest, visit)],
    ['Guest', renderGuest(newest)],
    ['Stay', renderStay(fields)],
    ['Case', renderCase(newest)],
    ['Last sent', `for ${newest.day}`],
  ];
  return html`<div class="card">${renderFacts(facts)}
${
  visit.may('see-names')
    ? html`<p class="buttons"><a class="button quiet" href="${writeAddress('/bookings/evidence', { reference })}">Download the evidence</a>
<span class="faint">A ZIP with what was sent and what came back, the guest’s name included; the download is recorded.</span></p>`
    : undefined
}</div>`;
}

/** Unknown is never green. (Design 11.) */
function renderVerdict(booking: BookingInRun, { timezone }: Visit): Html {
  const words = describeVerdict(booking, (instant) => formatLocalInstant(instant, timezone));
  switch (booking.verdict) {
    case 'correct':
      return renderMark('good', words);
    case 'incorrect':
      return renderMark('attention', words);
    case 'unknown':
      return renderMark('unfinished', words);
  }
}

function renderGuest({ guest }: BookingInRun): Html | undefined {
  if (guest === null) return undefined;
  const { state, name } = guest;
  const words = explainName(state);
  if (name === null) return html`<span class="faint">${words}</span>`;
  return html`${showInLine(name)}${words && html` <span class="faint">(${words})</span>`}`;
}

function explainName(state: NameState): string | undefined {
  switch (state) {
    case 'shown':
      return undefined;
    case 'masked':
      return 'hidden: your role does not show names';
    case 'left-out':
      return 'left out: this run sends no names';
    case 'removed':
      return 'removed, as the names of all old days are';
    case 'erased':
      return 'erased on request';
    case 'not-given':
      return 'not given by the source';
  }
}

function renderStay({ CheckInDate, CheckOutDate }: Readonly<Record<string, unknown>>): string | undefined {
  if (CheckInDate === undefined && CheckOutDate === undefined) return undefined;
  return `${CheckInDate ?? 'unknown'} to ${CheckOutDate ?? 'unknown'}`;
}

function renderCase({ case: found }: BookingInRun): Html | undefined {
  if (!found) return undefined;
  const state =
    found.bookingState === null ? 'this booking is not in it' : `this booking is ${found.bookingState}`;
  return html`<a href="/cases/${found.id}">Case ${found.id}</a>: its mapping is ${found.state}, ${state}; found by ${found.origins.join(', ')}`;
}

function renderHotels({
  bookedHotel,
  copyHotel,
  copyServiceId,
  copy,
  distanceKm,
  booking,
}: BookingInRun): Html | undefined {
  if (copyServiceId === undefined) return undefined;
  const isSame = copyServiceId === booking?.ServiceId;
  const rows: readonly (readonly [string, unknown, unknown])[] = [
    ['Master hotel', booking?.ServiceId, copyServiceId ?? (copy === 'never-synced' ? neverSynced : 'none')],
    ['Name', bookedHotel?.name, copyHotel?.name],
    ['Address', bookedHotel?.address, copyHotel?.address],
    ['City', bookedHotel?.city, copyHotel?.city],
    ['Country', bookedHotel?.country, copyHotel?.country],
    ['Phone', bookedHotel?.phones, copyHotel?.phones],
    ['Time there', showTime(bookedHotel?.localTime), showTime(copyHotel?.localTime)],
  ];
  const show = (value: unknown) =>
    value === undefined || value === null ? 'unknown' : showInLine(String(value));
  return html`<h2>Its hotel</h2>
<p>${
    copyServiceId === null
      ? copy === 'never-synced'
        ? `What the local copy of the mappings has is ${neverSynced}.`
        : 'The local copy of the mappings has no master hotel for it.'
      : isSame
        ? 'The local copy of the mappings has the same hotel as was booked.'
        : `The local copy of the mappings has another hotel than was booked; how far apart they are: ${distanceKm === null || distanceKm === undefined ? 'unknown' : formatKilometres(distanceKm)}.`
  }</p>
<div class="wide" tabindex="0"><table><thead><tr><td></td><th scope="col">Booked</th>${isSame ? undefined : html`<th scope="col">In the copy now</th>`}</tr></thead><tbody>
${rows.map(
  ([name, booked, copied]) =>
    html`<tr><th scope="row">${name}</th><td>${show(booked)}</td>${isSame ? undefined : html`<td>${copyServiceId === null && name !== 'Master hotel' ? '' : show(copied)}</td>`}</tr>`,
)}
</tbody></table></div>`;
}

/** 2026-11-21T03:30 */
function showTime(localTime: string | null | undefined): string | undefined {
  return localTime?.replace('T', ' ');
}

function renderPairLink({ providerName, providerHotelId }: BookingData['mappings'][number]): Html {
  return html`<h3><a href="${linkToMapping(providerName, providerHotelId)}">${showInLine(providerName)} ${showInLine(providerHotelId)}</a></h3>`;
}

function renderRun(booking: BookingInRun, visit: Visit): Html {
  const { runId, day, state, trigger, runState, rejected, step, fileRow, deliveredAt, posted } = booking;
  const show = (instant: string) => formatLocalInstant(Date.parse(instant), visit.timezone);
  const place = fileRow === null ? (step ?? 'by body') : `row ${fileRow} of the file`;
  const facts: readonly Fact[] = [
    ['Run', html`<a href="/runs/${encodeURIComponent(runId)}">${runId}</a> (${trigger}, ${runState})`],
    ['Not sent', rejected && `${rejected.reason}, at place ${rejected.place} of the source`],
    ['Place', rejected ? undefined : `${place}${posted ? ', by body: it can’t be in the file' : ''}`],
    ['Delivered', rejected ? undefined : deliveredAt === null ? 'not delivered' : show(deliveredAt)],
    ['Verdict', rejected ? undefined : renderVerdict(booking, visit)],
    ['Named by e-mail', booking.namedByEmailAt && show(booking.namedByEmailAt)],
    ['Hotel named by e-mail', booking.mappingNamedByEmailAt && show(booking.mappingNamedByEmailAt)],
    [
      'Local copy',
      booking.suspect && describeSuspicion(booking.suspect, (at) => formatLocalInstant(at, visit.timezone)),
    ],
    ['Case', renderCase(booking)],
    ['Guest', renderGuest(booking)],
    ...Object.entries(booking.booking ?? {})
      .filter(([, value]) => value !== '***')
      .map(([name, value]): Fact => [name, String(value)]),
    ...Object.entries(booking.kept ?? {}).map(([label, value]): Fact => [`${label} (kept, not sent)`, value]),
  ];
  return html`<section class="card"><h3><a href="/days/${encodeURIComponent(day)}">${day}</a>: ${state}</h3>
${renderFacts(facts)}${renderAttempts(booking, show)}</section>
`;
}

function renderAttempts({ attempts }: BookingInRun, show: (instant: string) => string): Html | undefined {
  if (!attempts) return undefined;
  if (attempts.length === 0) return html`<p class="faint">No attempt yet.</p>`;
  return html`<details${attempts.some(({ answer }) => answer !== undefined) ? html` open` : undefined}><summary>${formatCountOf(attempts.length, 'attempt')}</summary>
<div class="wide" tabindex="0"><table><thead><tr><th scope="col">When</th><th scope="col">Step</th><th scope="col" class="number">Attempt</th><th scope="col">Outcome</th><th scope="col">Code</th><th scope="col" class="number">HTTP</th></tr></thead><tbody>
${attempts.map(
  ({ startedAt, step, attempt, outcome, code, httpStatus, answer }) =>
    html`<tr><td>${show(startedAt)}</td><td>${step}</td><td class="number">${attempt}</td><td>${outcome}</td><td>${code}</td><td class="number">${httpStatus ?? ''}</td></tr>
${answer === undefined ? undefined : html`<tr><td colspan="6"><span class="faint">The service said:</span> <q class="answer">${showInLine(answer)}</q></td></tr>`}`,
)}
</tbody></table></div></details>`;
}
