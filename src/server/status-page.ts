import { countDaysBehind, endedTooEarly, makesDayGood } from '../review/day/good-day.js';
import { describeWaiting, type WaitingReport, type Waits } from '../review/day/report.js';
import { isOfItsDay, mayCompleteDay } from '../review/day-runs.js';
import type { LedgerSummary } from '../review/ledger.js';
import { countRecords, hasUnexpectedCount, type Run } from '../review/run.js';
import { countAffected, hasUnknownVerdicts, nameState } from '../review/verdicts/day-verdicts.js';
import { describeDrops, type VolumeDrop } from '../review/volume.js';
import { formatCount, formatCountOf, formatDuration, formatLocalInstant } from '../text/format.js';
import { type Html, html } from '../text/html.js';
import { listLastDays } from './last-good-day.js';
import { renderPage } from './page.js';

interface StatusPageContent {
  readonly summary: LedgerSummary;
  /** Newest day first. */
  readonly runs: readonly Run[];
  readonly waits: Waits;
  /** Epoch milliseconds */
  readonly now: number;
  readonly timezone: string;
}

/** Today and the two weeks before. */
const shownDays = 15;

/** The last two weeks on one self-contained page. */
export function renderStatusPage({ summary, runs, waits, now, timezone }: StatusPageContent): string {
  const rows = listLastDays(shownDays, now, timezone).flatMap(({ iso }, daysAgo) => {
    const ofDay = runs.filter(({ day }) => day === iso);
    if (ofDay.length > 0) return ofDay.flatMap((run) => renderRun(run, waits, now, timezone));
    const isDue = daysAgo > 0 && summary.firstDay !== undefined && iso > summary.firstDay;
    return isDue ? [renderMissing(iso)] : [];
  });
  return renderPage(html`
${renderLastGood(summary, runs, now, timezone)}
${rows.length === 0 ? html`<p class="none">No runs in the last two weeks.</p>` : renderTable(rows)}
<footer>As of ${formatLocalInstant(now, timezone)}, ${timezone}. This page reloads every 30 seconds.</footer>`);
}

function renderLastGood(
  { lastGoodDay }: LedgerSummary,
  runs: readonly Run[],
  now: number,
  timezone: string,
): Html {
  if (lastGoodDay === undefined) {
    return html`<section class="card bad"><h2>Last good day</h2><p class="big">none yet</p></section>`;
  }
  const behind = countDaysBehind(lastGoodDay, now, timezone);
  const isUnknown = runs.some(
    (run) =>
      run.day === lastGoodDay && run.state === 'succeeded' && isOfItsDay(run) && hasUnknownVerdicts(run),
  );
  const upToDate = isUnknown ? 'sent, with verdicts by e-mail or not known' : 'up to date';
  const words = behind === 0 ? upToDate : `${formatCountOf(behind, 'day')} behind`;
  return html`<section class="card ${behind > 0 ? 'bad' : isUnknown ? 'sent' : 'good'}"><h2>Last good day</h2>
<p class="big">${lastGoodDay} <small>${words}</small></p></section>`;
}

const columns = [
  'Day',
  'State',
  'Accepted',
  'Delivered',
  'Pending',
  'Refused',
  'Rejected',
  'Affected',
  'Started',
  'Duration',
];

function renderTable(rows: readonly Html[]): Html {
  return html`<table><thead><tr>${columns.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${rows}</tbody></table>`;
}

function renderRun(run: Run, waits: Waits, now: number, timezone: string): Html[] {
  const { counts, failure } = run;
  const numbers = [
    ['Accepted', counts.accepted],
    ['Delivered', counts.delivered],
    ['Pending', counts.pending],
    ['Refused', counts.refused],
    ['Rejected', counts.rejected],
    ['Affected', countAffected(run)],
  ] as const;
  const row = html`<tr class="run"><th scope="row"><a href="runs/${encodeURIComponent(run.id)}">${run.day}</a></th>
<td data-name="State"><span class="state ${classOf(run, timezone)}">${nameState(run)}</span> <small>${run.trigger}${run.topsUp && mayCompleteDay(run) ? ', late bookings' : ''}, by ${run.delivery}${nameSuspects(run)}${nameUnknown(run)}${nameUnexpected(run)}${mayCompleteDay(run) && endedTooEarly(run, timezone) ? ', before the day was over' : ''}${nameReason(run)}${nameWaiting(waits.get(run.id), timezone)}</small></td>
${numbers.map(([name, count]) => html`<td class="number${count === 0 ? ' zero' : ''}" data-name="${name}">${typeof count === 'number' ? formatCount(count) : count}</td>`)}
<td data-name="Started">${formatLocalInstant(run.startedAt, timezone)}</td>
<td data-name="Duration">${formatDuration((run.finishedAt ?? now) - run.startedAt)}</td></tr>
`;
  const words = failure ? [failure.message] : run.volume ? [describeVolume(run.volume)] : [];
  return [
    row,
    ...words.map(
      (text) => html`<tr class="failure"><td colspan="${columns.length}">${text}</td></tr>
`,
    ),
  ];
}

function describeVolume(volume: VolumeDrop): string {
  return `far fewer bookings than usual: ${describeDrops(volume).join('; ')}`;
}

function nameSuspects({ suspects }: Run): string {
  return suspects && suspects.suspects > 0 ? `, ${formatCountOf(suspects.suspects, 'suspect')}` : '';
}

/** Green is only for a run whose verdicts are all known, of a whole day with as many bookings as usual. (Design 11.) */
function classOf(run: Run, timezone: string): string {
  const isDoubtful = hasUnknownVerdicts(run) || run.volume || !makesDayGood(run, timezone);
  return run.state === 'succeeded' && isDoubtful ? 'sent' : run.state;
}

function nameUnknown({ counts: { unanswered, posted } }: Run): string {
  return [
    ...(unanswered ? [`, ${formatCount(unanswered)} without a verdict`] : []),
    ...(posted > 0 ? [`, ${formatCount(posted)} by e-mail only`] : []),
  ].join('');
}

function nameUnexpected(run: Run): string {
  if (run.state !== 'succeeded' || !hasUnexpectedCount(run)) return '';
  return `, ${formatCount(countRecords(run.counts))} records instead of ${formatCount(run.expected ?? 0)}`;
}

function nameWaiting(waiting: WaitingReport | undefined, timezone: string): Html | undefined {
  if (!waiting) return undefined;
  return html`<br>${describeWaiting(waiting, (instant) => formatLocalInstant(instant, timezone))}`;
}

function nameReason({ reason }: Run): string {
  return reason === undefined ? '' : `: ${reason}`;
}

function renderMissing(day: string): Html {
  return html`<tr class="run"><th scope="row">${day}</th>
<td data-name="State" colspan="${columns.length - 1}"><span class="state missing">no run</span></td></tr>
`;
}
