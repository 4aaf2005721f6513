import { nameCheckIn } from '../../cases/shown-cases.js';
import { nobodyIsTold } from '../../ledger/notice.js';
import { reportsDrop } from '../../review/day/report.js';
import { countAffected } from '../../review/verdicts/day-verdicts.js';
import { showInLine } from '../../text/foreign-text.js';
import { formatCount, formatCountOf, formatDuration, formatLocalInstant } from '../../text/format.js';
import { type Html, html } from '../../text/html.js';
import { markOfRun, renderMark, renderSeverity } from '../marks.js';
import type { DeskVisit } from '../page.js';
import { renderPages } from '../parts.js';
import { renderDayActions } from '../runs/day-actions.js';
import type { DayPageData } from './day-data.js';

/** A day: how it went, its runs, and what to do about it. */
export function renderDay(data: DayPageData, visit: DeskVisit, hasChannels: boolean): Html {
  const { day, judgement, headline, runs } = data;
  return html`${renderNeighbours(data)}
<section class="card"><p class="headline">${renderMark(judgement)} <span>${showInLine(headline)}</span></p>
${renderDayActions(day, runs[0], visit)}</section>
${renderProblems(data, visit)}<h2>Runs</h2>
${renderRuns(data, visit)}
${renderCases(data)}${renderNotices(data, visit, hasChannels)}${renderReports(data)}`;
}

function renderNeighbours({ previous, next }: DayPageData): Html {
  const link = (day: string, words: string, rel: string) =>
    html`<a href="/days/${day}" rel="${rel}">${words}</a>`;
  return html`<nav aria-label="Days" class="buttons neighbours">${previous === null ? undefined : link(previous, `‹ ${previous}`, 'prev')} ${next === null ? undefined : link(next, `${next} ›`, 'next')}</nav>`;
}

function renderRuns({ day, runs, ...listed }: DayPageData, visit: DeskVisit): Html {
  if (runs.length === 0) return html`<p>None.</p>`;
  return html`${listed.pages > 1 ? renderPages(listed, 'run', (page) => `/days/${day}?page=${page}`) : undefined}
<div class="wide" tabindex="0"><table><thead><tr><th scope="col">Run</th><th scope="col">State</th><th scope="col">By</th><th scope="col">Started</th><th scope="col" class="number">Took</th><th scope="col" class="number">Accepted</th><th scope="col" class="number">Delivered</th><th scope="col" class="number">Refused</th><th scope="col" class="number">Rejected</th><th scope="col" class="number">Pending</th><th scope="col" class="number">Affected</th></tr></thead>
<tbody>${runs.map((run) => renderRun(run, visit))}</tbody></table></div>`;
}

function renderRun(run: DayPageData['runs'][number], { timezone }: DeskVisit): Html {
  const { runId, delivery, trigger, startedAt, durationMs, counts, waiting, error, reason, cancelReason } =
    run;
  const affected = countAffected(run);
  const note =
    error?.message ??
    cancelReason ??
    (waiting
      ? `waits until ${formatLocalInstant(Date.parse(waiting.until), timezone)} for ${waiting.step} (${waiting.code})`
      : reason);
  const path = `/runs/${encodeURIComponent(runId)}`;
  return html`<tr><th scope="row" class="whole"><a href="${path}">${runId}</a></th><td>${renderMark(markOfRun(run, reportsDrop(run)))}</td><td>${delivery}, ${trigger}</td><td class="whole">${formatLocalInstant(Date.parse(startedAt), timezone)}</td><td class="number">${formatDuration(durationMs)}</td>${[
    counts.accepted,
    counts.delivered,
    counts.refused,
    counts.rejected,
    counts.pending,
  ].map(
    (value) => html`<td class="number">${formatCount(value)}</td>`,
  )}<td class="number">${typeof affected === 'number' ? formatCount(affected) : html`<span class="faint">${affected}</span>`}</td></tr>
${
  note === undefined
    ? undefined
    : html`<tr class="note"><td colspan="11">${showInLine(note)}</td></tr>
`
}`;
}

function renderCases({ day, cases: { count, first } }: DayPageData): Html {
  if (count === 0)
    return html`<h2>Open cases of its bookings</h2>
<p>None.</p>
`;
  return html`<h2>Open cases of its bookings</h2>
<p>${formatCountOf(count, 'case')}${count > first.length ? `, the ${formatCount(first.length)} most urgent` : ''}. <a href="/cases?day=${day}">In the list of cases</a></p>
<div class="wide" tabindex="0"><table><thead><tr><th scope="col">Case</th><th scope="col">Check-in</th><th scope="col">Mapping</th><th scope="col">Provider</th><th scope="col">Hotel id</th><th scope="col">Booked</th><th scope="col" class="number">Open bookings</th></tr></thead>
<tbody>${first.map(
    (
      one,
    ) => html`<tr><th scope="row"><a href="/cases/${one.id}">${one.id}</a></th><td class="whole">${nameCheckIn(one)}</td><td>${renderMark(one.state)}</td><td>${showInLine(one.providerName)}</td><td>${showInLine(one.providerHotelId)}</td><td>${one.serviceId} <span class="faint">${showInLine(one.bookedHotel ?? '')}</span></td><td class="number">${formatCount(one.openBookings)}</td></tr>
`,
  )}</tbody></table></div>
`;
}

function renderProblems({ problems }: DayPageData, visit: DeskVisit): Html | undefined {
  if (problems.length === 0) return undefined;
  return html`<h2>Problems that last</h2>
${renderList(problems, visit)}`;
}

function renderNotices({ notices }: DayPageData, visit: DeskVisit, hasChannels: boolean): Html | undefined {
  if (notices.length === 0) return undefined;
  return html`<h2>${hasChannels ? 'What people were told' : 'What was noticed'}</h2>
${hasChannels ? undefined : html`<p>${nobodyIsTold}</p>`}
${renderList(notices, visit)}`;
}

function renderList(notices: DayPageData['notices'], { timezone }: DeskVisit): Html {
  return html`<ul class="plain">${notices.map(
    ({
      title,
      severity,
      stage,
      raisedAt,
    }) => html`<li><span class="faint">${formatLocalInstant(Date.parse(raisedAt), timezone)}</span> ${stage === 'recovered' ? renderMark('succeeded', stage) : renderSeverity(severity)} ${showInLine(title)}</li>
`,
  )}</ul>
`;
}

function renderReports({ day, reports }: DayPageData): Html {
  if (reports === null)
    return html`<h2>Kept reports</h2>
<p class="wait">Unknown: the archive does not answer.</p>
`;
  if (reports.length === 0) return html``;
  return html`<h2>Kept reports</h2>
<ul>${reports.map(
    (
      name,
    ) => html`<li><a href="/days/${day}/reports/${encodeURIComponent(name)}" download>${showInLine(name)}</a></li>
`,
  )}</ul>
`;
}
