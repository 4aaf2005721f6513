import * as z from 'zod';
import { reportsFolder } from '../archive/archive.js';
import { businessDayAt, createBusinessDay } from '../booking/business-day.js';
import { findCases, nameCheckIn } from '../cases/shown-cases.js';
import { judgeCanary } from '../ledger/canaries.js';
import { type Notice, nobodyIsTold } from '../ledger/notice.js';
import { isActive, type Run } from '../ledger/run.js';
import { describeNotice } from '../notifications/describe-notice.js';
import { describeIncomparable } from '../review/collect/delivered-lines.js';
import { judgeDay } from '../review/day/good-day.js';
import { readReport, reportsDrop } from '../review/day/report.js';
import { countAffected, type DayVerdicts, summariseVerdicts } from '../review/verdicts/day-verdicts.js';
import { answerWithin } from '../server/deadline.js';
import { HttpError } from '../server/http-error.js';
import { showInLine } from '../text/foreign-text.js';
import { formatCount, formatCountOf, formatDuration } from '../text/format.js';
import { type Html, html } from '../text/html.js';
import { readArchived } from './archived-file.js';
import { listActionsAfter, renderButtons, withoutRefused } from './day-actions.js';
import { outlineCase, readIdle } from './day-report.js';
import { dayField, pageField } from './fields.js';
import { type DayMark, type Mark, markOfRun, renderMark, renderSeverity } from './marks.js';
import { type DeskVisit, defineDownload, definePage } from './page.js';
import {
  entriesBefore,
  entriesPerPage,
  renderPages,
  renderTable,
  showDay,
  showInstant,
  toPage,
} from './parts.js';

const runsRead = 1_000;
const casesShown = 20;
const noticesShown = 50;
/** How long the page waits for the archive. */
const archiveMs = 1_000;
const refreshSeconds = 30;

/** A day: how it went, what its bookings need, its runs, and what to do about it. */
export const dayPage = definePage({
  path: '/days/:day',
  permission: 'look',
  input: z.object({ day: dayField, page: pageField }),
  json: 'usually',
  read: readDay,
  render: (data, visit) => ({
    title: `Day ${showDay(data.day)}`,
    content: renderDay(data, visit),
    ...(data.runs.some(isActive) && { refreshSeconds }),
  }),
});

/** The page of a day as it was when a run of it ended. It names no booking and no guest. */
export const reportDownload = defineDownload({
  path: '/days/:day/reports/:name',
  permission: 'look',
  input: z.object({ day: dayField, name: z.string() }),
  contentType: 'text/html; charset=utf-8',
  async open({ day, name }, { desk: { archive } }) {
    const isKept = (await archive.list(reportsFolder, day)).includes(name);
    if (!isKept || !name.endsWith('.html')) throw new HttpError(404, 'no such report is in the archive');
    return { name: `${day}-${name}`, content: readArchived(archive, [reportsFolder, day, name]) };
  },
});

async function readDay({ day, page }: { readonly day: string; readonly page: number }, visit: DeskVisit) {
  const { desk, now, timezone, today } = visit;
  const { ledger, command } = desk;
  const [runs, found, counted, problems, notices, reports] = await Promise.all([
    ledger.runs.list({ day, limit: runsRead }),
    findCases(ledger, { day, today }, now),
    ledger.cases.countOfDay(day, today),
    ledger.notices.listProblems(),
    ledger.notices.listOfDay(day, noticesShown),
    listReports(day, visit),
  ]);
  const report = (run: Run) => readReport(ledger, run, { now, timezone });
  const verdicts = summariseVerdicts(day, runs);
  const judged = await judge(verdicts, runs, visit);
  // Dismissed ones need no action.
  const open = found.filter(({ state }) => state !== 'dismissed');
  const toWords = (one: Notice) => ({
    ...{ event: one.event, stage: one.stage, severity: one.severity },
    title: describeNotice(one, { checkInsToday: 0, command }).title,
    raisedAt: new Date(one.raisedAt).toISOString(),
  });
  const { previous, next } = createBusinessDay(day, timezone);
  const shown = runs.slice(entriesBefore(page), entriesBefore(page) + entriesPerPage);
  return {
    day,
    ...judged.all,
    signs: {
      run: judged.ofRun,
      /** Null if nothing of the day is known. */
      bookings: judgeBookings(counted, open.length, verdicts),
    },
    previous: day > '0001-01-01' ? previous().iso : null,
    /** Today has no next day: nothing can have happened there. */
    next: day < today ? next().iso : null,
    /** Newest first. */
    runs: await Promise.all(shown.map(report)),
    idleMs: await readIdle(ledger, shown),
    ...toPage(runs.length, page),
    /** With an open booking of that day, guests in house first. */
    cases: {
      count: open.length,
      first: open.slice(0, casesShown).map((one) => {
        const { copyServiceId, copy, copyHotel, distanceKm, leftBookings, ...outline } = outlineCase(one);
        return outline;
      }),
    },
    /** Those that last. */
    problems: problems.filter((one) => one.day === day).map(toWords),
    /** All that was raised about the day, the newest first. */
    notices: notices.map(toWords),
    /** The pages of the day that were kept when a run of it ended; null while the archive does not answer. */
    reports,
    /** What this visitor can do about the day, most helpful first. */
    actions: day <= today ? await listActions(runs, visit) : [],
  };
}

type DayData = Awaited<ReturnType<typeof readDay>>;

interface Judged {
  readonly judgement: DayMark;
  readonly headline: string;
}

/** How the day went in all, and how its run went whatever the bookings turned out to need: that is another sign. */
async function judge(
  verdicts: DayVerdicts,
  runs: readonly Run[],
  visit: DeskVisit,
): Promise<{ readonly all: Judged; readonly ofRun: { readonly mark: Mark; readonly text: string } }> {
  const { ledger } = visit.desk;
  const { day, affected } = verdicts;
  if (runs.length === 0) {
    const all = await judgeWithoutRun(day, visit);
    return { all, ofRun: { mark: all.judgement, text: all.headline } };
  }
  const [canary] = await ledger.canaries.list({ day, limit: 1 });
  const facts = { timezone: visit.timezone, canary: canary && judgeCanary(canary, visit.now) };
  const all = judgeDay(verdicts, facts);
  const apart = affected ? judgeDay({ ...verdicts, affected: 0 }, facts) : all;
  const ofRun =
    affected && apart.judgement === 'good'
      ? { mark: 'succeeded' as const, text: 'The day is complete, and each booking has a verdict.' }
      : { mark: apart.judgement, text: apart.headline };
  return { all, ofRun };
}

async function judgeWithoutRun(day: string, { desk, now, today, timezone }: DeskVisit): Promise<Judged> {
  if (day > today) return { judgement: 'not-due', headline: 'This day has not begun.' };
  if (day === today) return { judgement: 'not-due', headline: 'This day is not over, and has no run yet.' };
  const { firstDay } = await desk.ledger.runs.summarise(businessDayAt(new Date(now), timezone));
  if (firstDay === undefined || day < firstDay)
    return { judgement: 'not-due', headline: 'No run: the reviews began later.' };
  return { judgement: 'missing', headline: 'No run: nothing of this day was reviewed.' };
}

/** What the bookings of the day still need: calm once all are resolved. */
function judgeBookings(
  { open, left, resolved }: { readonly open: number; readonly left: number; readonly resolved: number },
  cases: number,
  { affected, knowledge }: DayVerdicts,
): { readonly mark: Mark; readonly words: string; readonly text: string } | null {
  const found = affected ? `${formatCountOf(affected, 'booking')} on an incorrect mapping. ` : '';
  const inCases = [
    ...(open > 0 ? [`${formatCount(open)} open in ${formatCountOf(cases, 'case')}`] : []),
    ...(left > 0 ? [`${formatCount(left)} never resolved before the guests left`] : []),
    ...(resolved > 0 ? [`${formatCount(resolved)} resolved`] : []),
  ];
  if (inCases.length === 0 && knowledge === 'no-run') return null;
  if (inCases.length === 0)
    return {
      mark: affected === 0 ? 'good' : 'not-due',
      words: 'nothing open',
      text: `${found}None of its bookings is in a case.`,
    };
  const text = `${found}Of its bookings in cases: ${inCases.join(', ')}.`;
  if (open > 0) return { mark: 'open', words: 'bookings open', text };
  return left > 0
    ? { mark: 'left', words: 'bookings left', text }
    : { mark: 'resolved', words: 'all resolved', text };
}

async function listActions(runs: readonly Run[], { desk: { ledger }, may, now, timezone }: DeskVisit) {
  const [newest] = runs;
  if (!may('operate')) return [];
  return withoutRefused(listActionsAfter(newest && (await readReport(ledger, newest, { now, timezone }))), {
    isComparable: describeIncomparable(runs) === undefined,
    isPerformed: newest !== undefined && isActive(newest) && (await ledger.steps.isBeingPerformed(newest.id)),
  });
}

/** Null while the archive does not answer. */
async function listReports(day: string, { desk: { archive } }: DeskVisit): Promise<string[] | null> {
  try {
    const names = await answerWithin(archiveMs, archive.list(reportsFolder, day));
    return names.filter((name) => name.endsWith('.html'));
  } catch {
    return null;
  }
}

function renderDay(data: DayData, visit: DeskVisit): Html {
  const { problems, notices } = data;
  const { run, bookings } = data.signs;
  const hasChannels = visit.desk.operations.channels.length > 0;
  return html`${renderNeighbours(data)}
<section class="card"><p class="headline">${renderMark(run.mark)} <span>${showInLine(run.text)}</span></p>
${bookings ? html`<p class="headline">${renderMark(bookings.mark, bookings.words)} <span>${bookings.text}</span></p>` : undefined}
${renderWhatToDo(data)}</section>
${renderNotices('Problems that last', problems, visit)}<h2>Runs</h2>
${renderRuns(data, visit)}
<h2>Open cases of its bookings</h2>
${renderCases(data)}
${renderNotices(hasChannels ? 'What people were told' : 'What was noticed', notices, visit, hasChannels ? undefined : nobodyIsTold)}${renderReports(data)}`;
}

function renderNeighbours({ previous, next }: DayData): Html {
  const earlier =
    previous === null ? undefined : html`<a href="/days/${previous}" rel="prev">‹ ${showDay(previous)}</a>`;
  const later = next === null ? undefined : html`<a href="/days/${next}" rel="next">${showDay(next)} ›</a>`;
  return html`<nav aria-label="Days" class="buttons neighbours">${earlier} ${later}</nav>`;
}

/** Bookings that need somebody come first: no run helps their guests. */
function renderWhatToDo({ day, signs: { bookings }, actions }: DayData): Html | undefined {
  const waits = bookings?.mark === 'open' || bookings?.mark === 'left';
  const query = bookings?.mark === 'left' ? html`&amp;state=left` : '';
  const cases = html`<a class="button" href="/cases?day=${day}${query}">Open the cases</a>`;
  const buttons = [...(waits ? [cases] : []), ...renderButtons(day, actions, !waits)];
  return buttons.length > 0 ? html`<p class="buttons">${buttons}</p>` : undefined;
}

function renderRuns({ day, runs, idleMs, judgement, ...listed }: DayData, visit: DeskVisit): Html {
  const pages =
    listed.pages > 1 ? renderPages(listed, 'run', (page) => `/days/${day}?page=${page}`) : undefined;
  const table = renderTable(
    runs,
    {
      Run: ({ runId }) => html`<a class="whole" href="/runs/${encodeURIComponent(runId)}">${runId}</a>`,
      State: renderState,
      By: ({ delivery, trigger }) => `${delivery}, ${trigger}`,
      Started: ({ startedAt }) => html`<span class="whole">${showInstant(startedAt, visit)}</span>`,
      Took: ({ runId, durationMs }) => formatDuration(durationMs - (idleMs[runId] ?? 0)),
      Accepted: ({ counts }) => counts.accepted,
      Delivered: ({ counts }) => counts.delivered,
      Refused: ({ counts }) => counts.refused,
      Rejected: ({ counts }) => counts.rejected,
      Pending: ({ counts }) => counts.pending,
      Affected: renderAffected,
    },
    {
      empty: describeNext(day, judgement, visit),
      note: ({ error, cancelReason, waiting, reason }) =>
        error?.message ??
        cancelReason ??
        (waiting
          ? `waits until ${showInstant(waiting.until, visit)} for ${waiting.step} (${waiting.code})`
          : reason),
    },
  );
  return html`${pages}${table}`;
}

function describeNext(day: string, judgement: DayMark, { today }: DeskVisit): string {
  if (judgement === 'missing') return 'None. Once the day is run, its bookings are reviewed.';
  return day < today ? 'None.' : 'None. A run follows once the day is over.';
}

type DayRun = DayData['runs'][number];

/** Without what the result says of its bookings: the column beside has their number, and a run does not become better or worse. */
function renderState(run: DayRun): Html {
  const { affected } = run.counts;
  const counts = { ...run.counts, affected: affected === null ? null : 0 };
  return renderMark(markOfRun({ ...run, counts }, reportsDrop(run)));
}

function renderAffected(run: DayRun): Html | number {
  const affected = countAffected(run);
  return typeof affected === 'number' ? affected : html`<span class="faint">${affected}</span>`;
}

function renderCases({ day, cases: { count, first } }: DayData): Html {
  const cut = count > first.length ? `, the ${formatCount(first.length)} most urgent` : '';
  const intro = html`<p>${formatCountOf(count, 'case')}${cut}. <a href="/cases?day=${day}">In the list of cases</a></p>
`;
  const shown = (day: string | null) => day && showDay(day);
  return html`${count > 0 ? intro : undefined}${renderTable(
    first,
    {
      Case: ({ id }) => html`<a href="/cases/${id}">${id}</a>`,
      'Check-in': ({ inHouse, firstCheckIn, inHouseUntil }) =>
        nameCheckIn({ inHouse, firstCheckIn: shown(firstCheckIn), inHouseUntil: shown(inHouseUntil) }),
      Mapping: ({ state }) => renderMark(state),
      Provider: ({ providerName }) => providerName,
      'Hotel id': ({ providerHotelId }) => providerHotelId,
      Booked: ({ serviceId, bookedHotel }) =>
        html`${serviceId} <span class="faint">${showInLine(bookedHotel ?? '')}</span>`,
      'Open bookings': ({ openBookings }) => openBookings,
    },
    { empty: 'None. A case opens when a verdict names a booking of the day.' },
  )}`;
}

function renderNotices(
  title: string,
  notices: DayData['notices'],
  visit: DeskVisit,
  remark?: string,
): Html | undefined {
  if (notices.length === 0) return undefined;
  return html`<h2>${title}</h2>
${remark && html`<p>${remark}</p>`}
<ul class="plain">${notices.map(
    (one) =>
      html`<li><span class="faint">${showInstant(one.raisedAt, visit)}</span> ${one.stage === 'recovered' ? renderMark('succeeded', one.stage) : renderSeverity(one.severity)} ${showInLine(one.title)}</li>
`,
  )}</ul>
`;
}

function renderReports({ day, reports }: DayData): Html | undefined {
  if (reports?.length === 0) return undefined;
  const link = (name: string) =>
    html`<li><a href="/days/${day}/reports/${encodeURIComponent(name)}" download>${showInLine(name)}</a></li>
`;
  return html`<h2>Kept reports</h2>
${reports ? html`<ul>${reports.map(link)}</ul>` : html`<p class="wait">Unknown: the archive does not answer.</p>`}
`;
}
