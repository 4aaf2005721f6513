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
import { readReport, reportsOdd } from '../review/day/report.js';
import { judgeRuns } from '../review/outcome/day-outcome.js';
import { judgeCanary } from '../rules/canary.js';
import type { DayOutcome } from '../rules/day-outcome.js';
import { judgeDay, judgeRunOfDay, noRun, noRunAsUsual } from '../rules/good-day.js';
import { type Notice, nobodyIsTold } from '../rules/notice.js';
import { isActive } from '../rules/run.js';
import { countAffected } from '../rules/run-verdicts.js';
import { reportsFolder } from '../storage/archive.js';
import { readDayActions, renderButtons } from './day-actions.js';
import { outlineCase, runsRead } from './day-report.js';
import { dayField, pageField } from './fields.js';
import { type DayMark, type Mark, markOfRun, renderMark, renderSeverity } from './marks.js';
import { type DeskVisit, defineDownload, definePage } from './page.js';
import {
  cutPage,
  renderPages,
  renderTable,
  showDay,
  showInstant,
  showMessage,
  writeAddress,
} from './parts.js';
import { readArchived } from './run-file.js';
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
  const outcome = await judgeRuns(ledger, day, runs);
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
    ...(await judge(outcome, visit)),
    /** What its bookings still need; null if nothing of the day is known. */
    needs: judgeBookings(counted, open.length, outcome),
    previous: day > '0001-01-01' ? previous().iso : null,
    /** Today has no next day: nothing can have happened there. */
    next: day < today ? next().iso : null,
    /** The run that is wanted, until it starts. */
    ...(wanted &&
      !runs.some(({ id }) => id === wanted.runId) && { promised: wantedToJson(wanted, 'not-started') }),
    /** Newest first. */
    runs: await Promise.all(shown.map((run) => readReport(ledger, run, { now, timezone }))),
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

const say = (judgement: DayMark, headline: string) => ({ judgement, headline });

/** How the day went in all and, apart from that, how its run went: whatever the bookings need does not change that. */
async function judge(outcome: DayOutcome, visit: DeskVisit) {
  const { desk, now, timezone } = visit;
  const { ledger } = desk;
  const { day, affected, knowledge } = outcome;
  if (knowledge === 'no-run') {
    const judged = await judgeWithoutRun(day, visit);
    return { ...judged, ran: judged };
  }
  const [canary] = await ledger.canaries.list({ day, limit: 1 });
  const facts = { timezone, canary: canary && judgeCanary(canary, now) };
  const judged = judgeDay(outcome, facts);
  const ran = judgeRunOfDay(outcome, facts);
  // "All have the verdict correct" would not be true.
  const isReviewed = affected && ran.judgement === 'good';
  return { ...judged, ran: isReviewed ? say('good', 'Complete: each booking has a verdict.') : ran };
}

/** Only a day that is over, and not before the first run, misses one. */
async function judgeWithoutRun(day: string, { desk: { ledger }, today, timezone }: DeskVisit) {
  if (day > today) return say('not-due', 'This day has not begun.');
  if (day === today) return say('not-due', 'This day is not over, and has no run yet.');
  const upTo = createBusinessDay(day, timezone);
  const known = await readKnownDays(ledger, upTo);
  if (known.firstDay === undefined || day < known.firstDay)
    return say('not-due', 'No run: the reviews began later.');
  return isMissing(upTo, known) ? say('missing', noRun) : say('not-due', noRunAsUsual);
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
  return tell(mark, 'nothing open', 'None of its bookings needs action in a case.');
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
${renderNotices(html`<h2>Problems that last</h2>`, problems, visit)}<h2>Runs</h2>
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
      State: renderState,
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

type DayRun = DayData['runs'][number];

/** Without what the result says of its bookings: the column beside has their number, and a run does not become better or worse. */
function renderState(run: DayRun): Html {
  const { affected } = run.counts;
  const counts = { ...run.counts, affected: affected === null ? null : 0 };
  return renderMark(markOfRun({ ...run, counts }, reportsOdd(run)));
}

/** Why it failed, was cancelled or waits; otherwise why somebody started it. */
function describeRun({ error, cancelReason, waiting, reason }: DayRun, visit: DeskVisit): string | undefined {
  const wait =
    waiting && `waits until ${showInstant(waiting.until, visit)} for ${waiting.step} (${waiting.code})`;
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
  return html`<h2>Kept reports</h2>
${reports ? html`<ul>${reports.map(link)}</ul>` : html`<p class="wait">Unknown: the archive does not answer.</p>`}
`;
}
