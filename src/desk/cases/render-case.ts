import { nameCheckIn } from '../../cases/shown-cases.js';
import { renderHotelSketch, type SketchedHotel } from '../../charts/hotel-sketch.js';
import { neverSynced } from '../../mappings/copied-hotels.js';
import { describeDistance, describeHours } from '../../mappings/hotels/shown-hotels.js';
import { showInLine } from '../../text/foreign-text.js';
import { formatCount, formatCountOf, formatLocalInstant } from '../../text/format.js';
import { type Html, html } from '../../text/html.js';
import { renderMappingHistory } from '../mappings-page.js';
import { renderMark } from '../marks.js';
import type { DeskVisit, View } from '../page.js';
import { type Fact, renderFacts, renderKeyboardHelp, renderPaging, writeAddress } from '../parts.js';
import type { ShownCaseData } from './case-page.js';
import { bulkKinds } from './change-kinds.js';
import { type HotelData, nameHotel, showShortened } from './hotel-names.js';

export function renderCase(data: ShownCaseData, visit: DeskVisit, keptColumns: readonly string[]): View {
  const { id, bookedHotel, serviceId } = data;
  const mayWork = visit.may('work-cases');
  return {
    title: `Case ${id}: ${nameHotel(bookedHotel, serviceId)}`,
    content: html`${renderCaseFacts(data, visit)}
${mayWork ? renderActions(data) : undefined}
<h2>The two hotels</h2>
${renderHotels(data)}
<h2>The mapping</h2>
${renderMappingHistory(data.mapping, visit.timezone, data.copy !== 'never-synced')}
${renderBookings(data, visit, keptColumns)}
<h2>History</h2>
${renderHistory(data, visit)}
<p><a href="/cases">All cases</a></p>`,
  };
}

function renderCaseFacts(data: ShownCaseData, { timezone, may }: DeskVisit): Html {
  const { providerName, providerHotelId, state, stateSince, openedAt, origins, move, assignee, note } = data;
  const address = writeAddress('/mappings', { provider: providerName, hotel: providerHotelId });
  const instant = (written: string) => formatLocalInstant(Date.parse(written), timezone);
  const facts: readonly Fact[] = [
    ['Mapping', html`${renderMark(state)} since ${instant(stateSince)}`],
    ['Check-in', describeNext(data)],
    [
      "Provider's hotel",
      html`<a href="${address}">${showShortened(providerName, 100)} ${showShortened(providerHotelId, 200)}</a>`,
    ],
    ['Found by', `${origins.join(', ')}${move === null ? '' : ` (${move})`}, opened ${instant(openedAt)}`],
    ['Assigned to', assignee ?? nobody],
    ['Note', may('see-bookings') ? (note ?? none) : undefined],
  ];
  return html`<div class="card">${renderFacts(facts)}</div>`;
}

const nobody = html`<span class="faint">nobody</span>`;
const none = html`<span class="faint">none</span>`;

function describeNext(item: ShownCaseData): string {
  const { openBookings, firstCheckIn, hasUnknownCheckIn, hoursToCheckIn } = item;
  if (openBookings === 0) return 'no open booking';
  if (item.inHouse > 0) return nameCheckIn(item);
  if (hasUnknownCheckIn)
    return `unknown: it might be tomorrow${firstCheckIn === null ? '' : `; others from ${firstCheckIn}`}`;
  const hours = hoursToCheckIn === null ? '' : `, ${describeHours(hoursToCheckIn)}`;
  return `${firstCheckIn ?? 'unknown'}${hours}`;
}

function renderActions({ id, state, openBookings }: ShownCaseData): Html {
  const link = (kind: keyof typeof bulkKinds) =>
    html`<a class="button quiet" href="/cases/change?do=${kind}&id=${id}">${bulkKinds[kind].button}</a>`;
  return html`<div class="buttons">${
    openBookings > 0
      ? html`<a class="button" href="/cases/${id}/resolve" data-resolve>Resolve bookings</a>`
      : undefined
  }${state === 'open' ? link('report') : undefined}${link('assign')}${link('note')}${
    state === 'dismissed' ? undefined : link('dismiss')
  }${state === 'open' ? undefined : link('reopen')}
${renderKeyboardHelp([
  ['e', 'resolve bookings'],
  ['j', 'next booking'],
  ['k', 'previous booking'],
  ['x', 'choose the booking'],
])}</div>`;
}

function renderHotels(data: ShownCaseData): Html {
  const { serviceId, copyServiceId, bookedHotel, copyHotel, distanceKm, hasHotels } = data;
  const isSame = copyServiceId === serviceId;
  const rows = hotelRows.filter(([, read]) => read(bookedHotel) !== null || read(copyHotel) !== null);
  const distance = isSame || copyServiceId === null ? undefined : describeDistance(distanceKm ?? undefined);
  return html`${hasHotels ? undefined : html`<p>For names and distances of hotels, load the content file of an export: <code>hotel-review hotels load FILE</code></p>`}
<div class="hotels"><table class="pair"><thead><tr><td class="corner"></td><th scope="col">Booked hotel</th><th scope="col">Now mapped to</th></tr></thead>
<tbody><tr><th scope="row">ServiceId</th><td>${serviceId}</td><td>${describeCopy(data)}</td></tr>
${rows.map(
  ([label, read]) =>
    html`<tr><th scope="row">${label}</th><td>${show(read(bookedHotel))}</td><td>${isSame ? '' : show(read(copyHotel))}</td></tr>`,
)}</tbody></table>
<div>${distance === undefined ? undefined : html`<p class="distance"><strong>${distance}</strong></p>`}
${isSame ? undefined : renderHotelSketch(toSketched(bookedHotel, serviceId), toSketched(copyHotel, copyServiceId ?? 0))}</div></div>`;
}

function toSketched(hotel: HotelData | null, serviceId: number): SketchedHotel {
  const { latitude = null, longitude = null } = hotel ?? {};
  const place = latitude === null || longitude === null ? undefined : { latitude, longitude };
  return { name: nameHotel(hotel, serviceId), place };
}

function show(text: string | null): Html | string {
  return text === null ? html`<span class="faint">unknown</span>` : showInLine(text);
}

const hotelRows: readonly (readonly [label: string, read: (hotel: HotelData | null) => string | null])[] = [
  ['Name', (hotel) => hotel?.name ?? null],
  ['Address', (hotel) => hotel?.address ?? null],
  ['City', (hotel) => hotel?.city ?? null],
  ['Country', (hotel) => hotel?.country ?? hotel?.countryCode ?? null],
  ['Phone', (hotel) => hotel?.phones ?? null],
  ['E-mail', (hotel) => hotel?.email ?? null],
  ['Website', (hotel) => hotel?.website ?? null],
  ['Time there', (hotel) => hotel?.localTime?.replace('T', ' ') ?? null],
  ['Position', describeCoordinates],
];

function describeCoordinates(hotel: HotelData | null): string | null {
  if (hotel?.latitude == null || hotel.longitude === null) return null;
  return `${hotel.latitude.toFixed(5)}, ${hotel.longitude.toFixed(5)}`;
}

function describeCopy({ copyServiceId, copy, serviceId }: ShownCaseData): string {
  if (copy === 'never-synced') return neverSynced;
  if (copyServiceId === null) return 'none: the hotel is not mapped any more';
  return copyServiceId === serviceId ? 'the booked hotel' : String(copyServiceId);
}

function renderBookings(data: ShownCaseData, visit: DeskVisit, keptColumns: readonly string[]): Html {
  const { id, bookingList, bookings, openBookings, page, pages } = data;
  const [mayWork, seesBookings] = [visit.may('work-cases'), visit.may('see-bookings')];
  const labels = seesBookings ? keptColumns : [];
  const table = html`<div class="wide" tabindex="0"><table><thead><tr>${mayWork ? html`<th scope="col"><input type="checkbox" aria-label="Choose all open bookings of this page" data-check-all hidden></th>` : undefined}
<th scope="col">Booking</th><th scope="col">Check-in</th><th scope="col">Check-out</th><th scope="col">State</th><th scope="col">Named by a verdict</th>${labels.map(
    (label) => html`<th scope="col">${label}</th>`,
  )}${seesBookings ? html`<th scope="col">Note</th>` : undefined}</tr></thead>
<tbody>${bookingList.map((booking) => renderBooking(booking, { mayWork, seesBookings, labels }))}</tbody></table></div>`;
  return html`<h2>Bookings: ${formatCount(openBookings)} open of ${formatCount(bookings)}</h2>
${mayWork && openBookings > 0 ? html`<form method="get" action="/cases/${id}/resolve">${table}<p class="buttons"><button class="quiet">Resolve the chosen bookings</button></p></form>` : table}
${renderPaging({
  ...{ page, pages, total: formatCountOf(bookings, 'booking') },
  linkTo: (to) => `/cases/${id}?page=${to}`,
})}`;
}

interface Shown {
  readonly mayWork: boolean;
  readonly seesBookings: boolean;
  readonly labels: readonly string[];
}

function renderBooking(
  booking: ShownCaseData['bookingList'][number],
  { mayWork, seesBookings, labels }: Shown,
): Html {
  const { place, reference, checkIn, checkOut, state, resolvedAs, isNamed, note } = booking;
  const name = reference ?? `booking ${place}`;
  return html`<tr data-row>${
    mayWork
      ? html`<td>${state === 'open' ? html`<input type="checkbox" name="booking" value="${place}" aria-label="Choose ${name}">` : undefined}</td>`
      : undefined
  }<th scope="row">${
    reference === null
      ? html`<span class="faint">${seesBookings ? `without a reference (#${place})` : `#${place}`}</span>`
      : html`<a href="${writeAddress('/bookings', { reference })}" data-open>${showShortened(reference, 100)}</a>`
  }</th><td>${checkIn ?? 'unknown'}</td><td>${checkOut ?? 'unknown'}</td><td>${renderMark(state, resolvedAs)}</td><td>${isNamed ? 'yes' : 'no'}</td>${labels.map(
    (label) => html`<td>${showShortened(booking.kept?.[label] ?? '', 100)}</td>`,
  )}${seesBookings ? html`<td>${showShortened(note ?? '', 200)}</td>` : undefined}</tr>`;
}

function renderHistory({ history, entries }: ShownCaseData, { timezone }: DeskVisit): Html {
  if (history.length === 0) return html`<p class="faint">Nothing yet.</p>`;
  const earlier = entries - history.length;
  return html`<div class="wide" tabindex="0"><table><thead><tr><th scope="col">When</th><th scope="col">Who</th><th scope="col">What</th></tr></thead>
<tbody>${history
    .toReversed()
    .map(
      ({ at, who, action, ...details }) =>
        html`<tr><td>${formatLocalInstant(Date.parse(at), timezone)}</td><td>${showShortened(who, 100)}</td><td>${action.replace(/^case-/, '')}${describeDetails(details)}</td></tr>`,
    )}</tbody></table></div>
${earlier > 0 ? html`<p class="faint">${formatCountOf(earlier, 'earlier entry').replace('entrys', 'entries')} in the audit trail.</p>` : undefined}`;
}

function describeDetails(details: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(details).map(
    ([name, value]) => `${name} ${showShortened(String(value), 100)}`,
  );
  return parts.length === 0 ? '' : `: ${parts.join(', ')}`;
}
