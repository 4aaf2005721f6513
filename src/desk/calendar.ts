import { showInLine } from '../base/foreign-text.js';
import { formatCount, formatCountOf, shorten } from '../base/format.js';
import { type Html, html } from '../base/html.js';
import { type BusinessDay, createBusinessDay } from '../booking/business-day.js';
import { canaryToJson } from '../ledger/canaries.js';
import { findDeadline, judgeDeadlines } from '../notify/deadlines.js';
import { describeCanary } from '../review/canary.js';
import { isMissing } from '../review/day/missing-days.js';
import { readDayOutcomes } from '../review/outcome/read-outcome.js';
import type { DayOutcome } from '../rules/day-outcome.js';
import { type DayMark, describeDay, describeNoRun, describeRunOfDay } from '../rules/describe-day.js';
import { makesDayGood, reviewsDay } from '../rules/good-day.js';
import { groupByDay, mayCompleteDay, type Run } from '../rules/run.js';
import { businessDayOf } from '../schedule/cron-times.js';
import { listDayActions } from './day-actions.js';
import { colourOf, defineShapes, drawShape, nameMark, renderLegend } from './marks.js';
import type { DeskVisit } from './page.js';
import { showDay } from './parts.js';

const monthsShown = 12;
/** More than anybody sends in that time. */
const canariesRead = 2_000;

/** The days from the first of the month eleven months ago up to today, oldest first. */
export async function readCalendar(visit: DeskVisit) {
  const { desk, now, today, timezone } = visit;
  const { ledger, deadline } = desk;
  const [year = 0, month = 1] = today.split('-').map(Number);
  const first = new Date(Date.UTC(year, month - monthsShown, 1)).toISOString().slice(0, 10);
  const from = createBusinessDay(first, timezone);
  const calendar: BusinessDay[] = [];
  for (let day = from; day.iso <= today; day = day.next()) calendar.push(day);
  const found = await ledger.runs.listOfDays({ from: from.iso, to: today });
  const runs = groupByDay(found);
  const outcomes = await readDayOutcomes(ledger, { from: from.iso, to: today }, runs);
  const known = await readKnown(visit, from, runs);
  const { countedFrom } = known;
  const reviewedDays = found.flatMap((run) => (reviewsDay(run, timezone) ? run.day : []));
  const next = deadline && judgeDeadlines({ deadline, timezone, now, countedFrom, reviewedDays }).next;
  return {
    /** The first day with a run. */
    firstDay: known.firstDay ?? null,
    /** The next one of a day that is not reviewed yet. */
    deadline: next ? { day: next.day, at: new Date(next.at).toISOString() } : null,
    days: calendar.map((day) => judgeShownDay(day, runs.get(day.iso) ?? [], outcomes.get(day.iso), known)),
  };
}

/** What days are judged by, besides their runs. */
async function readKnown(
  { desk, now, today, timezone }: DeskVisit,
  from: BusinessDay,
  runs: ReadonlyMap<string, readonly Run[]>,
) {
  const { ledger, nights, deadline } = desk;
  const { firstDay } = await ledger.runs.summarise(createBusinessDay(today, timezone));
  const since = from.firstInstant.getTime();
  const sent = await ledger.canaries.list({ limit: canariesRead, since });
  const cronTime = nights.last(new Date(now));
  return {
    ...{ now, deadline, firstDay },
    latestOf: (day: string) => runs.get(day)?.[0],
    /** The day of the last cron time; undefined if none has passed yet. */
    dueUntil: cronTime && businessDayOf(cronTime, timezone).iso,
    /** Deadlines before that instant do not count. */
    countedFrom: deadline === undefined ? 0 : await ledger.notices.noteFirst('deadline', now),
    /** What became of the newest one of each day. */
    canaries: new Map(
      sent.toReversed().map((canary) => [canary.day, describeCanary(canaryToJson(canary, now), timezone)]),
    ),
    /** The bookings that are open in cases. */
    open: await ledger.cases.countUnresolvedByDay(),
  };
}

type Known = Awaited<ReturnType<typeof readKnown>>;

/** A day of the calendar: how it went, how its run went, and what its bookings still need. */
export type ShownDay = ReturnType<typeof judgeShownDay>;

/** @param runs newest first */
export function judgeShownDay(
  day: BusinessDay,
  runs: readonly Run[],
  outcome: DayOutcome | undefined,
  known: Known,
) {
  const { firstDay, dueUntil = '' } = known;
  const { iso, zone: timezone } = day;
  const run = outcome?.latest;
  const isReached = firstDay !== undefined && iso >= firstDay;
  const isOver = iso <= dueUntil;
  const facts = { timezone, canary: known.canaries.get(iso) };
  const isMissed = isReached && isOver && isMissing(day, known);
  const isDue = isMissed || (isReached && runs.some(mayCompleteDay));
  const { judgement, headline } = outcome
    ? describeDay(outcome, facts)
    : describeNoRun({ isMissing: isMissed, isOver, isReached });
  return {
    /** YYYY-MM-DD */
    day: iso,
    /** In all, in a sentence, and how its run went. */
    ...{ judgement, headline, ran: outcome ? describeRunOfDay(outcome, facts).judgement : judgement },
    /** Its bookings that are open in cases. */
    openBookings: known.open.get(iso) ?? 0,
    /** Its run has begun, or should have. */
    isDue,
    /** A complete run reviewed it, as in `status --json`. */
    isGood: run !== undefined && makesDayGood(run, timezone),
    /** It was not reviewed by its deadline. */
    isLate: isDue && missesDeadline(day, runs, known),
    /** The run that counts. */
    runId: run?.id ?? null,
    state: run?.state ?? null,
    /** The bookings of the day, over all its runs; null without a run. */
    accepted: outcome?.accepted ?? null,
    /** What helps the day most, after the newest of all its runs; null for a day that is not due. */
    firstAction: (isDue && listDayActions(runs[0], timezone)[0]) || null,
  };
}

function missesDeadline(day: BusinessDay, runs: readonly Run[], { deadline, countedFrom, now }: Known) {
  const at = deadline === undefined ? undefined : findDeadline(day, deadline);
  if (at === undefined || at <= countedFrom) return false;
  const firstReview = runs.findLast((run) => reviewsDay(run, day.zone));
  return (firstReview?.finishedAt ?? now) > at;
}

/** Whether its run went wrong, or somebody still has to help its guests. */
export function needsAttention({ ran, openBookings }: ShownDay): boolean {
  return ran === 'attention' || ran === 'missing' || openBookings > 0;
}

const weekdayLetters = ['M', 'T', 'W', 'T', 'F', 'S', 'S'];
/** Short, because there are hundreds of cells; the page of a day has the whole text. */
const longestHeadline = 24;
/** Older ones are folded. */
const newestMonths = 3;

const marks: readonly DayMark[] = ['good', 'sent', 'attention', 'unfinished', 'missing'];

/**
 * The months since the first run, newest first, because whoever is called at night looks at the last days. Each cell shows by colour
 * and sign how its run went, and with a number of its own how many of its bookings are open; its title says both in words.
 *
 * @param days oldest first
 * @param firstDay the first one with a run
 */
export function renderCalendar(days: readonly ShownDay[], firstDay: string | null): Html {
  const begins = monthOf(firstDay ?? days.at(-1)?.day ?? '');
  const names = new Set(days.map(({ day }) => monthOf(day)).filter((month) => month >= begins));
  const newestFirst = [...names].reverse().map((month) => days.filter(({ day }) => monthOf(day) === month));
  const older = newestFirst.slice(newestMonths);
  const attention = older.flat().filter(needsAttention).length;
  const inNeed = attention === 0 ? '' : `, ${formatCountOf(attention, 'day')} in need of attention`;
  const folded = html`<details><summary>${formatCountOf(older.length, 'older month')}${inNeed}</summary>
<div class="months">${older.map(renderMonth)}</div></details>`;
  return html`${defineShapes(marks)}${renderLegend(marks)}
<ul class="legend"><li>${drawCount(2)} <span class="faint">bookings of the day that are open in cases</span></li>
<li class="faint">Only a red frame: the run is complete, and somebody has to act on it.</li></ul>
<div class="months">${newestFirst.slice(0, newestMonths).map(renderMonth)}</div>
${older.length > 0 ? folded : undefined}`;
}

/** 2026-11 */
function monthOf(day: string): string {
  return day.slice(0, '2026-11'.length);
}

function renderMonth(days: readonly ShownDay[]): Html {
  const first = `${monthOf(days[0]?.day ?? '')}-01`;
  const weekday = (new Date(first).getUTCDay() + 6) % 7;
  return html`<section class="month"><h3>${showDay(first).slice('1 '.length)}</h3>
<p aria-hidden="true">${weekdayLetters.map((letter) => html`<span>${letter}</span>`)}</p>
<ol>${Array.from({ length: weekday }, () => html`<li aria-hidden="true"></li>`)}${days.map(renderCell)}</ol></section>
`;
}

function renderCell(shown: ShownDay): Html {
  const { day, ran, openBookings } = shown;
  /** 5 for 2026-11-05 */
  const date = Number(day.slice(8));
  if (ran === 'not-due') return html`<li><span>${date}</span></li>`;
  const count = openBookings > 0 && drawCount(openBookings);
  return html`<li><a class="${nameLook(shown)}" href="/days/${day}" title="${describe(shown)}">${date}${drawShape(ran)}${count}</a></li>`;
}

/** The title of its cell says it, too. */
function drawCount(bookings: number): Html {
  return html`<b aria-hidden="true">${bookings > 99 ? '99+' : bookings}</b>`;
}

/** Days that are not good stand out; one whose run is complete looks calmer. */
function nameLook({ ran, isGood }: ShownDay): string {
  if (ran === 'missing') return ran;
  return ran === 'attention' && isGood ? 'work' : colourOf(ran);
}

/** 20 Nov 2026: good, 1,204 bookings, 2 open, late */
function describe(shown: ShownDay): string {
  const { day, ran, openBookings, isLate } = shown;
  const open = openBookings > 0 ? `, ${formatCount(openBookings)} open` : '';
  return `${showDay(day)}: ${nameMark(ran)}${explain(shown)}${open}${isLate ? ', late' : ''}`;
}

function explain({ ran, headline, accepted }: ShownDay): string {
  if (ran === 'attention' || ran === 'unfinished')
    return `: ${shorten(showInLine(headline), longestHeadline)}`;
  return accepted === null ? '' : `, ${formatCountOf(accepted, 'booking')}`;
}
