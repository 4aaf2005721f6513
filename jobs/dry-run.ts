import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { renderCsv } from '../src/base/csv-cells.js';
import { formatCount, wrapText } from '../src/base/format.js';
import { describeError } from '../src/base/safe-error.js';
import { renderTable } from '../src/base/tables.js';
import type { BusinessDay } from '../src/booking/business-day.js';
import type { ExtraValues } from '../src/booking/extra-values.js';
import type { FilterReport } from '../src/booking/source.js';
import { readBooking } from '../src/booking/stored-line.js';
import {
  adviseOnUnconfirmed,
  describeUnconfirmed,
  lookForUnconfirmed,
  takeSample,
  type Unconfirmed,
} from '../src/checks/examination/unconfirmed.js';
import { extraAt } from '../src/ledger/batches.js';
import { readErasedGuests } from '../src/ledger/guests.js';
import type { Ledger, ReadOnlyLedger } from '../src/ledger/ledger.js';
import { rejectColumns, rejectsListed, rejectToJson } from '../src/ledger/rejects.js';
import { createSqliteLedger } from '../src/ledger/sqlite/sqlite-ledger.js';
import { collectDay } from '../src/review/collect/collect.js';
import { requireBegun } from '../src/review/day/range-plan.js';
import { toVolumeReport } from '../src/review/day/report.js';
import { previewBodies, previewReviewFile, readFirstLines } from '../src/review/stored/as-sent.js';
import { maskBooking } from '../src/review/stored/stored-line.js';
import { describeSuspects } from '../src/rules/describe-day.js';
import { CollectError } from '../src/rules/gates.js';
import type { Run } from '../src/rules/run.js';
import { classOfCollect } from '../src/rules/try-again.js';
import { describeFilters, describeFilterWarnings } from '../src/rules/where-report.js';
import { kindOf } from '../src/sources/registry.js';
import type { App } from './app.js';
import { clock } from './clock.js';
import { exitCode } from './exit-code.js';
import { createOutFolder, type OutFolder } from './output-files.js';
import { composeCollect, createDelivery } from './review.js';
import { renderReasons } from './run-summary.js';
import { openSourceParts } from './sources.js';

const sampleSize = 5;
/** How long to look for cancelled bookings, once the day has been read. */
const unconfirmedMs = 15_000;
const runId = 'dry-run';

/**
 * Collects a day as a run would, into a temporary ledger, and shows what would be sent. It doesn't call the service,
 * and reads nothing but the local copy of the mappings from the real ledger, which also records files with guests' names.
 */
export async function dryRunDay(app: App, day: BusinessDay, out: string | undefined): Promise<number> {
  const { config, io } = app;
  requireBegun(day, clock());
  if (out !== undefined) {
    // Creates the ledger if there is none yet.
    if (!(await app.findLedger({ waits: false }))) await app.ledger();
    await app.record({ action: 'dry-run', subject: day.iso, details: { out: app.locate(out) } });
  }
  const folder = out === undefined ? undefined : await createOutFolder(out, app.locate(out), io.halted);
  const past = await findReachableLedger(app);
  const { ledger, discard } = await openTemporaryLedger(io.temporaryFolder);
  // Nothing else appears until the source has answered.
  app.warn(`${day.iso}: reading the bookings for a dry run`);
  try {
    const found = await lookAhead(app, day, ledger, past, folder);
    await folder?.finish();
    const code = found.failure ? exitCode.failed : exitCode.done;
    return app.answer(renderDryRun(found, kindOf(config.source).placeUnit, out), toReport(found), code);
  } finally {
    await ledger.close();
    await discard();
  }
}

type Found = Awaited<ReturnType<typeof lookAhead>>;

/**
 * What a run of that day would do.
 *
 * @param past to compare with the local copy of the mappings
 * @param folder takes what would be sent
 */
async function lookAhead(
  app: App,
  day: BusinessDay,
  ledger: Ledger,
  past: ReadOnlyLedger | undefined,
  folder: OutFolder | undefined,
) {
  const failure = await collect(app, day, ledger, past);
  app.endProgress();
  const run = await ledger.runs.get(runId);
  const content = failure ? undefined : await previewContent(app, day, ledger, run, folder);
  const unconfirmed = failure ? undefined : await findUnconfirmedBookings(app, day);
  if (folder && run.counts.rejected > 0) {
    const rejected = (await ledger.rejects.list(runId, rejectsListed)).map(rejectToJson);
    await folder.add('rejected.csv', renderCsv(rejectColumns, rejected));
  }
  const rejects = await ledger.rejects.count(runId);
  const warnings = await ledger.rejects.countWarnings(runId);
  return { run, rejects, warnings, unconfirmed, content, failure };
}

/** As `--dry-run --json` prints it: what is not known yet, or does not apply, is absent. */
function toReport({ run, rejects, warnings, unconfirmed, content, failure }: Found) {
  const { day, delivery, source, counts, suspects, volume, filters } = run;
  return {
    ...{ dryRun: true, day, delivery, source, counts },
    ...(suspects !== undefined && { suspects: { bookings: suspects } }),
    ...(volume && { volume: toVolumeReport(volume) }),
    ...{ rejects, warnings },
    ...(filters && { filters }),
    ...(unconfirmed && { unconfirmed }),
    ...content,
    ...(failure && { error: { class: classOfCollect(failure), message: failure.message } }),
  };
}

/** The real ledger, read only; undefined if it doesn't exist or can't be reached. A dry run works without it. */
async function findReachableLedger(app: App): Promise<ReadOnlyLedger | undefined> {
  try {
    const ledger = await app.findLedger({ waits: false });
    await ledger?.ping();
    return ledger;
  } catch (error) {
    app.say(`Not compared with the local copy of the mappings: ${describeError(error)}`);
    return undefined;
  }
}

/**
 * A ledger that leaves no guest names behind even if this process is killed: where the system allows it, its files
 * are unlinked as soon as they are open.
 */
async function openTemporaryLedger(temporaryFolder: string) {
  const folder = await mkdtemp(join(temporaryFolder, 'hotel-review-'));
  const ledger = createSqliteLedger({ path: join(folder, 'dry-run.db'), clock, isUnlinked: true });
  const discard = () => rm(folder, { recursive: true, force: true });
  if (process.platform !== 'win32') await discard();
  return { ledger, discard };
}

/** @returns why the day could not be collected */
async function collect(
  app: App,
  day: BusinessDay,
  ledger: Ledger,
  past: ReadOnlyLedger | undefined,
): Promise<CollectError | undefined> {
  const { config, notify, sourceMessages, signal, sftp } = app;
  const { delivery: kind } = config;
  const run = await ledger.runs.create({
    id: runId,
    day: day.iso,
    delivery: kind,
    trigger: 'manual',
    startedAt: clock(),
  });
  const callNothing = () => Promise.reject(new TypeError('a dry run calls no service'));
  const service = { reviewBookedHotels: callNothing, reviewBookedHotelsByFile: callNothing };
  const parts = {
    ...(await composeCollect(config, sourceMessages)),
    ...(past && {
      past,
      readErased: () => readErasedGuests(past, config.hashKey),
    }),
    delivery: createDelivery(kind, config, {
      ...{ ledger, service, findSftp: sftp, archive: app.archive(), notify, clock },
    }),
    ledger,
    notify,
    listsAllValues: true,
  };
  try {
    await collectDay(day, run, parts, signal);
    return undefined;
  } catch (error) {
    if (error instanceof CollectError) return error;
    throw error;
  }
}

async function findUnconfirmedBookings({ config, sourceMessages, signal }: App, day: BusinessDay) {
  const parts = openSourceParts(config, sourceMessages);
  const enough = AbortSignal.timeout(unconfirmedMs);
  const sample = await takeSample(config.source, parts, day, { signal, enough });
  return lookForUnconfirmed(sample, config.source);
}

/** What would be sent: its checksums, a sample with masked names, and files if requested. */
async function previewContent(
  { config: { source } }: App,
  day: BusinessDay,
  ledger: Ledger,
  run: Run,
  folder: OutFolder | undefined,
) {
  const file = (await previewReviewFile(ledger, run, `${day.ddmmyyyy}.csv`, folder?.add)) ?? null;
  const bodies = await previewBodies(ledger, run, folder?.add);
  const first = await readFirstLines(ledger, run, sampleSize);
  const sample = first.map(({ line }) => maskBooking(readBooking(line)));
  const keeps = Object.keys(source.keep).length > 0;
  const sampleKept: (ExtraValues | null)[] = [];
  for (const { stream, batch, row } of keeps ? first : [])
    sampleKept.push(extraAt(await ledger.bookings.readExtra(run.id, stream, batch), row) ?? null);
  return { file, ...bodies, sample, ...(keeps && { sampleKept }) };
}

function renderDryRun(
  { run, rejects, warnings, unconfirmed, content, failure }: Found,
  placeUnit: string,
  out: string | undefined,
) {
  const { read, accepted, duplicates, rejected, filtered } = run.counts;
  const counts = { read, accepted, duplicates, rejected, ...(filtered > 0 && { filtered }) };
  return [
    `${run.day}: dry run; nothing was sent`,
    run.source !== undefined && `source: ${run.source}`,
    renderCounts(counts),
    run.suspects ? wrapText(describeSuspects(run.suspects)) : [],
    renderReasons('rejected, by reason', rejects, placeUnit),
    renderReasons('warnings', warnings, placeUnit),
    run.filters && renderFilters(run.day, run.filters),
    unconfirmed && renderUnconfirmed(unconfirmed),
    failure && ['The run would fail before anything is sent:', ...wrapText(failure.message)],
    content && renderContent(content),
    content && out !== undefined && `Everything is in ${out}; it holds guest names.`,
  ];
}

function renderContent({
  file,
  batches,
  bytes,
  sha256,
  sample,
  sampleKept = [],
}: NonNullable<Found['content']>) {
  return [
    ...(file ? renderSums(`file ${file.name}`, { rows: file.rows, bytes: file.bytes }, file.sha256) : []),
    ...(file && batches === 0 ? [] : renderSums('bodies', { batches, bytes }, sha256)),
    ...(sample.length > 0 ? ['the first bookings, names masked:'] : []),
    ...sample.map((item) => `  ${JSON.stringify(item)}`),
    ...(sampleKept.length > 0 ? ['kept with them, not sent (source.keep):'] : []),
    ...sampleKept.map((values) => `  ${JSON.stringify(values ?? {})}`),
  ];
}

function renderFilters(day: string, filters: FilterReport): string[] {
  const warnings = describeFilterWarnings(day, filters).map((text) => `warning: ${text}`);
  return [
    'source.where:',
    ...[...describeFilters(filters.columns), ...warnings].flatMap((line) => wrapText(line)),
  ];
}

function renderUnconfirmed(found: Unconfirmed): string[] {
  const columns = describeUnconfirmed(found).split('\n');
  return [
    'unconfirmed bookings:',
    ...[...columns, adviseOnUnconfirmed(found)].flatMap((line) => wrapText(line)),
  ];
}

function renderSums(title: string, counts: Readonly<Record<string, number>>, sha256: string): string[] {
  return [`${title}:`, renderCounts(counts), `  sha256 ${sha256}`];
}

function renderCounts(counts: Readonly<Record<string, number>>): string {
  return renderTable(Object.entries(counts).map(([name, count]) => [name, formatCount(count)]));
}
