import { type CaseChoices, nameCheckIn } from '../../cases/shown-cases.js';
import { mappingStates } from '../../ledger/case.js';
import { neverSynced } from '../../mappings/copied-hotels.js';
import { describeDistance, describeHours } from '../../mappings/hotels/shown-hotels.js';
import { formatCount, formatCountOf } from '../../text/format.js';
import { type Html, html } from '../../text/html.js';
import { renderMark } from '../marks.js';
import type { DeskVisit, View } from '../page.js';
import { renderKeyboardHelp, renderPaging, writeAddress } from '../parts.js';
import { nobody } from './case-filter.js';
import type { CasesData } from './cases-page.js';
import { bulkKinds } from './change-kinds.js';
import { type HotelData, nameHotel, showShortened } from './hotel-names.js';

export const casesPerPage = 50;

type CaseData = CasesData['cases'][number];

export function renderCases(data: CasesData, visit: DeskVisit, keptColumns: readonly string[]): View {
  const { cases, filter } = data;
  const mayWork = visit.may('work-cases');
  const labels = visit.may('see-bookings') ? keptColumns : [];
  return {
    title: 'Cases',
    content: html`${renderFilter(data, visit)}
<div class="buttons"><span>${describeRange(data)}</span>
<a class="button quiet" href="${writeAddress('/cases.csv', filter)}">Download as CSV</a>
${renderKeyboardHelp(mayWork ? [...lookKeys, ...workKeys] : lookKeys)}</div>
${
  cases.length === 0
    ? html`<p class="card">No case matches. ${filter.state === null ? html`Cases without an open booking are in <a href="${writeAddress('/cases', { ...filter, state: 'all' })}">all cases</a>.` : undefined}</p>`
    : renderList(data, mayWork, labels)
}
${renderPaging({
  ...{ page: data.page, pages: data.pages, total: formatCountOf(data.total, 'case') },
  linkTo: (page) => writeAddress('/cases', { ...filter, page }),
})}`,
  };
}

const lookKeys = [
  ['/', 'search'],
  ['j', 'next case'],
  ['k', 'previous case'],
  ['Enter', 'open the case'],
] as const;
const workKeys = [
  ['e', 'resolve its bookings'],
  ['x', 'choose the case, for a change of several'],
] as const;

function describeRange({ total, openBookings, page, cases }: CasesData): string {
  if (total === 0) return 'No cases';
  const first = (page - 1) * casesPerPage + 1;
  const range =
    total > cases.length ? `${formatCount(first)} to ${formatCount(first + cases.length - 1)} of ` : '';
  return `${range}${formatCountOf(total, 'case')} with ${formatCountOf(openBookings, 'open booking')}, guests in house first`;
}

function renderFilter({ filter, choices }: CasesData, visit: DeskVisit): Html {
  const { state, provider, country, checkInBefore, day, assignee, text } = filter;
  const search = visit.may('see-bookings') ? 'Hotel or booking' : 'Hotel';
  return html`<form class="search card" method="get" action="/cases" role="search">
<label>${search}<input type="search" name="text" value="${text ?? ''}" maxlength="200" data-search></label>
<label>Mapping<select name="state">${renderOptions(stateChoices, state)}</select></label>
${renderChoice('Provider', 'provider', toChoices(choices.providers), provider)}
${renderChoice('Country', 'country', listCountries(choices), country)}
<label>Check-in before<input type="date" name="checkInBefore" value="${checkInBefore ?? ''}"></label>
<label>Booked on<input type="date" name="day" value="${day ?? ''}"></label>
${renderChoice('Assigned to', 'assignee', [[nobody, 'nobody'], ...toChoices(choices.assignees)], assignee)}
<p class="buttons"><button>Search</button><a href="/cases">Clear</a></p></form>`;
}

type Choice = readonly [value: string, words: string];

const stateChoices: readonly Choice[] = [
  ['', 'with open bookings'],
  ['left', 'with bookings never resolved'],
  ['all', 'all'],
  ...mappingStates.map((state): Choice => [state, state]),
];

/** Nobody would read a longer list. */
const maxChoices = 250;

const toChoices = (names: readonly string[]): Choice[] =>
  names.slice(0, maxChoices).map((name) => [name, showShortened(name, 60)]);

const listCountries = ({ countries }: CaseChoices): Choice[] =>
  countries
    .slice(0, maxChoices)
    .map(({ id, name }) => [
      id,
      id === name ? showShortened(name, 60) : `${showShortened(name, 60)} (${id})`,
    ]);

function renderChoice(label: string, name: string, choices: readonly Choice[], chosen: string | null): Html {
  // A value from a link stays chosen, even if no case has it.
  const isKnown = chosen === null || choices.some(([value]) => value === chosen);
  const all: Choice[] = [
    ['', 'all'],
    ...choices,
    ...(isKnown ? [] : [[chosen, showShortened(chosen, 60)] as const]),
  ];
  return html`<label>${label}<select name="${name}">${renderOptions(all, chosen)}</select></label>`;
}

function renderOptions(choices: readonly Choice[], chosen: string | null): Html[] {
  return choices.map(
    ([value, words]) =>
      html`<option value="${value}"${value === (chosen ?? '') ? html` selected` : undefined}>${words}</option>`,
  );
}

function renderList({ cases, filter }: CasesData, mayWork: boolean, labels: readonly string[]): Html {
  const table = html`<div class="wide" tabindex="0"><table class="cases"><thead><tr>
${mayWork ? html`<th scope="col"><input type="checkbox" aria-label="Choose all cases of this page" data-check-all hidden></th>` : undefined}
<th scope="col">Check-in</th><th scope="col">Booked hotel</th><th scope="col">Now mapped to</th><th scope="col">Mapping</th>
<th scope="col">Provider</th><th scope="col" class="number">Open bookings</th><th scope="col">Assigned to</th>${labels.map(
    (label) => html`<th scope="col">${label}</th>`,
  )}${mayWork ? html`<th scope="col"><span class="hidden">Resolve</span></th>` : undefined}</tr></thead>
<tbody>${cases.map((item) => renderRow(item, mayWork, labels))}</tbody></table></div>`;
  if (!mayWork) return table;
  return html`<form method="get" action="/cases/change">${Object.entries(filter).map(([name, value]) =>
    value === null ? html`` : html`<input type="hidden" name="${name}" value="${value}">`,
  )}${table}
<p class="buttons"><span>With the chosen cases:</span>${Object.entries(bulkKinds).map(
    ([kind, { button }]) => html`<button class="quiet" name="do" value="${kind}">${button}</button>`,
  )}</p></form>`;
}

function renderRow(item: CaseData, mayWork: boolean, labels: readonly string[]): Html {
  const { id, bookedHotel, state, origins, providerName, providerHotelId, openBookings, bookings } = item;
  // On a phone a row is a card, so each cell names its column.
  return html`<tr data-row>${
    mayWork
      ? html`<td class="pick"><input type="checkbox" name="id" value="${id}" aria-label="Choose case ${id}"></td>`
      : undefined
  }<td data-about="Check-in">${renderCheckIn(item)}</td>
<th scope="row"><a href="/cases/${id}" data-open>${nameHotel(bookedHotel, item.serviceId)}</a><br><span class="faint">${listPlace(bookedHotel, `case ${id}`)}</span></th>
<td data-about="Now mapped to">${renderCopy(item)}</td>
<td data-about="Mapping">${renderMark(state)}<br><span class="faint">${origins.join(', ')}</span></td>
<td data-about="Provider">${showShortened(providerName, 60)}<br><span class="faint">${showShortened(providerHotelId, 40)}</span></td>
<td class="number" data-about="Open bookings">${formatCount(openBookings)}<br><span class="faint">of ${formatCount(bookings)}</span></td>
<td data-about="Assigned to">${item.assignee === null ? html`<span class="faint">nobody</span>` : showShortened(item.assignee, 40)}</td>${labels.map(
    (label) => html`<td data-about="${label}">${showShortened(item.kept?.[label] ?? '', 60)}</td>`,
  )}${mayWork ? html`<td><a href="/cases/${id}/resolve" data-resolve aria-label="Resolve bookings of case ${id}">Resolve</a></td>` : undefined}</tr>`;
}

function renderCheckIn(item: CaseData): Html {
  const { firstCheckIn, hasUnknownCheckIn, openBookings, inHouse, leftBookings, hoursToCheckIn } = item;
  if (openBookings === 0)
    return html`<span class="faint">no open booking${leftBookings > 0 ? `, ${formatCount(leftBookings)} left` : ''}</span>`;
  if (inHouse > 0) return html`<strong>${nameCheckIn(item)}</strong>`;
  if (hasUnknownCheckIn)
    return html`unknown${firstCheckIn === null ? undefined : html`<br><span class="faint">others from ${firstCheckIn}</span>`}`;
  const hours =
    hoursToCheckIn === null
      ? undefined
      : html`<br><span class="faint">${describeHours(hoursToCheckIn)}</span>`;
  return html`${firstCheckIn ?? 'unknown'}${hours}`;
}

function renderCopy({ serviceId, copyServiceId, copy, copyHotel, distanceKm }: CaseData): Html {
  if (copy === 'never-synced') return html`${neverSynced}`;
  if (copyServiceId === null) return html`none<br><span class="faint">not mapped any more</span>`;
  if (copyServiceId === serviceId) return html`<span class="faint">the booked hotel</span>`;
  return html`${nameHotel(copyHotel, copyServiceId)}<br><span class="faint">${listPlace(copyHotel, describeDistance(distanceKm ?? undefined))}</span>`;
}

function listPlace(hotel: HotelData | null, more: string): string {
  const { city = null, country = null, countryCode = null } = hotel ?? {};
  return [city, countryCode ?? country, more]
    .filter((part) => part !== null)
    .map((part) => showShortened(part, 60))
    .join(', ');
}
