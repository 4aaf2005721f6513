import * as z from 'zod';
import { showInLine } from '../base/foreign-text.js';
import { formatBytes, formatCount } from '../base/format.js';
import { type Html, html } from '../base/html.js';
import type { ReadOnlyLedger } from '../ledger/ledger.js';
import type { WantedDay } from '../ledger/wanted-days.js';
import { dayOfRunId } from '../review/day/open-run.js';
import { describeErased } from '../review/every-run.js';
import { manifestName } from '../review/file/archive-run.js';
import { type VerifiedItem, verifyArchived, verifyManifest } from '../review/file/verify-run.js';
import type { ReceivedFile } from '../rules/review-file.js';
import type { Run } from '../rules/run.js';
import { type DeskParts, type DeskVisit, type Download, defineDownload } from './page.js';
import { renderFacts, showInstant } from './parts.js';
import type { ShownRun } from './run-page.js';
import { HttpError } from './server/http-error.js';

/** The address of a run. */
export const runInput = z.object({ id: z.string() });

/** Anything else needs no query to the ledger. */
const runName = /^[\w.-]{1,64}$/;

/** @throws HttpError 404 */
export async function findShownRun(ledger: ReadOnlyLedger, id: string): Promise<Run> {
  const run = runName.test(id) ? await ledger.runs.find(id) : undefined;
  if (!run) throw new HttpError(404, 'the ledger holds no run of that name');
  return run;
}

/** A run that was promised, and that nobody has opened yet. */
export async function findPromisedRun(ledger: ReadOnlyLedger, id: string): Promise<WantedDay | undefined> {
  return runName.test(id) ? ledger.wanted.findPromise(id) : undefined;
}

/** What the page of a run shows of its file besides what `run --json` prints. */
export function toFileDetails(run: Run) {
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

export function renderFile({ runId, file, fileDetails }: ShownRun, visit: DeskVisit): Html | undefined {
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
  about: Pick<Download, 'permission' | 'contentType'> & {
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

/** Reads an archived file for a response. Copies each block, which a response may hold for longer than the archive. */
export async function* readArchived(archive: DeskParts['archive'], ...path: [string, string, string]) {
  for await (const block of archive.read(...path)) yield Buffer.from(block);
}
