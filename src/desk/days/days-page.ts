import { renderDayColumns } from '../../charts/day-columns.js';
import { renderDurations } from '../../charts/durations.js';
import { renderVolume } from '../../charts/volume.js';
import { type Html, html } from '../../text/html.js';
import { definePage, type Page } from '../routing/route.js';
import { renderCalendar } from './calendar.js';
import type { ShownDay } from './judge-shown-day.js';
import { renderOverview } from './overview.js';
import { type DaysParts, readDays } from './read-days.js';
import { renderSelectionForm, renderSelectionLinks, selectDays, selectionInput } from './selection.js';

/** The home page: the current state, and twelve months of days. */
export function createDaysPage(parts: DaysParts): Page {
  return definePage({
    path: '/',
    permission: 'look',
    input: selectionInput,
    json: 'if-asked',
    async read(input, { now, may }) {
      const data = await readDays(parts, now);
      return { ...data, selection: may('operate') ? selectDays(input, data.days) : null };
    },
    render({ selection, ...facts }, visit) {
      const { days } = facts;
      if (selection)
        return {
          title: 'Select days to replay',
          content: html`${renderSelectionForm(selection)}
<form method="get" action="/replay"><h2>Calendar</h2>
<p class="buttons"><button>Preview the replay…</button></p>
${renderCalendar(days, { selected: new Set(selection.days) })}
<p class="buttons"><button>Preview the replay…</button></p></form>`,
        };
      return {
        title: 'Days',
        content: html`${renderOverview(facts, visit)}
<div class="beside"><section><h2>Calendar</h2>
${visit.may('operate') ? renderSelectionLinks(days) : undefined}
${renderCalendar(days)}</section>
<section><h2>Charts</h2>
${renderCharts(days)}</section></div>`,
      };
    },
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
