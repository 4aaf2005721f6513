import { isActive } from '../../ledger/run.js';
import { reportsDrop } from '../../review/day/report.js';
import { countAffected } from '../../review/verdicts/day-verdicts.js';
import { showInLine } from '../../text/foreign-text.js';
import { formatCount, formatDuration } from '../../text/format.js';
import { type Html, html } from '../../text/html.js';
import { markOfRun, renderMark } from '../marks.js';
import type { DeskVisit } from '../page.js';
import type { RunMoment } from './run-moment.js';

/** The live part of a run's page: its state, why it is pending, its progress, and its counts. */
export function renderMoment(moment: RunMoment, visit: DeskVisit): Html {
  const words = moment.pending?.words ?? moment.headline;
  return html`<p class="headline">${renderMark(markOfRun(moment, reportsDrop(moment)))}${words === null ? undefined : html` <span>${showInLine(words)}</span>`}</p>
${isActive(moment) ? renderBar(moment) : undefined}${renderCounts(moment, visit)}`;
}

function renderBar({ state, counts, leftMs }: RunMoment): Html {
  if (state === 'collecting')
    return html`<p class="buttons"><progress aria-label="Collecting"></progress> <span>${formatCount(counts.read)} read</span></p>
`;
  const done = counts.delivered + counts.refused;
  const share = counts.accepted === 0 ? 0 : Math.floor((100 * done) / counts.accepted);
  const left = leftMs === null ? '' : `, about ${writeLeft(leftMs)} left`;
  return html`<p class="buttons"><progress aria-label="Delivered" max="${Math.max(1, counts.accepted)}" value="${done}"></progress> <span>${share} %: ${formatCount(done)} of ${formatCount(counts.accepted)}${left}</span></p>
`;
}

/** Rounded, because an estimate is not exact. */
function writeLeft(milliseconds: number): string {
  if (milliseconds < 60_000) return `${Math.max(1, Math.round(milliseconds / 1_000))} s`;
  const step = milliseconds < 3_600_000 ? 10_000 : 60_000;
  return formatDuration(Math.round(milliseconds / step) * step);
}

interface Count {
  readonly name: string;
  /** A text if no number is known. */
  readonly value: number | string;
  /** The page that lists what is counted, below the address of the run. */
  readonly list?: string;
  readonly colour?: 'bad' | 'wait';
}

function listCounts(moment: RunMoment): readonly Count[] {
  const { counts, suspects, delivery } = moment;
  const isByFile = delivery === 'file';
  return [
    { name: 'Read', value: counts.read },
    { name: 'Accepted', value: counts.accepted },
    { name: 'Duplicates', value: counts.duplicates },
    { name: 'Filtered', value: counts.filtered },
    { name: 'Rejected', value: counts.rejected, list: 'rejected', colour: 'wait' },
    { name: 'Delivered', value: counts.delivered },
    { name: 'Pending', value: counts.pending },
    { name: 'Refused', value: counts.refused, list: 'refused', colour: 'bad' },
    { name: 'Sent again', value: counts.repeated },
    ...(isByFile ? [{ name: 'By e-mail only', value: counts.posted, list: 'posted' }] : []),
    {
      name: 'Unanswered',
      value: counts.unanswered ?? (isByFile ? 'unknown' : 'by e-mail'),
      list: 'unanswered',
      colour: 'wait',
    },
    { name: 'Affected', value: countAffected(moment), list: 'affected', colour: 'bad' },
    {
      name: 'Suspects',
      value: suspects?.bookings ?? 'not compared',
      list: 'suspects',
      colour: 'wait',
    },
  ];
}

function renderCounts(moment: RunMoment, visit: DeskVisit): Html {
  const path = `/runs/${encodeURIComponent(moment.runId)}`;
  return html`<dl class="counts">${listCounts(moment).map(({ name, value, list, colour = '' }) => {
    const isNumber = typeof value === 'number';
    const text = isNumber ? formatCount(value) : value;
    const isListed = list !== undefined && isNumber && value > 0 && visit.may('see-bookings');
    return html`<div><dt>${name}</dt><dd class="${isNumber ? (value > 0 ? colour : '') : 'faint'}">${isListed ? html`<a href="${path}/${list}">${text}</a>` : text}</dd></div>`;
  })}</dl>
`;
}
