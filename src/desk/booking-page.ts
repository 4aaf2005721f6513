import * as z from 'zod';
import { showInLine } from '../base/foreign-text.js';
import { formatCountOf } from '../base/format.js';
import { type Html, html } from '../base/html.js';
import { UsageError } from '../base/safe-error.js';
import type { ProviderHotel } from '../booking/booking.js';
import { readBooking } from '../booking/stored-line.js';
import {
  describeSuspicion,
  describeVerdict,
  historyToJson,
  readHistories,
  subjectOf,
} from '../cases/booking-history.js';
import { canaryToJson } from '../ledger/canaries.js';
import { createErasedTest, readErasedGuests } from '../ledger/guests.js';
import type { Ledger } from '../ledger/ledger.js';
import { keyOfHotel, mappingToJson } from '../ledger/mappings.js';
import type { Trace } from '../ledger/tracing.js';
import { describeCanary } from '../review/canary.js';
import { readReference } from '../review/stored/stored-line.js';
import { isActiveCase } from '../rules/case.js';
import { tellFinding } from '../rules/finding.js';
import { renderHotels } from './case-page.js';
import { pageField, searchField } from './fields.js';
import { linkToMapping, renderMappingHistory } from './mappings-page.js';
import { renderMark } from './marks.js';
import { type DeskParts, type DeskVisit, defineDownload, definePage } from './page.js';
import {
  cutPage,
  type Fact,
  renderFacts,
  renderPages,
  renderTable,
  showDay,
  showInstant,
  writeAddress,
} from './parts.js';
import { HttpError } from './server/http-error.js';

const runsPerPage = 20;

/** Everything known about one booking. */
export const bookingPage = definePage({
  path: '/bookings',
  permission: 'see-bookings',
  cost: 'expensive',
  input: z.object({ reference: searchField, answers: z.literal('yes').optional(), page: pageField }),
  json: 'if-asked',

  async read({ reference: typed, answers: asked, page }, visit) {
    const answers = asked === 'yes';
    const canary = typed === undefined ? undefined : await visit.desk.ledger.canaries.findByReference(typed);
    const found = typed === undefined || canary ? nothing : await findRuns(typed, answers, visit);
    return {
      reference: typed ?? null,
      ...found,
      ...{ answers, page, canary: canary && canaryToJson(canary, visit.now) },
    };
  },

  audit({ reference, answers, bookings, canary }) {
    if (reference === null || canary) return undefined;
    const names = bookings.some(({ guest }) => guest?.state === 'shown');
    return {
      action: 'show',
      subject: subjectOf(reference, bookings),
      details: { found: bookings.length, answers, names },
      // The service's words may name guests, too.
      revealsNames: answers || names,
    };
  },

  render({ reference, answers, page, canary, isErased, bookings, mappings }, visit) {
    const search = html`<form class="search card" action="/bookings" role="search">
<label>Booking reference<input name="reference" value="${reference ?? ''}" maxlength="500" autocomplete="off" spellcheck="false" required></label>
<label class="option"><input type="checkbox" name="answers" value="yes"${answers && html` checked`}>
with what the service said</label>
<button>Find</button></form>
<p class="faint">Each search is recorded in the audit trail.</p>`;
    if (reference === null) return { title: 'Bookings', content: search };
    const show = (found: Html) => ({
      title: `Booking ${showInLine(reference)}`,
      content: html`${search}
${found}`,
    });
    if (canary)
      return show(
        html`<p class="card">${tellFinding(describeCanary(canary, visit.timezone))}. It is no booking; no count and no list has it. <a href="/runs/${encodeURIComponent(canary.runId)}">The run that sent it</a></p>`,
      );
    const [newest] = bookings;
    if (!newest) return show(renderNone(reference, isErased, visit.desk.unsearched));
    const { shown, ...cut } = cutPage(bookings, page, runsPerPage);
    const linkTo = (to: number) =>
      writeAddress('/bookings', { reference, answers: answers ? 'yes' : undefined, page: to });
    return show(html`${renderAnswer(reference, newest, bookings, visit)}
${renderItsHotel(newest)}
<h2>Its mapping</h2>
${mappings.map(
  ({ providerName, providerHotelId, copied }) =>
    html`<div class="card"><h3><a href="${linkToMapping(providerName, providerHotelId)}">${showInLine(providerName)} ${showInLine(providerHotelId)}</a></h3>${renderMappingHistory(copied, visit.timezone, newest.copy !== 'never-synced')}</div>`,
)}
${mappings.length === 0 && html`<p>Unknown: it names no hotel of a provider.</p>`}
<h2>Its runs, the newest first</h2>
${shown.map((booking) => renderRun(booking, visit))}
${renderPages(cut, 'run', linkTo)}`);
  },
});

/** The ZIP of `evidence`. */
export const evidenceDownload = defineDownload({
  path: '/bookings/evidence',
  // It holds the guest's name.
  permission: 'see-names',
  cost: 'expensive',
  input: z.object({ reference: z.string().min(1).max(500) }),
  contentType: 'application/zip',
  audit: (_, { subject }) => ({ action: 'evidence', subject }),
  async open({ reference }, { desk, signal }) {
    const packed = await desk.packEvidence(reference, signal);
    if (!packed) throw new HttpError(404, 'no run of this ledger has a booking with that reference');
    return { name: `evidence-${reference}.zip`, subject: packed.subject, content: [packed.zip] };
  },
});

/* What the ledger knows. */

const nothing = { isErased: false, bookings: [], mappings: [] };

type History = Awaited<ReturnType<typeof readHistories>>[number];
type Attempt = NonNullable<BookingInRun['attempts']>[number];
type BookingInRun = Awaited<ReturnType<typeof toBookingInRun>>;

/**
 * The ledger finds a reference by its exact letters. Many sources write capitals only, or none, so these are tried too: each
 * costs one more look-up in the index.
 */
const listSpellings = (typed: string) => [...new Set([typed, typed.toUpperCase(), typed.toLowerCase()])];

async function findRuns(typed: string, answers: boolean, { desk, may, now, today }: DeskVisit) {
  const { ledger } = desk;
  const showsGuest = may('see-names');
  for (const reference of listSpellings(typed)) {
    const found = await readHistories(ledger, reference, { answers, showsGuest, today, now });
    if (found.length === 0) continue;
    const bookings = await Promise.all(found.map((one) => toBookingInRun(desk, one, showsGuest)));
    return { reference, isErased: false, bookings, mappings: await readMappings(ledger, found) };
  }
  return { ...nothing, isErased: await findErased(desk, listSpellings(typed)) };
}

/** What `show --json` prints, where it was sent, and the guest. */
async function toBookingInRun(desk: DeskParts, { trace, history }: History, showsGuest: boolean) {
  const { delivery, trigger } = trace.run;
  const delivered = history.attempts?.findLast(({ outcome }) => outcome === 'done');
  return {
    ...historyToJson(history),
    ...{ delivery, trigger },
    /** The number of its row in the file, without the header; null for a booking that went by body. */
    fileRow: trace.kind === 'booking' && trace.stream === 'file' ? trace.position + 1 : null,
    deliveredAt: history.state === 'delivered' ? (delivered?.endedAt ?? null) : null,
    guest: trace.kind === 'booking' ? await readGuest(desk, trace, showsGuest) : null,
  };
}

type BookingTrace = Extract<Trace, { readonly kind: 'booking' }>;

async function readGuest(desk: DeskParts, trace: BookingTrace, showsGuest: boolean) {
  const name = readBooking(trace.line).bookingClientName;
  if (name === undefined) return { state: await explainMissingName(desk, trace), name: null };
  return showsGuest ? { state: 'shown' as const, name } : { state: 'masked' as const, name: null };
}

async function explainMissingName(
  desk: DeskParts,
  { run, line }: BookingTrace,
): Promise<keyof typeof guestStates> {
  if (run.guestNames === 'omit') return 'left-out';
  if (run.linesBlanked || run.namesBlankedAt !== undefined) return 'removed';
  return (await findErased(desk, [readReference(line) ?? ''])) ? 'erased' : 'not-given';
}

/** Whether a guest with such a reference was erased; null without the key that would tell. */
async function findErased({ ledger, hashKey }: DeskParts, references: readonly string[]) {
  try {
    const erased = await readErasedGuests(ledger, hashKey);
    if (!erased) return false;
    const test = createErasedTest(erased);
    return references.some((bookingReferenceId) => test.is({ serviceId: 0, bookingReferenceId }));
  } catch (error) {
    if (error instanceof UsageError) return null;
    throw error;
  }
}

/** Each pair under which it was booked, as the local copy has it. */
async function readMappings({ mappings }: Ledger, found: readonly History[]) {
  const pairs = new Map<string, ProviderHotel>();
  for (const { trace } of found) {
    if (trace.kind === 'reject') continue;
    const { providerName, providerHotelId } = readBooking(trace.line);
    if (providerName === undefined || providerHotelId === undefined) continue;
    pairs.set(keyOfHotel({ providerName, providerHotelId }), { providerName, providerHotelId });
  }
  return Promise.all(
    [...pairs.values()].map(async (pair) => {
      const copied = await mappings.find(pair);
      return { ...pair, copied: copied ? mappingToJson(copied.mapping, copied.moves) : null };
    }),
  );
}

/* The answer. */

function renderNone(reference: string, isErased: boolean | null, unsearched: string | undefined): Html {
  const words = html`<strong>${showInLine(reference)}</strong> is in no run of this ledger.`;
  if (isErased)
    return html`<p class="card">${words} Its guest was <strong>erased</strong>: what the ledger knew of this booking is gone.</p>`;
  const unsure = html`<p>Whether its guest was erased is unknown: that takes the setting <code>hashKey</code> of that time.</p>`;
  return html`<div class="card"><p>${words}</p>${isErased === null ? unsure : undefined}<p>It may be that</p><ul>
<li>the setting <code>source.where</code> leaves it out: the page of its <a href="/">day</a> counts these as filtered,</li>
<li>it was rejected: the page of its day lists these${unsearched !== undefined && `. ${unsearched}`},</li>
<li>the source did not export it, or only without a reference,</li>
<li>it mixes capital and small letters in another way,</li>
<li>or it is older than the ledger keeps.</li></ul></div>`;
}

/** Was it checked, when, with which verdict, and what is open? Then who the guest is. */
function renderAnswer(
  reference: string,
  newest: BookingInRun,
  bookings: readonly BookingInRun[],
  visit: DeskVisit,
): Html {
  const judged = bookings.find(({ verdict }) => verdict !== 'unknown');
  const { CheckInDate: checkIn, CheckOutDate: checkOut } = newest.booking ?? {};
  const show = (day: unknown) => (day === undefined ? 'unknown' : showDay(String(day)));
  return html`<div class="card"><p>${renderCheck(newest, visit)}. ${renderOpen(newest)}</p>
${judged && judged !== newest && html`<p>Before that: ${renderCheck(judged, visit)}.</p>`}
${renderFacts([
  ['Guest', renderGuest(newest)],
  ['Stay', newest.booking && `${show(checkIn)} to ${show(checkOut)}`],
])}
${
  visit.may('see-names') &&
  html`<p class="buttons"><a class="button quiet" href="${writeAddress('/bookings/evidence', { reference })}">Download the evidence</a>
<span class="faint">A ZIP with what was sent and what came back, the guest’s name included; the download is recorded.</span></p>`
}</div>`;
}

function renderCheck(booking: BookingInRun, visit: DeskVisit): Html {
  const { verdict, state, day, runState, deliveredAt, rejected } = booking;
  const of = `for ${showDay(day)}`;
  const isKnown = verdict !== 'unknown';
  if (state === 'delivered' || isKnown) {
    const sent = deliveredAt === null ? of : `on ${showInstant(deliveredAt, visit)} ${of}`;
    return html`${renderVerdict(booking, isKnown ? 'Checked' : 'Sent')}${isKnown ? ': sent' : ''} ${sent}; ${writeVerdict(booking, visit)}`;
  }
  const not = renderVerdict(booking, 'Not checked');
  if (rejected) return html`${not}: the record ${of} was rejected (${showInLine(rejected.reason)})`;
  if (state === 'refused') return html`${not}: the service refused it ${of}`;
  return html`${not}: it was not delivered ${of}; the run is marked ${runState}`;
}

function renderOpen({ verdict, case: found }: BookingInRun): Html {
  if (!found) return html`${verdict === 'correct' ? 'Nothing is open.' : 'It has no case.'}`;
  const { id, state, bookingState } = found;
  // Nobody has to act on a dismissed case, whatever became of its bookings.
  const isUnresolved = bookingState === 'open' || bookingState === 'left';
  const isOpen = state !== 'dismissed' && (isUnresolved || isActiveCase(found));
  if (isOpen) return html`Open: ${renderCase(found)}.`;
  return html`Nothing is open: the mapping of <a href="/cases/${id}">case ${id}</a> is ${state}.`;
}

function renderCase({ id, state, bookingState }: NonNullable<BookingInRun['case']>): Html {
  const inCase = bookingState === null ? 'not in it' : bookingState;
  return html`<a href="/cases/${id}">case ${id}</a>; its mapping is ${state}, this booking is ${inCase}`;
}

function writeVerdict(booking: BookingInRun, visit: DeskVisit): string {
  return describeVerdict(booking, (instant) => showInstant(instant, visit));
}

/** Unknown is never green. */
function renderVerdict({ verdict }: BookingInRun, words: string): Html {
  const marks = { correct: 'good', incorrect: 'attention', unknown: 'unfinished' } as const;
  return renderMark(marks[verdict], words);
}

const guestStates = {
  shown: undefined,
  masked: 'hidden: your role does not show names',
  'left-out': 'left out: this run sends no names',
  removed: 'removed, as the names of all old days are',
  erased: 'erased on request',
  'not-given': 'not given by the source',
};

function renderGuest({ guest }: BookingInRun): Html | undefined {
  if (guest === null) return undefined;
  const { state, name } = guest;
  return html`${name === null ? undefined : showInLine(name)}${guestStates[state] && html`<span class="faint">${guestStates[state]}</span>`}`;
}

/* Where it was booked, and what happened in each run. */

/** Nothing for a record that was rejected: its hotel is unknown. */
function renderItsHotel({ booking = {}, copyServiceId, copy, ...hotels }: BookingInRun): Html | undefined {
  if (copyServiceId === undefined || copy === undefined) return undefined;
  const serviceId = Number(booking.ServiceId);
  return html`<h2>Its hotel</h2>${renderHotels({ ...hotels, serviceId, copyServiceId, copy })}`;
}

function renderRun(booking: BookingInRun, visit: DeskVisit): Html {
  const { runId, day, state, trigger, runState, rejected, step, fileRow, deliveredAt, posted } = booking;
  const { suspect, case: found } = booking;
  const delivered = deliveredAt === null ? 'not delivered' : showInstant(deliveredAt, visit);
  const place = fileRow === null ? (step ?? 'by body') : `row ${fileRow} of the file`;
  const facts: readonly Fact[] = [
    ['Run', html`<a href="/runs/${encodeURIComponent(runId)}">${runId}</a> (${trigger}, ${runState})`],
    ['Not sent', rejected && `${rejected.reason}, at place ${rejected.place} of the source`],
    ['Place', rejected ? undefined : `${place}${posted ? ', by body: it can’t be in the file' : ''}`],
    ['Delivered', rejected ? undefined : delivered],
    ['Verdict', rejected ? undefined : renderVerdict(booking, writeVerdict(booking, visit))],
    ['Local copy', suspect && describeSuspicion(suspect, (at) => showInstant(at, visit))],
    ['Case', found && html`${renderCase(found)}; found by ${found.origins.join(', ')}`],
    ['Guest', renderGuest(booking)],
    ...Object.entries(booking.booking ?? {})
      .filter(([, value]) => value !== '***')
      .map(([name, value]): Fact => [name, String(value)]),
    ...Object.entries(booking.kept ?? {}).map(([label, value]): Fact => [`${label} (kept, not sent)`, value]),
  ];
  return html`<section class="card"><h3><a href="/days/${encodeURIComponent(day)}">${showDay(day)}</a>: ${state}</h3>
${renderFacts(facts)}${renderAttempts(booking, visit)}</section>
`;
}

function renderAttempts({ attempts }: BookingInRun, visit: DeskVisit): Html | undefined {
  if (!attempts) return undefined;
  if (attempts.length === 0) return html`<p class="faint">It was not sent yet.</p>`;
  const isAnswered = attempts.some(({ answer }) => answer !== undefined);
  const columns = {
    When: ({ startedAt }: Attempt) => showInstant(startedAt, visit),
    Step: ({ step }: Attempt) => step,
    Attempt: ({ attempt }: Attempt) => attempt,
    Outcome: ({ outcome }: Attempt) => outcome,
    Code: ({ code }: Attempt) => code,
    HTTP: ({ httpStatus }: Attempt) => httpStatus,
    Process: ({ worker }: Attempt) => worker,
  };
  const note = ({ answer }: Attempt) =>
    answer && html`<span class="faint">The service said:</span> <q>${showInLine(answer)}</q>`;
  return html`<details${isAnswered && html` open`}><summary>${formatCountOf(attempts.length, 'attempt')}</summary>
${renderTable(attempts, columns, { note })}</details>`;
}
