import * as z from 'zod';
import { renderCsv, renderRecords } from '../base/csv-cells.js';
import { yieldIfDue } from '../base/event-loop.js';
import { showInLine } from '../base/foreign-text.js';
import { formatCount, formatCountOf, shorten } from '../base/format.js';
import { type Html, html } from '../base/html.js';
import { describeInHouse } from '../booking/stay.js';
import type { CaseRequest } from '../cases/case-requests.js';
import { caseToCells, caseToJson, listCaseColumns, searchCases, withExtra } from '../cases/shown-cases.js';
import { neverSynced } from '../mappings/copied-hotels.js';
import { describeDistance, describeHours, type PairJson } from '../mappings/hotels/shown-hotels.js';
import { mappingStates } from '../rules/case.js';
import { choiceField, optionalDayField, pageField, searchField } from './fields.js';
import { renderMark } from './marks.js';
import { type DeskVisit, defineDownload, definePage } from './page.js';
import {
  type Choices,
  cutPage,
  renderPages,
  renderSelect,
  renderTable,
  showDay,
  writeAddress,
} from './parts.js';
import { see } from './see.js';

const casesPerPage = 50;
/** Others get their turn in between. */
const casesWrittenAtOnce = 50;
/** In place of a name: only unassigned cases. */
const nobody = '-';

/** The fields of the query that select cases, so that links can be shared. */
export const filterSchema = z.object({
  /** Of the mapping, or `left`: every case with a booking that was never resolved. Without one: every case with an open booking. */
  state: choiceField(['left', 'all', ...mappingStates]),
  provider: searchField,
  /** The code or, without one, the name of a country of one of the two hotels. */
  country: searchField,
  /** Only cases with an open booking whose check-in is before this day, or unknown. */
  checkInBefore: optionalDayField,
  /** Only cases with an open booking of this business day. */
  day: optionalDayField,
  /** A name, or `nobody`. */
  assignee: searchField,
  /** A part of a hotel's name or of the provider's hotel id; for those who may see bookings also a booking's reference. */
  text: searchField,
});
type Filter = z.output<typeof filterSchema>;

/** The list of cases, guests in house first. */
export const casesPage = definePage({
  path: '/cases',
  permission: 'look',
  cost: 'expensive',
  input: filterSchema.extend({ page: pageField }),
  json: 'if-asked',
  read: readCases,
  // Extra columns come from the most urgent booking; without them, the list reveals no single booking.
  audit: ({ cases, total, filter }) =>
    cases.some(({ kept }) => kept)
      ? { action: 'cases', details: { found: total, state: filter.state ?? undefined }, revealsNames: false }
      : undefined,
  render(data, visit) {
    const { cases, total, openBookings, pages, filter } = data;
    const linkTo = (page: number) => writeAddress('/cases', { ...filter, page });
    return {
      title: 'Cases',
      content: html`${renderFilter(data, visit)}
<div class="buttons"><span>${formatCountOf(total, 'case')} with ${formatCountOf(openBookings, 'open booking')}, guests in house first</span>
<a class="button quiet" href="${writeAddress('/cases.csv', filter)}">Download as CSV</a></div>
${visit.may('work-cases') && cases.length > 0 ? renderChoosing(data, visit) : renderList(data, visit)}
${pages > 1 && renderPages({ ...data, count: total }, 'case', linkTo)}`,
    };
  },
});

/** The list as `cases --csv` writes it. Without the permission see-bookings, it has no notes and no extra columns. */
export const casesDownload = defineDownload({
  path: '/cases.csv',
  permission: 'look',
  cost: 'expensive',
  input: filterSchema,
  contentType: 'text/csv; charset=utf-8',
  audit: ({ state }, { records }) => ({ action: 'cases', details: { found: records, state, csv: true } }),
  async open(filter, visit) {
    const { desk, today } = visit;
    const { cases } = await search(filter, visit);
    const labels = labelsFor(visit);
    const columns = listCaseColumns(labels);
    const content = [renderCsv(columns, [])];
    for (let from = 0; from < cases.length; from += casesWrittenAtOnce) {
      const some = cases.slice(from, from + casesWrittenAtOnce);
      const shown = see(await withExtra(desk.ledger, some, labels, today), visit);
      content.push(Buffer.from(renderRecords(shown.map(caseToCells), { columns })));
      await yieldIfDue(visit.signal);
    }
    return { name: `cases-${today}.csv`, records: cases.length, content };
  },
});

async function readCases({ page: asked, ...filter }: Filter & { readonly page: number }, visit: DeskVisit) {
  const { desk, today } = visit;
  const { cases, choices } = await search(filter, visit);
  const { page, pages, shown } = cutPage(cases, asked, casesPerPage);
  const listed = await withExtra(desk.ledger, shown, labelsFor(visit), today);
  const { state = null, provider = null, country = null, checkInBefore = null } = filter;
  const { day = null, assignee = null, text = null } = filter;
  return {
    /** Guests in house first, then the nearest check-in. */
    cases: listed.map((item) => ({ ...caseToJson(item), firstCheckOut: item.firstCheckOut ?? null })),
    /** On all pages. */
    total: cases.length,
    openBookings: cases.reduce((sum, { openBookings }) => sum + openBookings, 0),
    ...{ page, pages, choices },
    filter: { state, provider, country, checkInBefore, day, assignee, text },
  };
}

type CasesData = Awaited<ReturnType<typeof readCases>>;
type CaseData = CasesData['cases'][number];

function search({ assignee, state, ...filter }: Filter, { desk, today, now, may }: DeskVisit) {
  const chosen = state === 'left' ? { left: true } : { state };
  const asked = { ...filter, ...chosen, today, assignee: assignee === nobody ? null : assignee };
  return searchCases(desk.ledger, { ...asked, findsReferences: may('see-bookings') }, now);
}

/** The extra columns that this visitor may see. */
export function labelsFor({ desk, may }: DeskVisit): readonly string[] {
  return may('see-bookings') ? desk.extraColumns : [];
}

function renderFilter({ filter, choices }: CasesData, visit: DeskVisit): Html {
  const { state, provider, country, checkInBefore, day, assignee, text } = filter;
  const search = visit.may('see-bookings') ? 'Hotel or booking' : 'Hotel';
  const countries = choices.countries.map(
    ({ id, name }) => [id, id === name ? id : `${name} (${id})`] as const,
  );
  return html`<form class="search card" method="get" action="/cases" role="search">
<label>${search}<input type="search" name="text" value="${text ?? ''}" maxlength="200"></label>
${renderSelect('Mapping', 'state', stateChoices, state ?? '')}
${renderChoice('Provider', 'provider', choices.providers, provider)}
${renderChoice('Country', 'country', countries, country)}
<label>Check-in before<input type="date" name="checkInBefore" value="${checkInBefore ?? ''}"></label>
<label>Booked on<input type="date" name="day" value="${day ?? ''}"></label>
${renderChoice('Assigned to', 'assignee', [[nobody, 'nobody'], ...choices.assignees], assignee)}
<p class="buttons"><button>Search</button><a href="/cases">Clear</a></p></form>`;
}

const stateChoices: Choices = [
  ['', 'with open bookings'],
  ['left', 'with bookings never resolved'],
  ['all', 'all'],
  ...mappingStates,
];

/** Nobody would read a longer list. */
const maxChoices = 250;

function renderChoice(label: string, name: string, choices: Choices, chosen: string | null): Html {
  const some = choices.slice(0, maxChoices);
  // A value from a link stays chosen, even if no case has it.
  const isKnown = some.some((choice) => [choice].flat()[0] === chosen);
  const all = [['', 'all'] as const, ...some, ...(isKnown || chosen === null ? [] : [chosen])];
  return renderSelect(label, name, all, chosen ?? '');
}

/** A change to the mapping of cases; bookings are resolved case by case. */
export type BulkKind = Exclude<CaseRequest['kind'], 'resolve'>;

/**
 * The words on the button that leads to the preview, what the change means, what the message says was done (`3 cases are
 * reported`), and what to write where a note is needed.
 */
export const bulkKinds: Readonly<
  Record<BulkKind, { button: string; meaning: string; done: string; needsNote?: string }>
> = {
  report: {
    button: 'Report',
    meaning:
      'Marks the mapping as reported to the service: report it there first. If a sync does not show its correction in time, the case is escalated.',
    done: 'reported',
  },
  assign: { button: 'Assign', meaning: 'Says who takes care of it.', done: 'assigned' },
  note: {
    button: 'Note',
    meaning: 'Replaces the note of the case.',
    done: 'noted',
    needsNote: 'write the note',
  },
  dismiss: {
    button: 'Dismiss',
    meaning: 'Says that the mapping is right after all. Only new evidence opens the case again.',
    done: 'dismissed',
    needsNote: 'say why the mapping is right after all',
  },
  reopen: {
    button: 'Reopen',
    meaning: 'Says that somebody has to act on the mapping again.',
    done: 'open again',
  },
};

/** The list in a form that changes the chosen cases. It takes filter and page along, to lead back to them. */
function renderChoosing(data: CasesData, visit: DeskVisit): Html {
  const kept = Object.entries({ ...data.filter, page: data.page });
  return html`<form method="get" action="/cases/change">${kept.map(([name, value]) =>
    value === null ? html`` : html`<input type="hidden" name="${name}" value="${value}">`,
  )}${renderList(data, visit)}
<p class="buttons"><span>With the chosen cases:</span>${Object.entries(bulkKinds).map(
    ([kind, { button }]) => html`<button class="quiet" name="do" value="${kind}">${button}</button>`,
  )}</p></form>`;
}

function renderList({ cases, filter }: CasesData, visit: DeskVisit): Html {
  const mayWork = visit.may('work-cases');
  const allCases = writeAddress('/cases', { ...filter, state: 'all' });
  return renderTable(
    cases,
    {
      'Booked hotel': ({ id, bookedHotel, serviceId }) =>
        html`<a href="/cases/${id}">${nameHotel(bookedHotel, serviceId)}</a><br><span class="faint">${listPlace(bookedHotel)}</span>`,
      Case: ({ id }) => String(id),
      'Check-in': renderCheckIn,
      'Check-out': renderCheckOut,
      'Now mapped to': renderCopy,
      Mapping: ({ state, origins }) =>
        html`${renderMark(state)}<br><span class="faint">${origins.join(', ')}</span>`,
      Provider: ({ providerName, providerHotelId }) =>
        html`${brief(providerName, 60)}<br><span class="faint">${brief(providerHotelId, 40)}</span>`,
      'Open bookings': ({ id, openBookings, bookings }) =>
        html`<a href="/cases/${id}#bookings">${formatCount(openBookings)}</a> <span class="faint">of ${formatCount(bookings)}</span>`,
      'Assigned to': ({ assignee }) => (assignee === null ? nobodyYet : brief(assignee, 40)),
      ...extraColumns(visit),
    },
    {
      empty: html`No case matches.${filter.state === null && html` Cases without an open booking are in <a href="${allCases}">all cases</a>.`}`,
      ...(mayWork && {
        choose: {
          name: 'id',
          label: 'Choose all cases of this page',
          value: ({ id }) => id,
          labelOf: ({ id }) => `Choose case ${id}`,
        },
      }),
    },
  );
}

export const nobodyYet = html`<span class="faint">nobody</span>`;

function renderCheckIn(item: CaseData): Html {
  const [when, ...remarks] = describeCheckIn(item);
  const shown = item.inHouse > 0 ? html`<strong>${when}</strong>` : html`${when}`;
  return html`${shown}${remarks.map((remark) => html`<br><span class="faint">${remark}</span>`)}`;
}

/** When the next guest needs help, and what else is known about that. */
export function describeCheckIn(item: ReturnType<typeof caseToJson>): readonly [string, ...string[]] {
  const { openBookings, leftBookings, firstCheckIn, inHouseUntil, hoursToCheckIn } = item;
  if (openBookings === 0)
    return ['no open booking', ...(leftBookings > 0 ? [`${formatCount(leftBookings)} left`] : [])];
  const first = firstCheckIn === null ? 'an unknown day' : showDay(firstCheckIn);
  if (item.inHouse > 0) return [describeInHouse(first, inHouseUntil && showDay(inHouseUntil))];
  if (item.hasUnknownCheckIn)
    return ['unknown: it might be tomorrow', ...(firstCheckIn === null ? [] : [`others from ${first}`])];
  return [first, ...(hoursToCheckIn === null ? [] : [describeHours(hoursToCheckIn)])];
}

/** Of the last guest in house or, without one, of the next to arrive. */
function renderCheckOut({ openBookings, inHouse, inHouseUntil, firstCheckOut }: CaseData): string | null {
  if (openBookings === 0) return '';
  const day = inHouse > 0 ? inHouseUntil : firstCheckOut;
  return day === null ? null : showDay(day);
}

function renderCopy({ serviceId, copyServiceId, copy, copyHotel, distanceKm }: CaseData): Html {
  if (copy === 'never-synced') return html`${neverSynced}`;
  if (copyServiceId === null) return html`none<br><span class="faint">not mapped any more</span>`;
  if (copyServiceId === serviceId) return html`<span class="faint">the booked hotel</span>`;
  return html`${nameHotel(copyHotel, copyServiceId)}<br><span class="faint">${listPlace(copyHotel, describeDistance(distanceKm ?? undefined))}</span>`;
}

type HotelData = NonNullable<PairJson['bookedHotel']>;

function listPlace(hotel: HotelData | null, more: string | null = null): string {
  const { city = null, country = null, countryCode = null } = hotel ?? {};
  return [city, countryCode ?? country, more]
    .filter((part) => part !== null)
    .map((part) => brief(part, 60))
    .join(', ');
}

/** Its name or, if the content is not known, its id. */
export function nameHotel(hotel: HotelData | null, serviceId: number): string {
  return hotel?.name == null ? `hotel ${serviceId}` : brief(hotel.name, 80);
}

/** These texts come from elsewhere: one row must not fill a page. */
export function brief(text: string, most: number): string {
  return showInLine(shorten(text, most));
}

/** A column for each label. The space after it is not shown: a label never replaces a column of ours, and a number keeps its place. */
export function extraColumns(visit: DeskVisit) {
  type Shown = { readonly kept?: Readonly<Record<string, string>> };
  return Object.fromEntries(
    labelsFor(visit).map((label) => [`${label} `, ({ kept }: Shown) => brief(kept?.[label] ?? '', 100)]),
  );
}
