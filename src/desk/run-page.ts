import { showInLine } from '../base/foreign-text.js';
import { formatBytes, formatCount, formatDuration } from '../base/format.js';
import { type Html, html } from '../base/html.js';
import type { OpenWork } from '../ledger/steps.js';
import { type WantedDay, wantedToJson } from '../ledger/wanted-days.js';
import { dayOfRunId, isUnfinished } from '../review/day/open-run.js';
import { decidePending, describePending, type Pending } from '../review/day/pending.js';
import { runToJson, waitingToJson } from '../review/day/report.js';
import { describeErased } from '../review/every-run.js';
import { manifestName } from '../review/file/archive-run.js';
import { type VerifiedItem, verifyArchived, verifyManifest } from '../review/file/verify-run.js';
import { describeRun } from '../rules/describe-day.js';
import { type ShownStep, showSteps } from '../rules/file-chain.js';
import { capitalise, toSentence } from '../rules/finding.js';
import type { ReceivedFile } from '../rules/review-file.js';
import { hasWork, isActive, type Run } from '../rules/run.js';
import { formatKnown, listCounts } from '../rules/run-verdicts.js';
import type { StepKind } from '../rules/step.js';
import type { Permission } from '../storage/access/roles.js';
import { cancel, readDayActions, renderButtons } from './day-actions.js';
import { runsRead } from './day-report.js';
import { findShownRun, isRunName, runInput } from './find-run.js';
import { markOfRun, renderMark } from './marks.js';
import { type DeskParts, type DeskVisit, defineDownload, definePage, readArchived } from './page.js';
import { renderFacts, renderTable, showDay, showInstant, showMessage, writeAddress } from './parts.js';
import { HttpError } from './server/http-error.js';

/** Without JavaScript, the page of an active run loads itself again after this many seconds. */
const refreshSeconds = 10;
const troublesShown = 10;

/** A run: why it is pending, its counts, and its steps. */
export const runPage = definePage({
  path: '/runs/:id',
  permission: 'look',
  input: runInput,
  json: 'usually',
  async read({ id }, visit) {
    const { ledger } = visit.desk;
    const promised = isRunName(id) ? await ledger.wanted.findPromise(id) : undefined;
    return promised ? readPromised(promised, visit) : readRun(await findShownRun(ledger, id), visit);
  },
  isStartedByHook: ({ trigger }) => trigger === 'hook',
  render(run, visit) {
    const { runId, day, actions } = run;
    const isPromised = run.state === 'not-started';
    const isLive = isPromised || isActive(run);
    return {
      title: `Run ${runId}`,
      content: html`<p><a href="/days/${encodeURIComponent(day)}">‹ Day ${showDay(day)}</a></p>
<div${isLive && html` data-live`}>${actions.length > 0 && html`<p class="buttons">${renderButtons(day, actions)}</p>`}
${isPromised ? html`<section class="card"><p class="headline"><span>${run.pending.words}</span></p></section>` : renderRun(run, visit)}</div>`,
      ...(isLive && { refreshSeconds }),
    };
  },
});

function renderRun(run: ShownRun, visit: DeskVisit): Html {
  const words = run.pending?.words ?? run.headline;
  const rejected = `/runs/${encodeURIComponent(run.runId)}/rejected`;
  return html`<section class="card"><p class="headline">${renderMark(markOfRun(run))}${words === null ? undefined : html` <span>${showInLine(showMessage(words, visit.desk.command))}</span>`}</p>
${isActive(run) && renderBar(run)}${renderCounts(run, visit)}</section>
${renderOrigin(run, visit)}${renderSteps(run, visit)}${renderWorkers(run)}
${renderTroubles(run, visit)}${renderFile(run, visit)}${renderReasons('Rejected, by reason', run.rejects, visit.may('see-bookings') && rejected)}${renderReasons('Warnings', run.warnings, false)}`;
}

/** A run that has not started yet: its day is wanted. */
function readPromised(wanted: WantedDay, visit: DeskVisit) {
  return {
    ...wantedToJson(wanted, 'not-started'),
    pending: { kind: 'not-started', words: 'It has not started yet.' },
    actions: visit.may('operate') ? [cancel] : [],
  };
}

/** What this visitor can do about an unfinished run. What a finished or an older one leaves to do stands on the page of its day. */
async function readActions(run: Run, visit: DeskVisit) {
  if (!isUnfinished(run)) return [];
  const runs = await visit.desk.ledger.runs.list({ day: run.day, limit: runsRead });
  return runs[0]?.id === run.id ? readDayActions(runs, visit) : [];
}

/** The report of a run, as `run --json` prints it, with what its page shows besides. */
async function readRun(run: Run, visit: DeskVisit) {
  const { ledger, limits } = visit.desk;
  const { id, state, collectStartedAt, collectedAt } = run;
  const [work, steps, times, troubles, workers, rejects, warnings] = await Promise.all([
    hasWork(run) ? ledger.steps.readOpenWork(id, visit.now) : undefined,
    ledger.steps.count(id),
    ledger.steps.listTimes(id),
    ledger.steps.listTroubles(id, troublesShown),
    ledger.steps.countByWorker(id),
    ledger.rejects.count(id),
    ledger.rejects.countWarnings(id),
  ]);
  const pending = decidePending(run, work, limits);
  const { judgement, headline, findings } = describeRun(run, visit);
  return {
    ...runToJson(run, visit),
    ...waitingToJson(work),
    /** Why it is not done, in a sentence; null for a run that succeeded. */
    pending: pending ? pendingToJson(pending, visit) : null,
    /** How it went, in a sentence; null for a run that has not succeeded. */
    headline: state === 'succeeded' ? headline : null,
    /** How it went, and what else there is to say about it. */
    ...{ judgement, findings },
    open: work ? openToJson(work) : null,
    /** How long nobody worked on it. */
    idleMs: run.pausedMs,
    /** When its bookings were read. */
    collect:
      collectStartedAt === undefined
        ? null
        : {
            startedAt: toIso(collectStartedAt),
            endedAt: collectedAt === undefined ? null : toIso(collectedAt),
          },
    steps: showSteps(steps, run),
    /** When the ended attempts of each kind of step began and ended. */
    times: times.map(toTimes),
    /** The latest attempts that did not succeed. */
    troubles: troubles.map(toTimes),
    /** How many attempts each process performed. */
    workers,
    rejects,
    warnings,
    fileDetails: toFileDetails(run),
    actions: await readActions(run, visit),
  };
}

type ShownRun = Awaited<ReturnType<typeof readRun>>;

function toTimes<Times extends { readonly startedAt: number; readonly endedAt: number }>(one: Times) {
  return { ...one, startedAt: toIso(one.startedAt), endedAt: toIso(one.endedAt) };
}

function toIso(instant: number): string {
  return new Date(instant).toISOString();
}

function pendingToJson(pending: Pending, visit: DeskVisit) {
  const words = toSentence(`it ${describePending(pending, (instant) => showInstant(instant, visit))}`);
  return {
    kind: pending.kind,
    words,
    ...('until' in pending && { until: toIso(pending.until) }),
  };
}

/** What can still be worked on. */
function openToJson({ performed, abandoned, ready, delayed, oldest, next }: OpenWork) {
  return {
    ...{ performed, abandoned, ready, delayed },
    oldest: oldest ? { kind: oldest.kind, startedAt: toIso(oldest.since) } : null,
    next: next ? { kind: next.kind, until: toIso(next.until) } : null,
  };
}

/**
 * The bar counts only what was delivered: that never becomes less, while bookings that were refused may be open again once somebody
 * resumes the run.
 */
function renderBar({ state, counts: { read, accepted, delivered } }: ShownRun): Html {
  if (state === 'collecting')
    return html`<p class="buttons"><progress aria-label="Collecting"></progress> <span>${formatCount(read)} read</span></p>
`;
  const share = accepted === 0 ? 0 : Math.floor((100 * delivered) / accepted);
  return html`<p class="buttons"><progress aria-label="Delivered" max="${Math.max(1, accepted)}" value="${delivered}"></progress> <span>${share} %: ${formatCount(delivered)} of ${formatCount(accepted)}</span></p>
`;
}

/** The counts with a list below the address of the run, in the colour of one that is not 0. */
const lists: Readonly<Record<string, 'bad' | 'wait' | undefined>> = {
  ...{ rejected: 'wait', refused: 'bad', posted: undefined, unanswered: 'wait' },
  ...{ affected: 'bad', suspects: 'wait' },
};

function renderCounts(run: ShownRun, visit: DeskVisit): Html {
  const counts = listCounts(run, run.suspects?.bookings).map(({ name, count }) => {
    const isFound = typeof count === 'number' && count > 0;
    const isLinked = isFound && name in lists && visit.may('see-bookings');
    const look = isFound ? lists[name] : typeof count === 'string' ? 'faint' : undefined;
    const text = formatKnown(count);
    const address = `/runs/${encodeURIComponent(run.runId)}/${name}`;
    return html`<div><dt>${capitalise(name)}</dt><dd class="${look}">${isLinked ? html`<a href="${address}">${text}</a>` : text}</dd></div>`;
  });
  return html`<dl class="counts">${counts}</dl>
`;
}

/** A shorter pause is not worth a word. */
const leastIdleMs = 60_000;

/** When, by whom, and what else there is to say: what the counts and the headline do not. */
function renderOrigin(run: ShownRun, visit: DeskVisit): Html {
  const { finishedAt, durationMs, idleMs, findings, headline } = run;
  const ended = finishedAt === null ? '' : `, ended ${showInstant(finishedAt, visit)}`;
  const idle =
    idleMs >= leastIdleMs && ` of work, and ${formatDuration(idleMs)} in which nobody worked on it`;
  const others = findings.filter(
    ({ code, level, words }) =>
      !(code in lists) && (headline === null || (level !== 'attention' && headline !== toSentence(words))),
  );
  return html`<p class="faint">By ${run.delivery}, ${run.trigger}. Started ${showInstant(run.startedAt, visit)}${ended}: ${formatDuration(durationMs)}${idle}${finishedAt === null && ' so far'}.</p>
${others.map(({ level, words }) => html`<p class="${level === 'note' ? 'faint' : 'bad'}">${showInLine(showMessage(toSentence(words), visit.desk.command))}</p>`)}`;
}

/** Steps that have not ended, in plain words. */
const openStates: Partial<Record<ShownStep['state'], string>> = {
  waiting: 'not begun',
  ready: 'open',
  running: 'in progress',
};

/** Collecting, and each kind of step in the order of the plan. */
function renderSteps(run: ShownRun, visit: DeskVisit): Html {
  const kinds = [...new Set(run.steps.map(({ kind }) => kind))];
  const rows = [...listCollecting(run), ...kinds.map((kind) => summariseSteps(kind, run))];
  const show = (instant: string | undefined) => instant && showInstant(instant, visit);
  return html`<h2>Steps</h2>
${renderTable(rows, {
  Step: ({ name }) => name,
  State: ({ state }) => state,
  'Ended attempts': ({ attempts }) => attempts,
  Began: ({ startedAt }) => show(startedAt),
  Ended: ({ endedAt }) => show(endedAt),
  'From first to last': ({ startedAt, endedAt }) => startedAt && endedAt && describeTime(startedAt, endedAt),
})}`;
}

/** Which process, on which machine, did how much. */
function renderWorkers({ workers }: ShownRun): Html | undefined {
  if (workers.length === 0) return undefined;
  return html`<h2>Performed by</h2>
${renderTable(workers, { Process: ({ worker }) => worker, Attempts: ({ attempts }) => attempts })}`;
}

function describeTime(from: string, to: string): string {
  return formatDuration(Date.parse(to) - Date.parse(from));
}

function listCollecting({ collect, finishedAt, state }: ShownRun) {
  if (!collect) return [];
  const { startedAt, endedAt } = collect;
  const unended = state === 'collecting' ? 'in progress' : 'not completed';
  const ended = endedAt ?? finishedAt ?? undefined;
  return [
    { name: 'collect', state: endedAt ? 'done' : unended, attempts: undefined, startedAt, endedAt: ended },
  ];
}

function summariseSteps(kind: StepKind, { steps, times, open }: ShownRun) {
  const own = steps.filter((one) => one.kind === kind);
  const all = own.reduce((sum, one) => sum + one.steps, 0);
  const count = (some: number) => (all === 1 ? '' : `${formatCount(some)} `);
  const { attempts = 0, startedAt, endedAt } = times.find((one) => one.kind === kind) ?? {};
  // The times are those of attempts that have ended.
  const performed = open?.oldest?.kind === kind ? open.oldest.startedAt : undefined;
  return {
    name: all === 1 ? kind : `${count(all)}× ${kind}`,
    state: own.map((one) => `${count(one.steps)}${openStates[one.state] ?? one.state}`).join(', '),
    attempts,
    startedAt: startedAt ?? performed,
    endedAt: own.some(({ state }) => state in openStates) ? undefined : endedAt,
  };
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
  Took: ({ startedAt, endedAt }) => describeTime(startedAt, endedAt),
  Outcome: ({ outcome }) => outcomeWords[outcome] ?? outcome,
  Code: ({ code }) => html`<code>${showInLine(code)}</code>`,
  Process: ({ worker }) => worker,
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

/** What the page of a run shows of its file besides what `run --json` prints. */
function toFileDetails(run: Run) {
  const { file, linesBlanked } = run;
  if (!file) return null;
  const { bytes = null, triggeredAt, result, laterResults = [], removals = [] } = file;
  const show = ({ name, size, sha256, rows }: ReceivedFile) => ({ name, bytes: size, sha256, rows });
  return {
    bytes,
    triggeredAt: triggeredAt === undefined ? null : new Date(triggeredAt).toISOString(),
    result: result ? { ...show(result), isWhole: result.isWhole } : null,
    /** The other files of the result, which were judged with it; only if there are any. */
    ...(result?.others && { otherResults: result.others.map(show) }),
    laterResults,
    /** Our files on the server that were removed as agreed. */
    removed: removals.flatMap(({ path, outcome }) => (outcome === 'removed' ? [path] : [])),
    namesAreGone: linesBlanked === true,
    /** What became of the archived files, if a guest of the run was erased. */
    erased: describeErased(run) ?? null,
  };
}

type FileDetails = NonNullable<ReturnType<typeof toFileDetails>>;

function renderFile({ runId, file, fileDetails }: ShownRun, visit: DeskVisit): Html | undefined {
  if (!file || !fileDetails) return undefined;
  const { result, otherResults = [], bytes, triggeredAt } = fileDetails;
  const facts = renderFacts([
    ['File', html`<code>${showInLine(file.remotePath ?? 'not uploaded yet')}</code>`],
    ['Rows', `${formatCount(file.rows)}${bytes === null ? '' : `, ${formatSize(bytes)}`}`],
    ['SHA-256 of the file', html`<code>${file.sha256}</code>`],
    ['Review asked for', triggeredAt === null ? 'not yet' : showInstant(triggeredAt, visit)],
    ['Result', result ? describeResult(result) : 'has not arrived'],
    ['SHA-256 of the result', result ? html`<code>${result.sha256}</code>` : undefined],
    ...otherResults.map((other): [string, Html] => [
      'Judged with it',
      html`<code>${showInLine(other.name)}</code>, ${formatCount(other.rows)} records, ${formatSize(other.bytes)}: <code>${other.sha256}</code>`,
    ]),
    ['Archived to', file.archivedTo ?? 'not yet'],
  ]);
  const download = (name: string) =>
    html`<a class="button quiet" href="/runs/${encodeURIComponent(runId)}/${name}" download>Download the ${name}</a>`;
  const hasResult =
    result && !fileDetails.namesAreGone && fileDetails.erased === null && visit.may('see-names');
  return html`<h2>File and result</h2>
<div class="card">${facts}</div>
${file.archivedTo === null ? undefined : html`<p class="buttons">${hasResult ? download('result') : undefined}${download('manifest')}</p>`}
${renderNotes(fileDetails)}`;
}

function renderNotes({ namesAreGone, erased, removed }: FileDetails): Html {
  const gone =
    'The names, and with them the file and the result in the archive, were deleted after guestNameDays.';
  const files = erased !== null && `The file and the result in the archive were ${erased}.`;
  return html`${namesAreGone || files ? html`<p class="faint">${namesAreGone ? gone : files} Their checksums are kept.</p>` : undefined}${
    removed.length > 0 &&
    html`<p class="faint">Deleted from the server after file.removeAfterDays: ${removed.map(showInLine).join(', ')}.</p>`
  }
`;
}

function describeResult({ name, rows, bytes }: NonNullable<FileDetails['result']>): Html {
  return html`<code>${showInLine(name)}</code>, ${formatCount(rows)} records, ${formatSize(bytes)}`;
}

function formatSize(bytes: number): string {
  return bytes < 100_000 ? `${formatCount(bytes)} bytes` : formatBytes(bytes);
}

/** The result of a run, as it was received; it holds guests' names. Compared with its checksum before the first byte is sent. */
export const resultDownload = defineRunDownload('result', {
  permission: 'see-names',
  contentType: 'application/octet-stream',
  async find(run, desk) {
    const { result } = run.file ?? {};
    if (!result) throw new HttpError(404, 'no result of this run was judged');
    const removed = 'the result was removed with the names in it, as agreed; its checksum is kept';
    const erased = describeErased(run);
    if (run.linesBlanked) throw new HttpError(404, removed);
    if (erased) throw new HttpError(404, `the result was ${erased}; its checksum is kept`);
    const fault = await verifyArchived(desk, run, result);
    return { name: result.name, wrong: fault ? { item: 'the result in the archive', fault } : undefined };
  },
});

/** What was sent and when, what came back, and all checksums; no guest's name. First compared with the ledger. */
export const manifestDownload = defineRunDownload('manifest', {
  permission: 'look',
  contentType: 'application/json; charset=utf-8',
  async find(run, desk) {
    const { items } = await verifyManifest(desk, run);
    return { name: manifestName, wrong: items.find(({ fault }) => fault !== undefined) };
  },
});

/** A file of a run in the archive, which is not sent if it is wrong. */
function defineRunDownload(
  file: string,
  about: {
    readonly permission: Permission;
    readonly contentType: string;
    find(run: Run, desk: DeskParts): Promise<{ name: string; wrong: VerifiedItem | undefined }>;
  },
) {
  return defineDownload({
    ...about,
    path: `/runs/:id/${file}`,
    input: runInput,
    audit: ({ id }) => ({ action: 'download', subject: dayOfRunId(id), details: { run: id, file } }),
    async open({ id }, { desk }) {
      const run = await findShownRun(desk.ledger, id);
      if (run.file?.archivedTo === undefined)
        throw new HttpError(404, 'nothing of this run is in the archive yet');
      const { name, wrong } = await about.find(run, desk);
      if (!wrong) return { name: `${id}-${name}`, content: readArchived(desk.archive, run.day, id, name) };
      const words = `not sent, because it is not what the ledger recorded: ${wrong.item}: ${wrong.fault}`;
      const check = `To check all of it: ${desk.command(`verify ${run.day}`)}`;
      throw new HttpError(409, `${words}. ${check}`, {}, 'unverified');
    },
  });
}
