import { showInLine } from '../../text/foreign-text.js';
import { formatCount, formatCountOf, formatDuration, formatLocalInstant } from '../../text/format.js';
import { type Html, html } from '../../text/html.js';
import { renderMark, renderSeverity } from '../marks.js';
import type { DeskVisit } from '../page.js';
import { listNotGoodDays, renderNotGoodDays } from './not-good-days.js';
import type { DaysData } from './read-days.js';

/** What matters first: what is wrong, and what helps; up to which day all is well; and what comes next. */
export function renderOverview(facts: DaysData, visit: DeskVisit): Html {
  return html`${renderNotGoodDays(facts.days, visit)}<dl class="overview">
${renderFact('Last good day', renderLastGoodDay(facts))}
${renderFact('Next run', renderNextRun(facts, visit))}
${renderFact('Deadline', renderDeadline(facts, visit))}
${renderFact('Cases', renderCases(facts))}
${renderFact('Bookings', renderVolume(facts))}
${renderFact('Mapping copy', renderMappings(facts, visit))}
${renderFact('Parts', renderParts(facts))}
</dl>
${renderProblems(facts, visit)}`;
}

function renderFact(name: string, content: Html): Html {
  return html`<div class="card"><dt>${name}</dt><dd>${content}</dd></div>`;
}

function renderLastGoodDay({ firstDay, lastGoodDay, after }: DaysData): Html {
  if (firstDay === null)
    return html`<strong>none yet</strong> <span class="faint">no day was reviewed</span>`;
  const last =
    lastGoodDay === null ? html`<strong>none shown</strong>` : html`<strong>${linkDay(lastGoodDay)}</strong>`;
  if (!after) return html`${last} <span>${renderMark('good', 'each due day is good')}</span>`;
  const newest = after.newestGoodDay;
  return html`${last}
<span>${formatCount(after.notGood)} of the ${formatCountOf(after.due, 'day')} since then ${after.notGood === 1 ? 'is' : 'are'} not good${
    newest === null ? undefined : html`; the newest good one is <span class="whole">${newest}</span>`
  }</span>`;
}

function renderNextRun({ nextRunAt }: DaysData, { now, timezone }: DeskVisit): Html {
  if (nextRunAt === null)
    return html`<strong>none</strong> <span class="faint">the schedule names no later date</span>`;
  const at = Date.parse(nextRunAt);
  return html`<strong>${formatLocalInstant(at, timezone)}</strong> <span class="faint">in ${formatSpan(at - now)}</span>`;
}

function renderDeadline({ deadline, lateDays }: DaysData, { now, timezone }: DeskVisit): Html {
  const late =
    lateDays.length === 0
      ? undefined
      : html`<span>${renderMark('attention', `${formatCountOf(lateDays.length, 'day')} late`)}: ${linkDay(lateDays.at(-1) ?? '')}${
          lateDays.length > 1 ? html` and before` : undefined
        }</span>`;
  if (!deadline)
    return html`<strong>none</strong> ${late ?? html`<span class="faint">no day has a deadline ahead</span>`}`;
  const at = Date.parse(deadline.at);
  return html`<strong>${formatLocalInstant(at, timezone)}</strong> <span class="faint">for ${deadline.day}, in ${formatSpan(at - now)}</span> ${late}`;
}

/** An unknown check-in might be tomorrow. */
function renderCases({ cases: { openBookings, unknownCheckIns, inHouse, firstCheckIn } }: DaysData): Html {
  if (openBookings === 0)
    return html`<strong>none</strong> <span class="faint">no booking waits for the team</span>`;
  const next =
    inHouse > 0
      ? html`<span class="wait">${formatCount(inHouse)} of guests in house</span>`
      : firstCheckIn === null
        ? undefined
        : html`<span>next check-in ${firstCheckIn}</span>`;
  const unknown =
    unknownCheckIns === 0
      ? undefined
      : html`<span class="wait">${formatCount(unknownCheckIns)} with unknown check-in</span>`;
  return html`<strong><a href="/cases">${formatCountOf(openBookings, 'open booking')}</a></strong> ${next} ${unknown}`;
}

function renderVolume({ latestVolume }: DaysData): Html {
  if (!latestVolume) return html`<strong>unknown</strong> <span class="faint">no day is good yet</span>`;
  const { day, accepted, usual } = latestVolume;
  return html`<strong>${formatCount(accepted)}</strong> <span class="faint">on ${day}, ${
    usual === null ? 'not compared: no earlier day is known' : `usually ${formatCount(usual)}`
  }</span>`;
}

function renderMappings({ mappingsCompleteUntil }: DaysData, { now, timezone, may }: DeskVisit): Html {
  const sync = may('operate') ? html` <a href="/mappings/sync">Sync…</a>` : undefined;
  if (mappingsCompleteUntil === null)
    return html`<strong>none</strong> <span class="faint">it was never synced</span>${sync}`;
  const at = Date.parse(mappingsCompleteUntil);
  // 0 while the first sync has not ended.
  if (at === 0)
    return html`<strong>incomplete</strong> <span class="faint">the first sync has not ended</span>${sync}`;
  return html`<strong>${formatSpan(now - at)} old</strong> <span class="faint">complete up to ${formatLocalInstant(at, timezone)}</span>${sync}`;
}

function renderParts({ parts }: DaysData): Html {
  return html`${Object.entries(parts).map(([name, state]) =>
    state === 'ok'
      ? html`<span>${renderMark('succeeded', `${name}: ok`)}</span> `
      : html`<span>${renderMark('failed', name)}: ${showInLine(state)}</span> `,
  )}`;
}

/** Leaves out problems of days that are not good, which are listed already. */
function renderProblems({ problems, days }: DaysData, { timezone, may }: DeskVisit): Html | undefined {
  const notGood = new Set(listNotGoodDays(days).map(({ day }) => day));
  const others = problems.filter(({ day }) => day === null || !notGood.has(day));
  if (others.length === 0) return undefined;
  const title = notGood.size > 0 ? 'Other open problems' : 'Open problems';
  return html`<section class="card"><h2>${title}</h2>
<ul class="plain">${others
    .toReversed()
    .map(
      ({ severity, title, day, since }) =>
        html`<li>${renderSeverity(severity)} ${
          day === null
            ? showInLine(title)
            : html`<a href="/days/${encodeURIComponent(day)}">${showInLine(title)}</a>`
        } <span class="faint">since ${formatLocalInstant(Date.parse(since), timezone)}</span></li>`,
    )}</ul>${may('operate') ? html`<p><a href="/notifications">Notifications</a></p>` : undefined}</section>`;
}

function linkDay(day: string): Html {
  return html`<a href="/days/${day}">${day}</a>`;
}

/** To the minute: a span of hours needs no seconds. */
function formatSpan(milliseconds: number): string {
  const minutes = Math.max(1, Math.round(milliseconds / 60_000));
  return formatDuration(minutes * 60_000);
}
