import type { BusinessDay } from '../booking/business-day.js';
import type { CanaryState } from '../ledger/canaries.js';
import { isToBeAccepted, mayCompleteDay, type Run, warnsOfVolume } from '../ledger/run.js';
import { judgeDay, makesDayGood, reviewsDay } from '../review/day/good-day.js';
import { type DayVerdicts, summariseVerdicts } from '../review/verdicts/day-verdicts.js';
import { findDayRange } from '../schedule/due-days.js';
import type { Slots } from '../schedule/slots.js';
import { showInLine } from '../text/foreign-text.js';
import { formatCount, formatCountOf, shorten } from '../text/format.js';
import { type Html, html } from '../text/html.js';
import { colourOf, type DayMark, defineShapes, drawShape, nameMark, renderMark } from './marks.js';
import { showDay } from './parts.js';

interface FactsOfDay {
  /** Newest first. */
  readonly runs: readonly Run[];
  readonly canary: CanaryState | undefined;
  /** How many bookings are usual; null if it is not compared. */
  readonly usual: number | null;
  /** Those in cases. */
  readonly openBookings: number;
}

interface JudgeQuestion {
  readonly now: number;
  /** The nightly schedule. */
  readonly nights: Slots;
  /** The day of the last slot, YYYY-MM-DD; undefined if none has passed yet. */
  readonly dueUntil: string | undefined;
  /** The first day with a run; undefined for an empty ledger. */
  readonly firstDay: string | undefined;
  /** Epoch milliseconds; undefined if the day has none. */
  readonly findDeadline: (day: BusinessDay) => number | undefined;
}

/** A day of the calendar: how it went, how it ran, and what its bookings still need. */
export type ShownDay = ReturnType<typeof judgeShownDay>;

export function judgeShownDay(
  day: BusinessDay,
  { runs, canary, usual, openBookings }: FactsOfDay,
  { now, nights, dueUntil, firstDay, findDeadline }: JudgeQuestion,
) {
  const { iso, zone: timezone } = day;
  const verdicts = summariseVerdicts(iso, runs);
  const run = verdicts.newer ?? verdicts.runs[0];
  const isReached = firstDay !== undefined && iso >= firstDay;
  const isDue = isReached && ((dueUntil !== undefined && iso <= dueUntil) || runs.some(mayCompleteDay));
  const { judgement, headline } = judgeDay(verdicts, { timezone, canary });
  const judged = (judgement: DayMark) => (run ? judgement : isDue ? 'missing' : 'not-due');
  const deadline = isDue ? findDeadline(day) : undefined;
  return {
    /** YYYY-MM-DD */
    day: iso,
    judgement: judged(judgement),
    /** The judgement in a sentence. */
    headline: run || isDue ? headline : isReached ? 'Its run is still to come.' : 'Before the first run.',
    /** How the run went. A wrong mapping that it found is no fault of the run: `openBookings` tells what is left to do. */
    ran: judged(
      verdicts.affected ? judgeDay({ ...verdicts, affected: 0 }, { timezone, canary }).judgement : judgement,
    ),
    /** Its bookings that are open in cases. */
    openBookings,
    /** Its run has begun, or should have. */
    isDue,
    /** A complete run reviewed it, as in `status --json`. */
    isGood: run !== undefined && makesDayGood(run, timezone),
    /** It was not reviewed by its deadline. */
    isLate: deadline !== undefined && (findReviewedSince(runs, timezone) ?? now) > deadline,
    /** Its run found far fewer bookings than usual, and nobody has accepted that. */
    isDrop: run !== undefined && warnsOfVolume(run),
    /** It is not good until somebody accepts so few bookings. */
    isToBeAccepted: run?.state === 'succeeded' && isToBeAccepted(run),
    /** What started the run that counts; `catch-up` is a slot after its own. */
    how: run ? howItRan(run, day, nights) : null,
    runs: runs.length,
    /** The run that counts. */
    runId: run?.id ?? null,
    state: run?.state ?? null,
    durationMs: run ? Math.max(0, (run.finishedAt ?? now) - run.startedAt) : null,
    usual,
    counts: run ? countBookings(verdicts) : null,
  };
}

/** Of all runs that together sent the day; null stands for unknown. */
function countBookings({ runs, affected, unanswered }: DayVerdicts) {
  const sum = (name: 'accepted' | 'delivered' | 'refused' | 'pending') =>
    runs.reduce((total, { counts }) => total + counts[name], 0);
  return {
    accepted: sum('accepted'),
    // A run that tops a day up reads the whole source again: what it can't send was counted before.
    rejected: runs[0]?.counts.rejected ?? 0,
    delivered: sum('delivered'),
    refused: sum('refused'),
    pending: sum('pending'),
    ...{ affected, unanswered },
  };
}

/** When the first run that reviewed the day ended. */
function findReviewedSince(runs: readonly Run[], timezone: string): number | undefined {
  return runs.findLast((run) => reviewsDay(run, timezone))?.finishedAt;
}

function howItRan(run: Run, day: BusinessDay, nights: Slots): Run['trigger'] | 'catch-up' {
  return run.trigger === 'schedule' && isCatchUp(run, day, nights) ? 'catch-up' : run.trigger;
}

const nightMs = 86_400_000;

/** Whether a later day's slot started it. */
function isCatchUp({ startedAt }: Run, day: BusinessDay, nights: Slots): boolean {
  // Finding slots takes long, and most runs need none.
  if (startedAt <= day.lastInstant.getTime() + nightMs) return false;
  const range = findDayRange(nights, new Date(startedAt), 0);
  return range !== undefined && day.iso < range.from.iso;
}

/** Whether its run went wrong, or somebody still has to help its guests. */
export function needsAttention({ ran, openBookings }: ShownDay): boolean {
  return ran === 'attention' || ran === 'missing' || openBookings > 0;
}

const weekdayLetters = ['M', 'T', 'W', 'T', 'F', 'S', 'S'];
/** Short, because there are hundreds of cells; the page of a day has the whole text. */
const longestHeadline = 40;
/** Older ones are folded. */
const newestMonths = 3;

const meanings = {
  good: 'complete, and all verdicts are known',
  sent: 'complete; some verdicts are not known here',
  attention: 'its run failed, or somebody has to act on it; only a red frame if the run is complete',
  unfinished: 'being worked on, or incomplete',
  missing: 'the day is over and has no run',
} as const;
const marks = Object.keys(meanings) as (keyof typeof meanings)[];

/** How a day ran, shown in its cell besides its state; nothing if the schedule started it in its own night. */
const letters = {
  'catch-up': { letter: 'C', meaning: 'catch-up' },
  replay: { letter: 'R', meaning: 'replay' },
  hook: { letter: 'H', meaning: 'hook' },
  manual: { letter: 'M', meaning: 'started by a person' },
  today: { letter: 'T', meaning: 'so far today' },
  late: { letter: 'L', meaning: 'late' },
} as const;

/**
 * The months since the first run, newest first, because whoever is called at night looks at the last days. Each cell shows by colour,
 * sign and text how its run went, and with a number of its own how many of its bookings are open; the text appears on hover, on focus
 * and on a tap.
 *
 * @param days oldest first
 * @param firstDay the first one with a run
 */
export function renderCalendar(days: readonly ShownDay[], firstDay: string | null): Html {
  const months = new Map<string, ShownDay[]>();
  const begins = monthOf(firstDay ?? days.at(-1)?.day ?? '');
  for (const day of days) {
    const month = monthOf(day.day);
    if (month >= begins) months.set(month, [...(months.get(month) ?? []), day]);
  }
  const newestFirst = [...months.values()].reverse();
  return html`${defineShapes(marks)}<ul class="legend">${marks.map(
    (mark) => html`<li>${renderMark(mark)}<span class="faint">: ${meanings[mark]}</span></li>`,
  )}<li><i class="open">2</i> <span class="faint">bookings of the day that are open in cases</span></li></ul>
<ul class="legend">${Object.values(letters).map(
    ({ letter, meaning }) => html`<li><b>${letter}</b> <span class="faint">${meaning}</span></li>`,
  )}</ul>
<div class="months">${newestFirst.slice(0, newestMonths).map(renderMonth)}</div>
${renderOlder(newestFirst.slice(newestMonths))}`;
}

function renderOlder(months: readonly (readonly ShownDay[])[]): Html | undefined {
  if (months.length === 0) return undefined;
  const attention = months.flat().filter(needsAttention).length;
  const words = attention === 0 ? '' : `, ${formatCountOf(attention, 'day')} in need of attention`;
  return html`<details><summary>${formatCountOf(months.length, 'older month')}${words}</summary>
<div class="months">${months.map(renderMonth)}</div></details>`;
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
<ol class="from-${weekday + 1}">${days.map(renderCell)}</ol></section>
`;
}

function renderCell(shown: ShownDay): Html {
  const { day, ran, openBookings } = shown;
  /** 5 for 2026-11-05 */
  const date = Number(day.slice(8));
  if (ran === 'not-due' && openBookings === 0) return html`<li><span>${date}</span></li>`;
  const how = listLetters(shown).map(({ letter }) => letter);
  return html`<li><a class="${nameLook(shown)}"${how.length > 0 ? html` data-how="${how.join('')}"` : undefined} href="/days/${day}" aria-label="${describe(shown)}">${date}${
    openBookings > 0 ? html`<i>${openBookings > 99 ? '99+' : openBookings}</i>` : undefined
  }${ran === 'not-due' ? undefined : drawShape(ran)}</a></li>`;
}

/** Days that are not good stand out; one whose run is complete looks calmer. */
function nameLook({ ran, isGood }: ShownDay): string {
  if (ran === 'missing') return ran;
  return ran === 'attention' && isGood ? 'work' : colourOf(ran);
}

function listLetters({ how, isLate }: ShownDay) {
  return [...(how !== null && how !== 'schedule' ? [letters[how]] : []), ...(isLate ? [letters.late] : [])];
}

/** 20 Nov 2026: good, 1,204 bookings, 3 incorrect; catch-up, late; 2 still open in cases */
function describe(shown: ShownDay): string {
  const how = listLetters(shown).map(({ meaning }) => meaning);
  return [
    `${showDay(shown.day)}: ${nameMark(shown.ran)}${explain(shown)}`,
    ...(how.length > 0 ? [how.join(', ')] : []),
    ...(shown.openBookings > 0 ? [`${formatCount(shown.openBookings)} still open in cases`] : []),
  ].join('; ');
}

function explain({ ran, headline, counts }: ShownDay): string {
  if (ran === 'attention' || ran === 'unfinished')
    return `: ${shorten(showInLine(headline), longestHeadline)}`;
  if (!counts) return '';
  const incorrect = counts.affected ? `, ${formatCount(counts.affected)} incorrect` : '';
  return `, ${formatCountOf(counts.accepted, 'booking')}${incorrect}`;
}
