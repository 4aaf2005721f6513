import { showInLine } from '../../text/foreign-text.js';
import { formatCount, shorten } from '../../text/format.js';
import { type Html, html } from '../../text/html.js';
import { colourOf, type DayMark, defineShapes, drawShape, nameMark, renderLegend } from '../marks.js';
import type { ShownDay } from './judge-shown-day.js';

const monthNames = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July'],
  ...['August', 'September', 'October', 'November', 'December'],
];
const weekdayLetters = ['M', 'T', 'W', 'T', 'F', 'S', 'S'];
const marks: readonly DayMark[] = ['good', 'sent', 'attention', 'unfinished', 'missing'];
/** Short, because there are hundreds of cells; the page of a day has the whole text. */
const longestHeadline = 40;

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
 * The months, newest first, because whoever is called at night looks at the last days. Each cell shows its state by
 * colour, sign and text; the text appears on hover, on focus and on a tap.
 *
 * @param days oldest first
 */
export function renderCalendar(days: readonly ShownDay[]): Html {
  const months = new Map<string, ShownDay[]>();
  for (const day of days) {
    const month = day.day.slice(0, '2026-11'.length);
    months.set(month, [...(months.get(month) ?? []), day]);
  }
  return html`${defineShapes(marks)}${renderLegend(marks)}
<p class="legend"><span class="faint">A red frame: the day is good, but its bookings need somebody.</span></p>
<ul class="legend">${Object.values(letters).map(
    ({ letter, meaning }) => html`<li><b>${letter}</b> <span class="faint">${meaning}</span></li>`,
  )}</ul>
<div class="months">${[...months].reverse().map(([month, ofMonth]) => renderMonth(month, ofMonth))}</div>`;
}

function renderMonth(month: string, days: readonly ShownDay[]): Html {
  const weekday = (new Date(`${month}-01T00:00:00Z`).getUTCDay() + 6) % 7;
  return html`<section class="month"><h3>${nameMonth(month)} ${month.slice(0, 4)}</h3>
<p aria-hidden="true">${weekdayLetters.map((letter) => html`<span>${letter}</span>`)}</p>
<ol class="from-${weekday + 1}">${days.map(renderCell)}</ol></section>
`;
}

function renderCell(day: ShownDay): Html {
  if (day.judgement === 'not-due') return html`<li><span>${nameDate(day)}</span></li>`;
  return html`<li><a ${renderLook(day)} href="/days/${day.day}" aria-label="${describe(day)}">${renderInside(day)}</a></li>`;
}

function renderLook(day: ShownDay): Html {
  const how = listLetters(day).map(({ letter }) => letter);
  return html`class="${nameLook(day)}"${how.length > 0 ? html` data-how="${how.join('')}"` : undefined}`;
}

/** Days that are not good stand out; a day that only needs the booking team looks calmer. */
function nameLook({ judgement, isGood }: ShownDay): string {
  if (judgement === 'missing') return judgement;
  return judgement === 'attention' && isGood ? 'work' : colourOf(judgement);
}

function renderInside(day: ShownDay): Html {
  return html`${nameDate(day)}${drawShape(day.judgement)}`;
}

function listLetters({ how, isLate }: ShownDay) {
  return [...(how !== null && how !== 'schedule' ? [letters[how]] : []), ...(isLate ? [letters.late] : [])];
}

/** 20 Nov: good, 1,204 bookings; catch-up, late */
function describe(day: ShownDay): string {
  return `${name(day)}${explain(day)}${nameHow(day)}`;
}

function name(day: ShownDay): string {
  return `${nameDate(day)} ${nameMonth(day.day).slice(0, 3)}: ${nameMark(day.judgement)}`;
}

function explain({ judgement, headline, counts }: ShownDay): string {
  if (judgement === 'attention' || judgement === 'unfinished')
    return `: ${shorten(showInLine(headline), longestHeadline)}`;
  return counts ? `, ${formatCount(counts.accepted)} bookings` : '';
}

function nameHow(day: ShownDay): string {
  const how = listLetters(day).map(({ meaning }) => meaning);
  return how.length > 0 ? `; ${how.join(', ')}` : '';
}

/** 5 for 2026-11-05 */
function nameDate({ day }: ShownDay): number {
  return Number(day.slice(8));
}

function nameMonth(day: string): string {
  return monthNames[Number(day.slice(5, 7)) - 1] ?? '';
}
