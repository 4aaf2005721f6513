import * as z from 'zod';
import { formatCount } from '../base/format.js';
import { type Html, html } from '../base/html.js';
import { describeEntry, referencesNamed, writeReport } from '../cases/case-words.js';
import { readStoredBookings, shownCaseToJson } from '../cases/shown-cases.js';
import { mappingToJson } from '../ledger/mappings.js';
import { type CopiedHotel, neverSynced } from '../mappings/copied-hotels.js';
import { describeDistance, type PairJson } from '../mappings/hotels/shown-hotels.js';
import { type CaseBooking, resolutions } from '../rules/case.js';
import { brief, bulkKinds, describeCheckIn, extraColumns, nameHotel, nobodyYet } from './cases-page.js';
import { caseField, findShownCase } from './change-cases.js';
import { pageField } from './fields.js';
import { hotelFields, linkToMapping, renderMappingHistory } from './mappings-page.js';
import { renderMark } from './marks.js';
import { type DeskVisit, definePage } from './page.js';
import {
  cutPage,
  renderFacts,
  renderPages,
  renderPost,
  renderReasonField,
  renderTable,
  showDay,
  showInstant,
  writeAddress,
} from './parts.js';

const entriesShown = 100;

/** A case is worked on this page: its guests, both hotels, what to tell the service, and who did what. */
export const casePage = definePage({
  path: '/cases/:id',
  permission: 'look',
  cost: 'expensive',
  input: z.object({ id: caseField, page: pageField }),
  json: 'if-asked',
  read: readCase,
  audit({ id, bookings, bookingList }) {
    const names = bookingList.some(({ guests }) => guests !== undefined);
    return {
      action: 'case',
      subject: `case ${id}`,
      details: { found: bookings, ...(names && { names }) },
      revealsNames: names,
    };
  },
  render(data, visit) {
    const mayWork = visit.may('work-cases');
    const linkTo = (page: number) => `/cases/${data.id}?page=${page}`;
    return {
      title: `Case ${data.id}: ${nameHotel(data.bookedHotel, data.serviceId)}`,
      content: html`${renderCaseFacts(data, visit)}
${mayWork && renderActions(data)}
<h2 id="bookings">${describeBookings(data)}</h2>
${mayWork && data.openBookings > 0 ? renderResolving(data, visit) : renderBookings(data, visit)}
${data.pages > 1 && renderPages({ ...data, count: data.bookings }, 'booking', linkTo)}
<h2>The two hotels</h2>
${!data.hasHotels && html`<p>For names and distances of hotels, load the content file of an export: <code>hotel-review hotels load FILE</code></p>`}
${renderHotels(data)}
${mayWork && canBeReported(data) && renderReport(data, visit)}
<h2>The mapping</h2>
${renderMappingHistory(data.mapping, visit.timezone, data.copy !== 'never-synced')}
<h2>History</h2>
${renderHistory(data, visit)}
<p><a href="/cases">All cases</a></p>`,
    };
  },
});

async function readCase(asked: { readonly id: number; readonly page: number }, visit: DeskVisit) {
  const { ledger } = visit.desk;
  const item = await findShownCase(asked.id, visit);
  const { page, pages, shown } = cutPage(item.bookingList, asked.page);
  // Only of the bookings that are shown: each is looked up in the runs of its day.
  const stored = await readStoredBookings(ledger, item, shown, visit.may('see-names'));
  const found = await ledger.mappings.find(item);
  const history = item.history.slice(-entriesShown);
  const report = shownCaseToJson({ ...item, history, bookingList: shown });
  return {
    ...report,
    bookingList: report.bookingList.map((booking) => {
      const { guests = [], isCleared } = stored.get(booking.reference ?? '') ?? {};
      return {
        ...booking,
        ...(guests.length > 0 && { guests }),
        ...(isCleared && booking.state === 'open' && { isCleared }),
      };
    }),
    history: report.history.map((entry) => {
      const references = 'origins' in entry ? listNamed(item.bookingList, Date.parse(entry.at)) : [];
      return { ...entry, ...(references.length > 0 && { references }) };
    }),
    ...{ page, pages },
    /** How many the history has; only the newest are here. */
    entries: item.history.length,
    mapping: found ? mappingToJson(found.mapping, found.moves.slice(-entriesShown)) : null,
    /** Whether the content of hotels was ever loaded. */
    hasHotels: (await ledger.hotels.latestLoad()) !== undefined,
  };
}

/**
 * The bookings that a verdict or an e-mail named when they came to the case; a few are enough for a sentence. The audit trail itself
 * names none.
 */
function listNamed(bookings: readonly CaseBooking[], at: number): string[] {
  const named = bookings.filter(({ isNamed, addedAt }) => isNamed && addedAt === at);
  return named.flatMap(({ reference }) => reference ?? []).slice(0, referencesNamed + 1);
}

type CaseData = Awaited<ReturnType<typeof readCase>>;

function renderCaseFacts(data: CaseData, visit: DeskVisit): Html {
  const { providerName, providerHotelId, state, stateSince, openedAt, origins, move, assignee, note } = data;
  const hotel = `${brief(providerName, 100)} ${brief(providerHotelId, 200)}`;
  const why = `${origins.join(', ')}${move === null ? '' : ` (${move})`}`;
  return html`<div class="card">${renderFacts([
    ['Mapping', html`${renderMark(state)} since ${showInstant(stateSince, visit)}`],
    ['Check-in', describeCheckIn(data).join(', ')],
    ["Provider's hotel", html`<a href="${linkToMapping(providerName, providerHotelId)}">${hotel}</a>`],
    ['Found by', `${why}, opened ${showInstant(openedAt, visit)}`],
    ['Assigned to', assignee ?? nobodyYet],
    ['Note', visit.may('see-bookings') ? (note ?? html`<span class="faint">none</span>`) : undefined],
  ])}
${visit.may('work-cases') && renderAssigning(data, visit)}</div>`;
}

/** Whoever reads this page takes the case with one click. */
function renderAssigning({ id, assignee }: CaseData, visit: DeskVisit): Html {
  const name = assignee ?? visit.visitor.name;
  const fields = html`<p class="buttons"><label>Assign to (nobody, if empty) <input name="assignee" value="${name}" maxlength="100"></label>
<button class="quiet">Assign</button></p>`;
  return renderPost(`/cases/change?do=assign&id=${id}`, visit, fields);
}

/** What has a form on this page is a link to it; the rest has a preview. */
function renderActions(data: CaseData): Html {
  const { id, state, openBookings } = data;
  const link = (kind: keyof typeof bulkKinds) =>
    html`<a class="button quiet" href="/cases/change?do=${kind}&id=${id}">${bulkKinds[kind].button}</a>`;
  return html`<div class="buttons">${openBookings > 0 && html`<a class="button" href="#bookings">Resolve bookings</a>`}
${canBeReported(data) && html`<a class="button quiet" href="#report">Report</a>`}
${link('note')}${state !== 'dismissed' && link('dismiss')}${state !== 'open' && link('reopen')}</div>`;
}

/** For the changes that need no preview, because this page says what they do. */
const noteField = renderReasonField('Note', false);

/** A booking that a verdict cleared is not open, although nobody has resolved it. */
function describeBookings({ bookings, openBookings, bookingList, pages }: CaseData): string {
  // Of a long list, only those of this page are known.
  const cleared = pages > 1 ? 0 : bookingList.filter(({ isCleared }) => isCleared).length;
  const open = `Bookings: ${formatCount(openBookings - cleared)} open`;
  return `${open}${cleared === 0 ? '' : `, ${formatCount(cleared)} cleared,`} of ${formatCount(bookings)}`;
}

const resolutionMeanings: Readonly<Record<(typeof resolutions)[number], string>> = {
  rebooked: 'the guest has another hotel or another booking',
  confirmed: 'the guest can stay where the booking leads',
  cancelled: 'the booking no longer exists',
};

/** The bookings in the form that resolves the chosen ones. */
function renderResolving(data: CaseData, visit: DeskVisit): Html {
  const ways = resolutions.map(
    (as) =>
      html`<label class="option"><input type="radio" name="as" value="${as}" required>${as}: ${resolutionMeanings[as]}</label>`,
  );
  const fields = html`${renderBookings(data, visit)}
<p>A corrected mapping does not help a guest who has booked already. Choose bookings, and say what was done for their guests.</p>
<fieldset class="card"><legend>What was done</legend>${ways}</fieldset>
${noteField}<p class="buttons"><button>Resolve the chosen bookings</button></p>`;
  return renderPost(`/cases/${data.id}/resolve`, visit, fields);
}

function renderBookings({ bookingList, bookings, openBookings }: CaseData, visit: DeskVisit): Html {
  const seesBookings = visit.may('see-bookings');
  return renderTable(
    bookingList,
    {
      Booking: ({ reference, place }) =>
        reference === null
          ? html`<span class="faint">${seesBookings ? `without a reference (#${place})` : `#${place}`}</span>`
          : html`<a href="${writeAddress('/bookings', { reference })}">${brief(reference, 100)}</a>`,
      Guest: visit.may('see-names') && (({ guests }) => (guests ? brief(guests.join(', '), 200) : null)),
      'Check-in': ({ checkIn, state }) => {
        const day = checkIn === null ? 'unknown' : showDay(checkIn);
        // After the stay, the state is no longer open.
        const isInHouse = state === 'open' && checkIn !== null && checkIn < visit.today;
        return isInHouse ? html`<strong>${day}, in house</strong>` : day;
      },
      'Check-out': ({ checkOut }) => (checkOut === null ? 'unknown' : showDay(checkOut)),
      State: ({ state, resolvedAs, isCleared }) =>
        isCleared
          ? renderMark('good', 'cleared: the service found it correct')
          : renderMark(state, resolvedAs),
      'Named by a verdict': ({ isNamed }) => (isNamed ? 'yes' : 'no'),
      ...extraColumns(visit),
      Note: seesBookings && (({ note }) => brief(note ?? '', 200)),
    },
    visit.may('work-cases') && openBookings > 0
      ? {
          choose: {
            name: 'booking',
            label: 'Choose all open bookings of this page',
            value: ({ state, place }) => (state === 'open' ? place : undefined),
            labelOf: ({ reference, place }) =>
              `Choose ${reference === null ? `booking ${place}` : brief(reference, 100)}`,
            isChosen: () => bookings === 1,
          },
        }
      : {},
  );
}

/** A booking's run may know nothing of them. */
type TwoHotels = CopiedHotel & Partial<PairJson> & { readonly serviceId: number };

/** Side by side; without another hotel there is no second column to fill. */
export function renderHotels(hotels: TwoHotels): Html {
  const { serviceId, copyServiceId, bookedHotel = null, copyHotel = null } = hotels;
  const hasOther = copyServiceId !== null && copyServiceId !== serviceId;
  const known = Object.entries(hotelFields).map(([about, read]) => {
    const copy = hasOther ? copyHotel && read(copyHotel) : undefined;
    return [about, bookedHotel && read(bookedHotel), copy] as const;
  });
  const rows = known.filter(([, booked, copy]) => (booked ?? copy ?? null) !== null);
  return renderTable([['ServiceId', String(serviceId), describeCopy(hotels)] as const, ...rows], {
    About: ([about]) => about,
    'Booked hotel': ([, booked]) => booked,
    'Now mapped to': ([, , copy]) => copy,
  });
}

function describeCopy({ serviceId, copyServiceId, copy, distanceKm }: TwoHotels): string {
  if (copy === 'never-synced') return neverSynced;
  if (copyServiceId === null) return 'none: the hotel is not mapped any more';
  if (copyServiceId === serviceId) return 'the booked hotel';
  return `${copyServiceId}, ${describeDistance(distanceKm ?? undefined)}`;
}

/** An escalated case was reported, but not corrected: it may be reported once more. */
const canBeReported = ({ state }: CaseData) => state === 'open' || state === 'escalated';

function renderReport(data: CaseData, visit: DeskVisit): Html {
  const fields = html`<label>Text for the service, to copy<textarea readonly rows="7">${writeReport(data)}</textarea></label>
<p>${bulkKinds.report.meaning}</p>
${noteField}<p class="buttons"><button class="quiet">Mark as reported</button></p>`;
  return html`<h2 id="report">Report to the service</h2>
${renderPost(`/cases/change?do=report&id=${data.id}`, visit, fields)}`;
}

function renderHistory({ history, entries }: CaseData, visit: DeskVisit): Html {
  if (history.length === 0) return html`<p class="empty">Nothing has happened yet.</p>`;
  const earlier = entries - history.length;
  return html`<ol class="plain">${history
    .toReversed()
    .map(
      ({ references, ...entry }) =>
        html`<li><time class="faint" datetime="${entry.at}">${showInstant(entry.at, visit)}</time> ${describeEntry(entry, references, showDay)}</li>`,
    )}</ol>
${earlier > 0 && html`<p class="faint">${earlier === 1 ? '1 earlier entry is' : `${formatCount(earlier)} earlier entries are`} in the audit trail.</p>`}`;
}
