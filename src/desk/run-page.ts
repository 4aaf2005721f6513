import type { OpenWork } from '../ledger/progress.js';
import { isActive, type Run } from '../ledger/run.js';
import { judgeDay } from '../review/day/good-day.js';
import { collectToJson, countIdleMs } from '../review/day/idle-time.js';
import { isUnfinished } from '../review/day/open-run.js';
import { decidePending, describePending, type Pending } from '../review/day/pending.js';
import { readWaiting, reportsDrop, runToJson } from '../review/day/report.js';
import { describeDrops } from '../review/gates.js';
import { countAffected, summariseVerdicts } from '../review/verdicts/day-verdicts.js';
import { showInLine } from '../text/foreign-text.js';
import { formatCount, formatDuration, formatLocalInstant } from '../text/format.js';
import { type Html, html } from '../text/html.js';
import { readDayActions, renderButtons } from './day-actions.js';
import { runsRead } from './day-report.js';
import { markOfRun, renderMark } from './marks.js';
import { type DeskVisit, defineLive, definePage } from './page.js';
import { renderTable, showDay, showInstant, writeAddress } from './parts.js';
import { renderFile, toFileDetails } from './run-file.js';
import { renderSteps } from './run-timeline.js';
import { findShownRun, readOpenWork, runInput, type Sample, toSample, watchesOf } from './run-watch.js';

/** Without JavaScript, the page of an active run loads itself again after this many seconds. */
const refreshSeconds = 10;
/** Slices of a timeline: finer ones would be invisible. */
const slices = 120;
const troublesShown = 10;

/** A run: its steps on a timeline, why it is pending, and its counts. */
export const runPage = definePage({
  path: '/runs/:id',
  permission: 'look',
  input: runInput,
  json: 'usually',
  read: async ({ id }, visit) => readRun(await findShownRun(visit.desk.ledger, id), visit),
  isStartedByHook: ({ trigger }) => trigger === 'hook',
  render(run, visit) {
    const { runId, day } = run;
    const path = `/runs/${encodeURIComponent(runId)}`;
    return {
      title: `Run ${runId}`,
      content: html`<p><a href="/days/${encodeURIComponent(day)}">‹ Day ${showDay(day)}</a></p>
${run.actions.length > 0 ? html`<p class="buttons">${renderButtons(day, run.actions)}</p>` : undefined}
<section class="card"${isActive(run) ? html` data-live="${path}/events"` : undefined}>${renderMoment(run, visit)}</section>
${renderOrigin(run, visit)}<section class="card">${renderSteps(run, visit)}</section>
${renderTroubles(run, visit)}${renderFile(run, visit)}${renderReasons('Rejected, by reason', run.rejects, visit.may('see-bookings') && `${path}/rejected`)}${renderReasons('Warnings', run.warnings, false)}`,
      ...(isActive(run) && { refreshSeconds }),
    };
  },
});

/** Streams the live part of a run's page until the run ends. */
export const runEvents = defineLive({
  path: '/runs/:id/events',
  permission: 'look',
  input: runInput,
  async *follow({ id }, visit) {
    let shown = '';
    for await (const { run, work, since } of watchesOf(visit.desk).watch(id, visit.signal)) {
      const present = { ...visit, now: visit.desk.clock() };
      const content = renderMoment(toMoment(run, work, present, since), present);
      if (content.markup === shown) continue;
      shown = content.markup;
      yield content;
    }
  },
});

/** What this visitor can do about an unfinished run. What a finished or an older one leaves to do stands on the page of its day. */
async function readActions(run: Run, visit: DeskVisit) {
  if (!isUnfinished(run)) return [];
  const runs = await visit.desk.ledger.runs.list({ day: run.day, limit: runsRead });
  return runs[0]?.id === run.id ? readDayActions(runs, visit) : [];
}

/** The report of a run, as `run --json` prints it, with what its page shows besides. */
async function readRun(run: Run, visit: DeskVisit) {
  const { ledger } = visit.desk;
  const { id, startedAt, finishedAt } = run;
  const length = Math.max(1, Math.ceil(((finishedAt ?? visit.now) - startedAt) / slices));
  const [work, waiting, steps, sums, troubles, rejects, warnings] = await Promise.all([
    readOpenWork(ledger, run, visit.now),
    readWaiting(ledger, run, visit.now),
    ledger.steps.count(id),
    ledger.steps.listAttemptSums(id, { from: startedAt, length }),
    ledger.steps.listTroubles(id, troublesShown),
    ledger.rejects.count(id),
    ledger.rejects.countWarnings(id),
  ]);
  const collect = collectToJson(run);
  // Otherwise a run that was resumed in the morning would seem to need all day.
  const since = { at: (run.collectedAt ?? startedAt) + countIdleMs({ ...run, collect }, sums), done: 0 };
  return {
    ...toMoment(run, work, visit, since),
    ...waiting,
    /** When its bookings were read. */
    collect,
    steps,
    /** Those that have ended, summed up by kind, outcome and slice of time. */
    attempts: sums.map(toTimes),
    open: work ? openToJson(work) : null,
    /** The latest attempts that did not succeed. */
    troubles: troubles.map(toTimes),
    rejects,
    warnings,
    fileDetails: toFileDetails(run),
    actions: await readActions(run, visit),
  };
}

export type ShownRun = Awaited<ReturnType<typeof readRun>>;

/** What can still be worked on. */
function openToJson({ performed, abandoned, ready, delayed, oldest, next }: OpenWork) {
  return {
    ...{ performed, abandoned, ready, delayed },
    oldest: oldest ? { kind: oldest.kind, startedAt: toIso(oldest.since) } : null,
    next: next ? { kind: next.kind, until: toIso(next.until) } : null,
  };
}

function toTimes<Times extends { readonly startedAt: number; readonly endedAt: number }>(one: Times) {
  return { ...one, startedAt: toIso(one.startedAt), endedAt: toIso(one.endedAt) };
}

function toIso(instant: number): string {
  return new Date(instant).toISOString();
}

/**
 * The live part of a run's page: the report of the run, as `run --json` prints it, and more.
 *
 * @param since where the rate of the estimate starts; by default when the run was collected
 */
function toMoment(
  run: Run,
  work: OpenWork | undefined,
  visit: DeskVisit,
  since: Sample = { at: run.collectedAt ?? run.startedAt, done: 0 },
) {
  const pending = decidePending(run, work, visit.desk.limits);
  const { timezone } = visit;
  return {
    ...runToJson(run, visit),
    /** Why it is not done, in a sentence; null for a run that succeeded. */
    pending: pending ? pendingToJson(pending, visit) : null,
    /** How it went, in a sentence; null for a run that has not succeeded. */
    headline:
      run.state === 'succeeded' ? judgeDay(summariseVerdicts(run.day, [run]), { timezone }).headline : null,
    /** Until all bookings are delivered, estimated. */
    leftMs: isActive(run) ? estimateLeft(since, toSample(run, visit.now), run.counts.accepted) : null,
  };
}

type Moment = ReturnType<typeof toMoment>;

function pendingToJson(pending: Pending, visit: DeskVisit) {
  const words = `It ${describePending(pending, (instant) => writeNear(instant, visit))}`;
  return {
    kind: pending.kind,
    words: /[.?!]$/.test(words) ? words : `${words}.`,
    ...('until' in pending && { until: toIso(pending.until) }),
  };
}

/** At the rate since the earlier sample. */
function estimateLeft(earlier: Sample, { at, done }: Sample, total: number): number | null {
  const [more, left] = [done - earlier.done, total - done];
  return more <= 0 || left <= 0 || at <= earlier.at ? null : (left * (at - earlier.at)) / more;
}

const nearMs = 10 * 60_000;

/** An instant for people and programs: the time alone on the same day, and to the second if it is near. */
function writeNear(instant: number, { now, timezone }: DeskVisit): string {
  const [day, time] = formatLocalInstant(instant, timezone).split(' ');
  if (day !== formatLocalInstant(now, timezone).split(' ')[0]) return `${day} ${time}`;
  const seconds = String(new Date(instant).getUTCSeconds()).padStart(2, '0');
  return Math.abs(instant - now) < nearMs ? `${time}:${seconds}` : `${time}`;
}

/** Its state, why it is pending, its progress, and its counts. */
function renderMoment(moment: Moment, visit: DeskVisit): Html {
  const words = moment.pending?.words ?? moment.headline;
  return html`<p class="headline">${renderMark(markOfRun(moment, reportsDrop(moment)))}${words === null ? undefined : html` <span>${showInLine(words)}</span>`}</p>
${isActive(moment) ? renderBar(moment) : undefined}${renderCounts(moment, visit)}`;
}

/**
 * The bar counts only what was delivered: that never becomes less, while bookings that were refused may be open again once somebody
 * resumes the run.
 */
function renderBar({ state, counts: { read, accepted, delivered }, leftMs }: Moment): Html {
  if (state === 'collecting')
    return html`<p class="buttons"><progress aria-label="Collecting"></progress> <span>${formatCount(read)} read</span></p>
`;
  const share = accepted === 0 ? 0 : Math.floor((100 * delivered) / accepted);
  const left = leftMs === null ? '' : `, about ${writeLeft(leftMs)} left`;
  return html`<p class="buttons"><progress aria-label="Delivered" max="${Math.max(1, accepted)}" value="${delivered}"></progress> <span>${share} %: ${formatCount(delivered)} of ${formatCount(accepted)}${left}</span></p>
`;
}

/** Rounded, because an estimate is not exact. */
function writeLeft(milliseconds: number): string {
  if (milliseconds < 60_000) return `${Math.max(1, Math.round(milliseconds / 1_000))} s`;
  const step = milliseconds < 3_600_000 ? 10_000 : 60_000;
  return formatDuration(Math.round(milliseconds / step) * step);
}

/** A value that is a text is not known as a number; the list is a page below the address of the run. */
type Count = readonly [name: string, value: number | string, list?: string, colour?: 'bad' | 'wait'];

function listCounts(moment: Moment): readonly Count[] {
  const { counts, suspects } = moment;
  const isByFile = moment.delivery === 'file';
  const affected = countAffected(moment);
  const unanswered = counts.unanswered ?? (isByFile ? 'no result' : 'by e-mail');
  return [
    ['Read', counts.read],
    ['Accepted', counts.accepted],
    ['Duplicates', counts.duplicates],
    ['Filtered', counts.filtered],
    ['Rejected', counts.rejected, 'rejected', 'wait'],
    ['Delivered', counts.delivered],
    ['Pending', counts.pending],
    ['Refused', counts.refused, 'refused', 'bad'],
    ['Sent again', counts.repeated],
    ...(isByFile ? [['By e-mail only', counts.posted, 'posted'] as const] : []),
    // Where nothing was sent, no answer is missing.
    ['Unanswered', affected === '-' ? '-' : unanswered, 'unanswered', 'wait'],
    ['Affected', affected, 'affected', 'bad'],
    ['Suspects', suspects?.bookings ?? 'not compared', 'suspects', 'wait'],
  ];
}

function renderCounts(moment: Moment, visit: DeskVisit): Html {
  const path = `/runs/${encodeURIComponent(moment.runId)}`;
  const render = ([name, value, list, colour]: Count) => {
    const isFound = typeof value === 'number' && value > 0;
    const text = typeof value === 'number' ? formatCount(value) : value;
    const isLinked = isFound && list !== undefined && visit.may('see-bookings');
    const look = isFound ? colour : typeof value === 'string' ? 'faint' : undefined;
    return html`<div><dt>${name}</dt><dd class="${look}">${isLinked ? html`<a href="${path}/${list}">${text}</a>` : text}</dd></div>`;
  };
  return html`<dl class="counts">${listCounts(moment).map(render)}</dl>
`;
}

/** When, by whom, and how it came about. */
function renderOrigin(run: ShownRun, visit: DeskVisit): Html {
  const { finishedAt, reason } = run;
  const ended = finishedAt === null ? '' : `, ended ${showInstant(finishedAt, visit)}`;
  const late = run.topsUp ? ' Late bookings: it sends only what earlier runs have not delivered.' : '';
  return html`<p class="faint">By ${run.delivery}, ${run.trigger}. Started ${showInstant(run.startedAt, visit)}${ended}: ${describeDuration(run)}${finishedAt === null ? ' so far' : ''}.${late}</p>
${reason === undefined ? undefined : html`<p>Reason: ${showInLine(reason)}</p>`}${renderVolume(run, visit)}`;
}

/** How long it was worked on: a run that failed at night and was resumed in the morning did not take all night. */
function describeDuration(run: ShownRun): string {
  const idle = countIdleMs(run, run.attempts);
  if (idle === 0) return formatDuration(run.durationMs);
  return `${formatDuration(run.durationMs - idle)} of work, and ${formatDuration(idle)} in which nobody worked on it`;
}

function renderVolume({ volume, notGood }: ShownRun, visit: DeskVisit): Html | undefined {
  if (!volume) return undefined;
  if (!('drops' in volume))
    return html`<p class="faint">Its number of bookings is not compared: no earlier day is known.</p>`;
  if (volume.drops.length === 0) return undefined;
  const drops = `Far fewer bookings than usual: ${describeDrops(volume).map(showInLine).join('; ')}.`;
  const drop = notGood.find((one) => 'acceptedAt' in one);
  if (!drop?.acceptedAt) return html`<p class="bad">${drops}</p>`;
  return html`<p class="faint">${drops} Accepted by ${showInLine(drop.acceptedBy ?? '')}, ${showInstant(drop.acceptedAt, visit)}.</p>`;
}

/** Where the ledger's own word is not plain. */
const outcomeWords: Partial<Record<ShownRun['troubles'][number]['outcome'], string>> = {
  retry: 'tried again',
  halved: 'refused, then halved',
  fatal: 'ended the run',
};

function renderTroubles({ troubles }: ShownRun, visit: DeskVisit): Html | undefined {
  if (troubles.length === 0) return undefined;
  return html`<h2>Latest attempts that did not succeed</h2>
${renderTable(troubles, {
  Step: ({ step }) => step,
  Attempt: ({ attempt }) => attempt,
  Began: ({ startedAt }) => showInstant(startedAt, visit),
  Took: ({ startedAt, endedAt }) => formatDuration(Date.parse(endedAt) - Date.parse(startedAt)),
  Outcome: ({ outcome }) => outcomeWords[outcome] ?? outcome,
  Code: ({ code }) => html`<code>${showInLine(code)}</code>`,
})}`;
}

/** @param path of the records, for those who may see them */
function renderReasons(title: string, reasons: ShownRun['rejects'], path: string | false): Html | undefined {
  if (reasons.length === 0) return undefined;
  return html`<h2>${title}</h2>
${renderTable(reasons, {
  Reason: ({ reason }) =>
    path ? html`<a href="${writeAddress(path, { reason })}">${showInLine(reason)}</a>` : reason,
  Records: ({ count }) => count,
  'First at': ({ firstPlace }) => firstPlace ?? '',
})}`;
}
