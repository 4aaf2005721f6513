import * as z from 'zod';
import { answerWithin } from '../base/abort.js';
import { showInLine } from '../base/foreign-text.js';
import { formatCount, formatCountOf, formatDuration } from '../base/format.js';
import { type Html, html } from '../base/html.js';
import { createBusinessDay } from '../booking/business-day.js';
import { findCases, nameCheckIn } from '../cases/shown-cases.js';
import { wantedToJson } from '../ledger/wanted-days.js';
import { describeNotice } from '../notify/describe-notice.js';
import { isMissing, readKnownDays } from '../review/day/missing-days.js';
import { describeWaiting, readDescription, readReport } from '../review/day/report.js';
import { type DayOutcome, outcomeOfRun } from '../rules/day-outcome.js';
import { describeNoRun, describeRunOfDay } from '../rules/describe-day.js';
import { type Notice, nobodyIsTold } from '../rules/notice.js';
import { isActive } from '../rules/run.js';
import { countAffected } from '../rules/run-verdicts.js';
import { reportsFolder } from '../storage/archive.js';
import { readDayActions, renderButtons } from './day-actions.js';
import { outlineCase, runsRead } from './day-report.js';
import { dayField, pageField } from './fields.js';
import { type Mark, markOfRun, renderMark, renderSeverity } from './marks.js';
import { type DeskVisit, defineDownload, definePage, readArchived } from './page.js';
import {
  cutPage,
  renderPages,
  renderTable,
  showDay,
  showInstant,
  showMessage,
  writeAddress,
} from './parts.js';
import { HttpError } from './server/http-error.js';

/** The most urgent ones; the list of cases has all. */
const casesShown = 20;
const noticesShown = 50;
/** How long the page waits for the archive. */
const archiveMs = 1_000;
/** While a run is active, without JavaScript. */
const refreshSeconds = 30;

/** A day: how it went, what its bookings need, its runs, and what to do about it. */
export const dayPage = definePage({
  path: '/days/:day',
  permission: 'look',
  cost: 'expensive',
  input: z.object({ day: dayField, page: pageField }),
  json: 'usually',
  read: readDay,
  render: (data, visit) => ({
    title: `Day ${showDay(data.day)}`,
    content: renderDay(data, visit),
    ...((data.promised || data.runs.some(isActive)) && { refreshSeconds }),
  }),
});

/** The page of a day as it was when a run of it ended. It names no booking and no guest. */
export const reportDownload = defineDownload({
  path: '/days/:day/reports/:name',
  permission: 'look',
  input: z.object({ day: dayField, name: z.string() }),
  contentType: 'text/html; charset=utf-8',
  async open({ day, name }, { desk: { archive } }) {
    const isSaved = (await archive.list(reportsFolder, day)).includes(name);
    if (!isSaved || !name.endsWith('.html')) throw new HttpError(404, 'no such report is in the archive');
    return { name: `${day}-${name}`, content: readArchived(archive, reportsFolder, day, name) };
  },
});

async function readDay({ day, page }: { readonly day: string; readonly page: number }, visit: DeskVisit) {
  const { desk, now, timezone, today } = visit;
  const { ledger, command } = desk;
  // Before the runs: whoever opens the promised one meanwhile shows it below.
  const wanted = await ledger.wanted.find(day);
  const [runs, found, counted, problems, notices, reports] = await Promise.all([
    ledger.runs.list({ day, limit: runsRead }),
    findCases(ledger, { day, today }, now),
    ledger.cases.countOfDay(day, today),
    ledger.notices.listProblems(),
    ledger.notices.listOfDay(day, noticesShown),
    listReports(day, visit),
  ]);
  const description = await readDescription(ledger, day, runs, { now, timezone });
  // A day can have dozens of runs of today.
  const { shown, ...cut } = cutPage(runs, page);
  // Dismissed ones need no action.
  const open = found.filter(({ state }) => state !== 'dismissed');
  const toWords = (one: Notice) => ({
    ...{ event: one.event, stage: one.stage, severity: one.severity },
    title: describeNotice(one, { checkInsToday: 0, command }).title,
    raisedAt: new Date(one.raisedAt).toISOString(),
  });
  const { previous, next } = createBusinessDay(day, timezone);
  return {
    day,
    /** In all, and how its run `ran`. */
    ...(await judgeRun(description, visit)),
    /** What its bookings still need; null if nothing of the day is known. */
    needs: judgeBookings(counted, open.length, description.outcome),
    previous: day > '0001-01-01' ? previous().iso : null,
    /** Today has no next day: nothing can have happened there. */
    next: day < today ? next().iso : null,
    /** The run that is wanted, until it starts. */
    ...(wanted &&
      !runs.some(({ id }) => id === wanted.runId) && { promised: wantedToJson(wanted, 'not-started') }),
    /** Newest first, each with how it went. */
    runs: await Promise.all(
      shown.map(async (run) => ({
        ...(await readReport(ledger, run, { now, timezone })),
        judgement: describeRunOfDay(outcomeOfRun(run), { timezone }).judgement,
      })),
    ),
    ...cut,
    /** With an open booking of that day, guests in house first. */
    cases: { count: open.length, first: open.slice(0, casesShown).map(outlineCase) },
    /** Those that last. */
    problems: problems.filter((one) => one.day === day).map(toWords),
    /** All that was raised about the day, the newest first. */
    notices: notices.map(toWords),
    /** The pages of the day that were saved when a run of it ended; null while the archive does not answer. */
    reports,
    /** What this visitor can do about the day, most helpful first. */
    actions: day <= today ? await readDayActions(runs, visit) : [],
  };
}

type DayData = Awaited<ReturnType<typeof readDay>>;

/** How its run went, apart from how the day went in all: whatever the bookings need does not change that. */
async function judgeRun(
  { outcome, facts, judgement, headline }: Awaited<ReturnType<typeof readDescription>>,
  visit: DeskVisit,
) {
  if (outcome.knowledge === 'no-run') {
    const judged = await judgeWithoutRun(outcome.day, visit);
    return { ...judged, ran: judged };
  }
  const ran = describeRunOfDay(outcome, facts);
  // "All have the verdict correct" would not be true.
  const isReviewed = outcome.affected && ran.judgement === 'good';
  const words = isReviewed ? 'Complete: each booking has a verdict.' : ran.headline;
  return { judgement, headline, ran: { judgement: ran.judgement, headline: words } };
}

async function judgeWithoutRun(day: string, { desk: { ledger }, today, timezone }: DeskVisit) {
  const upTo = createBusinessDay(day, timezone);
  const known = await readKnownDays(ledger, upTo);
  const isOver = day < today;
  return describeNoRun({
    isMissing: isOver && isMissing(upTo, known),
    isOver,
    isReached: known.firstDay !== undefined && day >= known.firstDay,
  });
}

/** What the bookings of the day still need: calm once all are resolved. */
function judgeBookings(
  { open, left, resolved }: { readonly open: number; readonly left: number; readonly resolved: number },
  cases: number,
  { affected, knowledge }: DayOutcome,
) {
  const found = affected ? `${formatCountOf(affected, 'booking')} on an incorrect mapping. ` : '';
  const inCases = [
    open > 0 ? `${formatCount(open)} open in ${formatCountOf(cases, 'case')}` : [],
    left > 0 ? `${formatCount(left)} never resolved before the guests left` : [],
    resolved > 0 ? `${formatCount(resolved)} resolved` : [],
  ].flat();
  const tell = (mark: Mark, words: string, text = `Of its bookings in cases: ${inCases.join(', ')}.`) => ({
    ...{ mark, words },
    text: `${found}${text}`,
  });
  if (open > 0) return tell('open', 'bookings open');
  if (left > 0) return tell('left', 'bookings left');
  if (resolved > 0) return tell('resolved', 'all resolved');
  if (knowledge === 'no-run') return null;
  const mark = affected === 0 ? 'good' : 'not-due';
  return tell(mark, 'nothing open', 'No open cases for this day.');
}

/** Null while the archive does not answer. */
async function listReports(day: string, { desk: { archive } }: DeskVisit) {
  const names = await answerWithin(archiveMs, archive.list(reportsFolder, day)).catch(() => null);
  return names?.filter((name) => name.endsWith('.html')) ?? null;
}

/** The two signs and what to do come first; the details are below. */
function renderDay(data: DayData, visit: DeskVisit): Html {
  const { day, previous, next, ran, needs, problems, notices, pages } = data;
  const earlier = previous && html`<a href="/days/${previous}" rel="prev">‹ ${showDay(previous)}</a>`;
  const later = next && html`<a href="/days/${next}" rel="next">${showDay(next)} ›</a>`;
  const told =
    visit.desk.operations.channels.length > 0
      ? html`<h2>What people were told</h2>`
      : html`<h2>What was noticed</h2><p>${nobodyIsTold}</p>`;
  return html`<nav aria-label="Days" class="buttons neighbours">${earlier ?? ''} ${later ?? ''}</nav>
<section class="card"><p class="headline">${renderMark(ran.judgement)} <span>${showInLine(showMessage(ran.headline, visit.desk.command))}</span></p>
${needs ? html`<p class="headline">${renderMark(needs.mark, needs.words)} <span>${needs.text}</span></p>` : undefined}
${renderWhatToDo(data)}</section>
${renderNotices(html`<h2>Open problems</h2>`, problems, visit)}<h2>Runs</h2>
${pages > 1 ? renderPages(data, 'run', (page) => `/days/${day}?page=${page}`) : undefined}${renderRuns(data, visit)}
<h2>Open cases of its bookings</h2>
${renderCases(data)}
${renderNotices(told, notices, visit)}${renderReports(data)}`;
}

/** Bookings that need somebody come first: no run helps their guests. */
function renderWhatToDo({ day, needs, actions }: DayData): Html | undefined {
  const left = needs?.mark === 'left' ? 'left' : undefined;
  const waits = left !== undefined || needs?.mark === 'open';
  const cases = html`<a class="button" href="${writeAddress('/cases', { day, state: left })}">Open the cases</a>`;
  const buttons = [...(waits ? [cases] : []), ...renderButtons(day, actions, !waits)];
  return buttons.length > 0 ? html`<p class="buttons">${buttons}</p>` : undefined;
}

function renderRuns({ runs, judgement, promised }: DayData, visit: DeskVisit): Html {
  const linkRun = ({ runId }: { readonly runId: string }) =>
    html`<a class="whole" href="/runs/${encodeURIComponent(runId)}">${runId}</a>`;
  const waiting = promised && renderTable([promised], { Run: linkRun, State: () => 'not started yet' });
  const table = renderTable(
    runs,
    {
      Run: linkRun,
      // What its bookings need is said above: the run does not become worse for it.
      State: (run) => renderMark(markOfRun(run)),
      By: ({ delivery, trigger }) => `${delivery}, ${trigger}`,
      Started: ({ startedAt }) => html`<span class="whole">${showInstant(startedAt, visit)}</span>`,
      Took: ({ durationMs }) => formatDuration(durationMs),
      Accepted: ({ counts }) => counts.accepted,
      Delivered: ({ counts }) => counts.delivered,
      Refused: ({ counts }) => counts.refused,
      Rejected: ({ counts }) => counts.rejected,
      Pending: ({ counts }) => counts.pending,
      Affected(run) {
        // Where no number is known, it says why.
        const affected = countAffected(run);
        return typeof affected === 'number' ? affected : html`<span class="faint">${affected}</span>`;
      },
    },
    {
      empty:
        judgement === 'missing'
          ? 'None. Once the day is run, its bookings are reviewed.'
          : 'None. The first one follows once a day is over.',
      note: (run) => describeRun(run, visit),
    },
  );
  return html`${waiting}${table}`;
}

/** Why it failed, was cancelled or waits; otherwise why somebody started it. */
function describeRun(run: DayData['runs'][number], visit: DeskVisit): string | undefined {
  const { error, cancelReason, waiting, reason } = run;
  const wait = waiting && describeWaiting(waiting, (instant) => showInstant(instant, visit));
  return error ? showMessage(error.message, visit.desk.command) : (cancelReason ?? wait ?? reason);
}

function renderCases({ day, cases: { count, first } }: DayData): Html {
  const cut = count > first.length ? `, the ${formatCount(first.length)} most urgent` : '';
  const intro = html`<p>${formatCountOf(count, 'case')}${cut}. <a href="/cases?day=${day}">In the list of cases</a></p>
`;
  return html`${count > 0 ? intro : undefined}${renderTable(
    first,
    {
      Case: ({ id }) => html`<a href="/cases/${id}">${id}</a>`,
      'Check-in': (item) => nameCheckIn(item, showDay),
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

/** What the ledger noticed about the day, in words; what recovered is no problem any more. */
function renderNotices(heading: Html, notices: DayData['notices'], visit: DeskVisit): Html | undefined {
  if (notices.length === 0) return undefined;
  return html`${heading}
<ul class="plain">${notices.map(
    (one) =>
      html`<li><span class="faint">${showInstant(one.raisedAt, visit)}</span> ${one.stage === 'recovered' ? renderMark('succeeded', one.stage) : renderSeverity(one.severity)} ${showInLine(showMessage(one.title, visit.desk.command))}</li>
`,
  )}</ul>
`;
}

/** An archive that does not answer hides nothing else of the day. */
function renderReports({ day, reports }: DayData): Html | undefined {
  if (reports?.length === 0) return undefined;
  const link = (name: string) =>
    html`<li><a href="/days/${day}/reports/${encodeURIComponent(name)}" download>${showInLine(name)}</a></li>
`;
  return html`<h2>Saved reports</h2>
${reports ? html`<ul>${reports.map(link)}</ul>` : html`<p class="wait">Unknown: the archive does not answer.</p>`}
`;
}
