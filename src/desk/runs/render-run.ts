import { describeSetAside } from '../../review/day/report.js';
import { describeDrops } from '../../review/gates.js';
import { showInLine } from '../../text/foreign-text.js';
import { formatBytes, formatCount, formatDuration, formatLocalInstant } from '../../text/format.js';
import { type Html, html } from '../../text/html.js';
import type { DeskVisit } from '../page.js';
import { type Fact, renderFacts as renderFactList } from '../parts.js';
import type { RunPageData } from './run-data.js';
import { writeInstant } from './run-moment.js';
import { renderSteps } from './run-timeline.js';

/** What a run's page shows below its live part. */
export function renderRunDetails(run: RunPageData, visit: DeskVisit): Html {
  return html`<section class="card">${renderSteps(run, visit)}</section>
${renderTroubles(run, visit)}${renderFile(run, visit)}${renderReasons('Rejected, by reason', run.rejects, linkReject(run, visit))}${renderReasons('Warnings', run.warnings)}`;
}

/** When, by whom, and how it came about. */
export function renderOrigin(run: RunPageData, { timezone }: DeskVisit): Html {
  const write = (instant: string) => formatLocalInstant(Date.parse(instant), timezone);
  const ended = run.finishedAt === null ? '' : `, ended ${write(run.finishedAt)}`;
  return html`<p class="faint">By ${run.delivery}, ${run.trigger}. Started ${write(run.startedAt)}${ended}: ${formatDuration(run.durationMs)}${run.finishedAt === null ? ' so far' : ''}.${run.topsUp ? ' Late bookings: it sends only what earlier runs have not delivered.' : ''}</p>
${run.reason === undefined ? undefined : html`<p>Reason: ${showInLine(run.reason)}</p>`}${renderVolume(
  run,
  write,
)}`;
}

function renderVolume(
  { volume, notGood }: Pick<RunPageData, 'volume' | 'notGood'>,
  write: (instant: string) => string,
): Html | undefined {
  if (!volume) return undefined;
  if (!('drops' in volume))
    return html`<p class="faint">Its number of bookings is not compared: no earlier day is known.</p>`;
  if (volume.drops.length === 0) return undefined;
  const drop = notGood.find((one) => one.code === 'volume-dropped');
  const isAccepted = drop?.code === 'volume-dropped' && drop.acceptedAt !== null;
  return html`<p class="${isAccepted ? 'faint' : 'bad'}">Far fewer bookings than usual: ${describeDrops(volume).map(showInLine).join('; ')}.${
    isAccepted ? ` Accepted by ${showInLine(drop.acceptedBy ?? '')}, ${write(drop.acceptedAt ?? '')}.` : ''
  }</p>`;
}

function renderTroubles(
  { troubles, startedAt: start }: RunPageData,
  { timezone }: DeskVisit,
): Html | undefined {
  if (troubles.length === 0) return undefined;
  return html`<h2>Latest attempts that did not succeed</h2>
<div class="wide" tabindex="0"><table><thead><tr><th scope="col">Step</th><th scope="col" class="number">Attempt</th><th scope="col">Began</th><th scope="col" class="number">Took</th><th scope="col">Outcome</th><th scope="col">Code</th></tr></thead>
<tbody>${troubles.map(
    ({
      step,
      attempt,
      startedAt,
      endedAt,
      outcome,
      code,
    }) => html`<tr><th scope="row">${showInLine(step)}</th><td class="number">${attempt}</td><td class="whole">${writeInstant(Date.parse(startedAt), { now: Date.parse(start), timezone })}</td><td class="number">${formatDuration(Date.parse(endedAt) - Date.parse(startedAt))}</td><td>${nameOutcome(outcome)}</td><td><code>${showInLine(code)}</code></td></tr>
`,
  )}</tbody></table></div>
`;
}

function nameOutcome(outcome: RunPageData['troubles'][number]['outcome']): string {
  switch (outcome) {
    case 'retry':
      return 'tried again';
    case 'halved':
      return 'refused, then halved';
    case 'interrupted':
      return 'interrupted';
    case 'fatal':
      return 'ended the run';
    case 'done':
    case 'refused':
    case 'failed':
    case 'overdue':
      return outcome;
  }
}

function renderFile(run: RunPageData, visit: DeskVisit): Html | undefined {
  const { file, fileDetails } = run;
  if (!file || !fileDetails) return undefined;
  const { result, bytes, triggeredAt, laterResults, removed, namesAreGone } = fileDetails;
  const path = `/runs/${encodeURIComponent(run.runId)}`;
  const isArchived = file.archivedTo !== null;
  const { resultRowsIgnored, resultsSetAside = [] } = file;
  const facts: readonly Fact[] = [
    ['File', html`<code>${showInLine(file.remotePath ?? 'not uploaded yet')}</code>`],
    ['Rows', `${formatCount(file.rows)}${bytes === null ? '' : `, ${formatSize(bytes)}`}`],
    ['SHA-256 of the file', html`<code>${file.sha256}</code>`],
    [
      'Review asked for',
      triggeredAt === null ? 'not yet' : formatLocalInstant(Date.parse(triggeredAt), visit.timezone),
    ],
    ['Result', result ? describeResult(result) : 'has not arrived'],
    ['SHA-256 of the result', result ? html`<code>${result.sha256}</code>` : undefined],
    [
      'Rows ignored',
      resultRowsIgnored ? `${formatCount(resultRowsIgnored)}, about none of our bookings` : undefined,
    ],
    ['Archived to', file.archivedTo ?? 'not yet'],
  ];
  const downloads = [
    ...(isArchived && result && !namesAreGone && visit.may('see-names')
      ? [html`<a class="button quiet" href="${path}/result" download>Download the result</a>`]
      : []),
    ...(isArchived
      ? [html`<a class="button quiet" href="${path}/manifest" download>Download the manifest</a>`]
      : []),
  ];
  return html`<h2>File and result</h2>
<div class="card">${renderFactList(facts)}</div>
${downloads.length > 0 ? html`<p class="buttons">${downloads}</p>` : undefined}
${resultsSetAside.map((one) => html`<p class="bad">Note: ${showInLine(describeSetAside(one))}.</p>`)}${namesAreGone ? html`<p class="faint">The names, and with them the file and the result in the archive, were removed as agreed. Their checksums are kept.</p>` : undefined}${
  laterResults.length > 0
    ? html`<p class="bad">The server held another result later, which was not judged: ${laterResults.map(showInLine).join(', ')}.</p>`
    : undefined
}${removed.length > 0 ? html`<p class="faint">Removed from the server as agreed: ${removed.map(showInLine).join(', ')}.</p>` : undefined}
`;
}

function describeResult({
  name,
  rows,
  bytes,
  isWhole,
}: NonNullable<NonNullable<RunPageData['fileDetails']>['result']>): Html {
  return html`<code>${showInLine(name)}</code>, ${formatCount(rows)} records, ${formatSize(bytes)}${isWhole ? undefined : html` <strong class="bad">accepted although incomplete</strong>`}`;
}

function formatSize(bytes: number): string {
  return bytes < 100_000 ? `${formatCount(bytes)} bytes` : formatBytes(bytes);
}

function linkReject(run: RunPageData, visit: DeskVisit): ((reason: string) => string) | undefined {
  if (!visit.may('see-bookings')) return undefined;
  return (reason) => `/runs/${encodeURIComponent(run.runId)}/rejected?reason=${encodeURIComponent(reason)}`;
}

function renderReasons(
  title: string,
  reasons: RunPageData['rejects'],
  linkTo?: (reason: string) => string,
): Html | undefined {
  if (reasons.length === 0) return undefined;
  return html`<h2>${title}</h2>
<div class="wide" tabindex="0"><table><thead><tr><th scope="col">Reason</th><th scope="col" class="number">Records</th><th scope="col" class="number">First at</th></tr></thead>
<tbody>${reasons.map(
    ({
      reason,
      count,
      firstPlace,
    }) => html`<tr><th scope="row">${linkTo ? html`<a href="${linkTo(reason)}">${showInLine(reason)}</a>` : showInLine(reason)}</th><td class="number">${formatCount(count)}</td><td class="number">${firstPlace === undefined ? '' : formatCount(firstPlace)}</td></tr>
`,
  )}</tbody></table></div>
`;
}
