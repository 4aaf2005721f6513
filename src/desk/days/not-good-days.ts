import { showInLine } from '../../text/foreign-text.js';
import { formatCountOf, shorten } from '../../text/format.js';
import { type Html, html } from '../../text/html.js';
import { renderFirstAction } from '../day-actions.js';
import { renderMark } from '../marks.js';
import type { DeskVisit } from '../page.js';
import type { ShownDay } from './judge-shown-day.js';

/** Whoever is called at night acts on the last ones; the calendar has all. */
const daysShown = 5;
const longestHeadline = 240;

export function listNotGoodDays(days: readonly ShownDay[]): ShownDay[] {
  return days.filter(({ isDue, isGood }) => isDue && !isGood);
}

/**
 * The due days that are not good, newest first: why, and what helps.
 *
 * @param days oldest first
 */
export function renderNotGoodDays(days: readonly ShownDay[], visit: DeskVisit): Html | undefined {
  const notGood = listNotGoodDays(days).reverse();
  const oldest = notGood.at(-1)?.day;
  if (oldest === undefined) return undefined;
  const more = notGood.length - daysShown;
  return html`<section class="card urgent"><h2>${formatCountOf(notGood.length, 'day')} ${notGood.length === 1 ? 'is' : 'are'} not good</h2>
<ul class="plain not-good">${notGood.slice(0, daysShown).map((day, place) => renderDay(day, visit, place === 0))}</ul>${
    more > 0
      ? html`<p class="faint">And ${formatCountOf(more, 'earlier day')}, back to ${oldest}: see the calendar.</p>`
      : undefined
  }</section>
`;
}

/** Only the newest has a prominent button, so that it is clear what to do first. */
function renderDay(shown: ShownDay, visit: DeskVisit, isNewest: boolean): Html {
  const { day, judgement, headline, isLate } = shown;
  return html`<li><span><a class="whole" href="/days/${day}">${day}</a> <span class="faint">${nameWeekday(day)}</span></span>
<span>${renderMark(judgement)}${isLate ? html`, <strong class="bad">late</strong>` : undefined}</span>
<span class="why">${shorten(showInLine(headline), longestHeadline)}</span> ${renderFirstAction(shown, visit, isNewest ? 'button' : 'button quiet')}</li>
`;
}

function nameWeekday(day: string): string {
  return new Date(day).toLocaleDateString('en-GB', { weekday: 'long', timeZone: 'UTC' });
}
