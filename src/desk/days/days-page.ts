import * as z from 'zod';
import { renderDayColumns } from '../../charts/day-columns.js';
import { renderDurations } from '../../charts/durations.js';
import { renderVolume } from '../../charts/volume.js';
import { type Html, html } from '../../text/html.js';
import { definePage, type Page } from '../page.js';
import { renderCalendar } from './calendar.js';
import type { ShownDay } from './judge-shown-day.js';
import { renderOverview } from './overview.js';
import { type DaysParts, readDays } from './read-days.js';

/** The home page: the current state, and twelve months of days. */
export function createDaysPage(parts: DaysParts): Page {
  return definePage({
    path: '/',
    permission: 'look',
    input: z.object({}),
    json: 'if-asked',
    read: (_, { now }) => readDays(parts, now),
    render: (data, visit) => ({
      title: 'Days',
      content: html`${renderOverview(data, visit)}
<div class="beside"><section><h2>Calendar</h2>
${visit.may('operate') ? html`<p class="buttons"><a class="button quiet" href="/replay">Replay days…</a></p>` : undefined}
${renderCalendar(data.days)}</section>
<section><h2>Charts</h2>
${renderCharts(data.days)}</section></div>`,
    }),
  });
}

/** Days in the charts that compare single days: three months. */
const daysCompared = 91;
/** A young ledger leaves most of a year empty; with fewer days, columns would become bars. */
const minDays = 31;

function renderCharts(days: readonly ShownDay[]): Html {
  const ran = days.flatMap(({ counts, ...day }) => (counts ? [{ ...day, ...counts }] : []));
  const missing = days.filter(({ judgement }) => judgement === 'missing').map(({ day }) => day);
  const to = days.at(-1)?.day ?? '';
  const begun = days.slice(days.findIndex(({ isDue }) => isDue)).length;
  const startOf = (count: number) => days.at(-Math.min(days.length, count))?.day ?? '';
  const year = { from: startOf(Math.max(minDays, begun)), to };
  const months = { from: startOf(Math.min(daysCompared, Math.max(minDays, begun))), to };
  const runs = ran.flatMap(({ day, state, durationMs }) =>
    durationMs !== null && hasEnded(state) ? [{ day, durationMs, isFailed: state === 'failed' }] : [],
  );
  return html`${renderDayColumns({ title: 'Bookings per day', ...year, days: ran, missing })}
${renderVolume({ title: 'Bookings and what is usual', ...months, days: ran })}
${renderDurations({ title: 'Duration', ...months, runs })}`;
}

function hasEnded(state: ShownDay['state']): boolean {
  return state === 'succeeded' || state === 'failed';
}
