import * as z from 'zod';
import { showInLine } from '../base/foreign-text.js';
import { formatCount, formatCountOf, formatDuration, shorten } from '../base/format.js';
import { type Html, html } from '../base/html.js';
import { caseToJson, findUrgentCases, nameCheckIn } from '../cases/shown-cases.js';
import { describeBusy, workerToJson } from '../ledger/workers.js';
import { describeHours } from '../mappings/hotels/shown-hotels.js';
import { readCompleteUntil } from '../mappings/sync-bounds.js';
import { describeNotice } from '../notify/describe-notice.js';
import { nobodyIsTold } from '../rules/notice.js';
import { needsAttention, readCalendar, renderCalendar, type ShownDay } from './calendar.js';
import { nameHotel, nobodyYet } from './cases-page.js';
import { renderFirstAction } from './day-actions.js';
import { renderMark, renderSeverity } from './marks.js';
import { type DeskParts, type DeskVisit, definePage } from './page.js';
import { type Fact, linkDay, renderFacts, renderTable, showDay, showInstant, showMessage } from './parts.js';

/** The home page: who needs help now, which nights are not good, and whether the machine is well; then twelve months of days. */
export const daysPage = definePage({
  path: '/',
  permission: 'look',
  cost: 'expensive',
  input: z.object({}),
  json: 'if-asked',
  read: (_, visit) => readDays(visit),
  render: (data, visit) => ({
    title: 'Days',
    content: html`${renderUrgentCases(data)}${renderNights(data, visit)}${renderMachine(data, visit)}
<section><h2>Calendar</h2>
${visit.may('operate') ? html`<p class="buttons"><a class="button quiet" href="/replay">Replay days…</a></p>` : undefined}
${renderCalendar(data.days, data.firstDay)}</section>`,
  }),
});

const casesShown = 10;

/** Reads sequentially, so that a page takes at most one connection away from running work. */
async function readDays(visit: DeskVisit) {
  const { desk, now, today } = visit;
  const { ledger, nights, health, command } = desk;
  const { firstDay, days, deadline } = await readCalendar(visit);
  const { openBookings, unknownCheckIns, inHouse } = await ledger.cases.count(today);
  const urgent = await findUrgentCases(ledger, { today, most: casesShown }, now);
  const sync = await ledger.mappings.latestSync();
  const problems = await ledger.notices.listProblems();
  return {
    firstDay,
    ...followGoodDays(days),
    nextRunAt: nights.next(new Date(now))?.toISOString() ?? null,
    deadline,
    cases: { openBookings, unknownCheckIns, inHouse },
    openCases: urgent.total,
    /** The first of them: guests in house, then the nearest check-in. */
    urgentCases: urgent.cases.map(caseToJson),
    mailbox: await readMailbox(desk, now),
    channels: await readChannels(desk),
    mappingsCompleteUntil: sync ? new Date(readCompleteUntil(sync, 0)).toISOString() : null,
    workers: (await ledger.workers.listSeen()).map(workerToJson),
    /** `ok`, or the problem. */
    parts: (await health.look()).parts,
    problems: problems.map((problem) => ({
      ...{ event: problem.event, severity: problem.severity, day: problem.day ?? null },
      title: describeNotice({ ...problem, stage: 'raised' }, { checkInsToday: 0, command }).title,
      since: new Date(problem.raisedAt).toISOString(),
    })),
    /** Oldest first. */
    days,
  };
}

export type DaysData = Awaited<ReturnType<typeof readDays>>;

/**
 * The last day up to which all due days are good. A good day after one that is not good is no reassurance: it is only mentioned.
 *
 * @param days oldest first
 */
export function followGoodDays(days: readonly ShownDay[]) {
  const due = days.filter(({ isDue }) => isDue);
  const end = due.findIndex(({ isGood }) => !isGood);
  if (end === -1) return { lastGoodDay: due.at(-1)?.day ?? null, after: null };
  const since = due.slice(end);
  return {
    lastGoodDay: due[end - 1]?.day ?? null,
    /** The first day that is not good, and those that follow it. */
    after: {
      due: since.length,
      notGood: since.filter(({ isGood }) => !isGood).length,
      newestGoodDay: since.findLast(({ isGood }) => isGood)?.day ?? null,
    },
  };
}

/** A restart takes as long. */
const graceMs = 3_600_000;

/** Null without a mailbox. */
async function readMailbox({ ledger, mailboxPollMs }: DeskParts, now: number) {
  if (mailboxPollMs === undefined) return null;
  const { readUntil, triedAt } = await ledger.mails.describeMailbox();
  return {
    isRead:
      readUntil !== undefined && readUntil === triedAt && now - readUntil <= 2 * mailboxPollMs + graceMs,
    readUntil: readUntil === undefined ? null : new Date(readUntil).toISOString(),
  };
}

const messagesRead = 100;

/** A channel fails if its newest message that was tried was not accepted. */
async function readChannels({ ledger, operations: { channels } }: DeskParts) {
  const messages = channels.length === 0 ? [] : await ledger.notices.listMessages({ limit: messagesRead });
  const tried = messages.filter(({ state, attempts }) => state !== 'pending' || attempts > 0);
  const failing = channels.filter(({ name }) => {
    const newest = tried.find(({ channel }) => channel === name);
    return newest !== undefined && newest.state !== 'sent';
  });
  return { configured: channels.length, failing: failing.length };
}

function renderUrgentCases({ cases, openCases, urgentCases }: DaysData): Html {
  const { openBookings, inHouse, unknownCheckIns } = cases;
  const facts = [
    `${formatCountOf(openBookings, 'open booking')} in ${formatCountOf(openCases, 'case')}`,
    ...(inHouse > 0 ? [`${formatCount(inHouse)} of guests in house`] : []),
    // An unknown check-in might be tomorrow.
    ...(unknownCheckIns > 0 ? [`${formatCount(unknownCheckIns)} with unknown check-in`] : []),
  ].join(', ');
  const all = html`<p>${facts}. <a href="/cases">All cases</a></p>`;
  const rows = renderTable(
    urgentCases,
    {
      'Booked hotel': ({ id, bookedHotel, serviceId }) =>
        html`<a href="/cases/${id}">${nameHotel(bookedHotel, serviceId)}</a>`,
      'Check-in'(item) {
        const words = nameCheckIn(item, showDay);
        return item.inHouse > 0 ? html`<strong>${words}</strong>` : words;
      },
      "By the hotel's clock": renderClock,
      'Open bookings': ({ openBookings }) => openBookings,
      Mapping: ({ state }) => renderMark(state),
      'Assigned to': ({ assignee }) => assignee ?? nobodyYet,
    },
    { empty: 'Nobody: no booking is open. The guests of the next incorrect mapping are listed here.' },
  );
  return html`<section class="card${openCases > 0 ? ' urgent' : ''}"><h2>Who needs help now</h2>
${openCases > 0 ? all : undefined}${rows}</section>
`;
}

function renderClock(item: DaysData['urgentCases'][number]) {
  const { inHouse, hasUnknownCheckIn, hoursToCheckIn, bookedHotel } = item;
  const isAhead = inHouse === 0 && !hasUnknownCheckIn && hoursToCheckIn !== null;
  const time = bookedHotel?.localTime?.slice('2026-11-21T'.length);
  const parts = [...(isAhead ? [describeHours(hoursToCheckIn)] : []), ...(time ? [`${time} there`] : [])];
  return parts.join(', ') || null;
}

/** Whoever is called at night acts on the last ones; the calendar has all. */
const nightsShown = 5;
const longestHeadline = 240;

function listNotGood(days: readonly ShownDay[]): ShownDay[] {
  return days.filter(({ isDue, isGood }) => isDue && !isGood);
}

/** The due days that are not good, newest first: why, and what helps. */
function renderNights(data: DaysData, visit: DeskVisit): Html {
  const last = html`<p>${renderLastGoodDay(data)}</p></section>
`;
  const notGood = listNotGood(data.days).reverse();
  if (notGood.length === 0) return html`<section class="card"><h2>Nights</h2>${last}`;
  const more = notGood.slice(nightsShown);
  const earlier = html`<p class="faint">And ${formatCountOf(more.length, 'earlier day')}, back to ${showDay(more.at(-1)?.day ?? '')}: see the calendar.</p>`;
  return html`<section class="card urgent"><h2>${formatCountOf(notGood.length, 'day')} ${notGood.length === 1 ? 'is' : 'are'} not good</h2>
<ul class="plain not-good">${notGood.slice(0, nightsShown).map((day, index) => renderNight(day, visit, index === 0))}</ul>
${more.length > 0 && earlier}${last}`;
}

/** Only the newest has a prominent button, so that it is clear what to do first. */
function renderNight(shown: ShownDay, visit: DeskVisit, isNewest: boolean): Html {
  const { day, judgement, headline, isLate } = shown;
  const weekday = new Date(day).toLocaleDateString('en-GB', { weekday: 'long', timeZone: 'UTC' });
  return html`<li><span>${linkDay(day)} <span class="faint">${weekday}</span></span>
<span>${renderMark(judgement)}${isLate ? html`, <strong class="bad">late</strong>` : undefined}</span>
<span class="why">${shorten(showInLine(showMessage(headline, visit.desk.command)), longestHeadline)}</span> ${renderFirstAction(shown, visit, isNewest)}</li>
`;
}

function renderLastGoodDay({ firstDay, lastGoodDay, after, days }: DaysData): Html {
  if (firstDay === null)
    return html`No day was reviewed yet: the first one follows with the next run, or with <code>run</code>.`;
  const last = html`Last good day: ${lastGoodDay === null ? 'none shown' : linkDay(lastGoodDay)}.`;
  if (after) {
    const { notGood, due, newestGoodDay } = after;
    const newest = newestGoodDay === null ? '' : `; the newest good one is ${showDay(newestGoodDay)}`;
    return html`${last} ${formatCount(notGood)} of the ${formatCountOf(due, 'day')} since then ${notGood === 1 ? 'is' : 'are'} not good${newest}.`;
  }
  const attention = days.filter(needsAttention);
  if (attention.length === 0) return html`${last} ${renderMark('good', 'each due day is good')}`;
  return html`${last} Each due day is complete; ${formatCountOf(attention.length, 'day')} still ${
    attention.length === 1 ? 'needs' : 'need'
  } somebody, the newest ${linkDay(attention.at(-1)?.day ?? '')}.`;
}

/** What runs next, and what it depends on. */
function renderMachine(data: DaysData, visit: DeskVisit): Html {
  const { nextRunAt, deadline } = data;
  const showAhead = (at: string) => `${showInstant(at, visit)}, in ${formatSpan(Date.parse(at) - visit.now)}`;
  const parts = Object.entries(data.parts).map(
    ([name, state]): Fact => [name, renderMark(state === 'ok' ? 'succeeded' : 'failed', showInLine(state))],
  );
  return html`<section class="card"><h2>Is the machine well?</h2>
${renderFacts([
  ['Next run', nextRunAt ? showAhead(nextRunAt) : 'none: the schedule names no later date'],
  ['Deadline', deadline ? `${showAhead(deadline.at)}, for ${showDay(deadline.day)}` : 'none ahead'],
  ['Mailbox', renderMailbox(data, visit)],
  ['Mapping copy', renderMappings(data, visit)],
  ['Channels', renderChannels(data, visit)],
  ...parts,
])}${renderWorkers(data, visit)}${renderProblems(data, visit)}</section>
`;
}

/** The processes that were seen within the last lease. */
function renderWorkers({ workers }: DaysData, visit: DeskVisit): Html {
  return html`<h3>Processes</h3>
${renderTable(
  workers,
  {
    Process: ({ id }) => id,
    Host: ({ host }) => host,
    Version: ({ version }) => version,
    'Busy with': ({ busy }) => describeBusy(busy),
    Since: ({ since }) => showInstant(since, visit),
  },
  { empty: 'None works now.' },
)}`;
}

/** Left out if none is configured. */
function renderMailbox({ mailbox }: DaysData, visit: DeskVisit): Html | undefined {
  if (mailbox === null) return undefined;
  const { isRead, readUntil } = mailbox;
  const last = readUntil === null ? 'it never was' : `last read ${showInstant(readUntil, visit)}`;
  return isRead
    ? renderMark('succeeded', last)
    : html`${renderMark('failed', `not read: ${last}`)}. To see why: <code>${visit.desk.command('doctor')}</code>`;
}

function renderMappings({ mappingsCompleteUntil }: DaysData, visit: DeskVisit): Html {
  const sync = visit.may('operate') ? html` <a href="/mappings/sync">Sync…</a>` : undefined;
  if (mappingsCompleteUntil === null) return html`none: it was never synced${sync}`;
  const at = Date.parse(mappingsCompleteUntil);
  // 0 while the first sync has not ended.
  if (at === 0) return html`incomplete: the first sync has not ended${sync}`;
  return html`${formatSpan(visit.now - at)} old, complete up to ${showInstant(at, visit)}${sync}`;
}

function renderChannels({ channels: { configured, failing } }: DaysData, { may }: DeskVisit): Html {
  const all = formatCount(configured);
  const failed = `${formatCount(failing)} of ${all} did not accept the last message`;
  const state =
    failing > 0 ? renderMark('failed', failed) : renderMark('succeeded', `${all} configured, none fails`);
  const more = may('operate') ? html` <a href="/notifications">Notifications</a>` : undefined;
  return html`${configured === 0 ? renderMark('not-due', nobodyIsTold) : state}${more}`;
}

/** Leaves out problems of days that are not good, which are listed already. */
function renderProblems({ problems, days }: DaysData, visit: DeskVisit): Html | undefined {
  const notGood = new Set(listNotGood(days).map(({ day }) => day));
  const others = problems.filter(({ day }) => day === null || !notGood.has(day)).reverse();
  if (others.length === 0) return undefined;
  return html`<h3>${notGood.size > 0 ? 'Other open problems' : 'Open problems'}</h3>
<ul class="plain">${others.map(({ severity, title, day, since }) => {
    const words = showInLine(showMessage(title, visit.desk.command));
    const link = day === null ? words : html`<a href="/days/${encodeURIComponent(day)}">${words}</a>`;
    return html`<li>${renderSeverity(severity)} ${link} <span class="faint">since ${showInstant(since, visit)}</span></li>`;
  })}</ul>`;
}

const minuteMs = 60_000;

/** To the minute: a span of hours needs no seconds. */
function formatSpan(milliseconds: number): string {
  return formatDuration(Math.max(1, Math.round(milliseconds / minuteMs)) * minuteMs);
}
