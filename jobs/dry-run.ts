import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { renderCsv } from '../src/base/csv-cells.js';
import { formatCount, wrapText } from '../src/base/format.js';
import { describeError } from '../src/base/safe-error.js';
import { renderTable } from '../src/base/tables.js';
import type { BusinessDay } from '../src/booking/business-day.js';
import type { ExtraValues } from '../src/booking/extra-values.js';
import type { FilterReport } from '../src/booking/source.js';
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
import { type ReasonCount, rejectColumns, rejectsListed, rejectToJson } from '../src/ledger/rejects.js';
import { collectDay } from '../src/review/collect/collect.js';
import { requireBegun } from '../src/review/day/range-plan.js';
import { toVolumeReport } from '../src/review/day/report.js';
import { previewBodies, previewReviewFile, readFirstLines } from '../src/review/stored/as-sent.js';
import { readMaskedFields } from '../src/review/stored/stored-line.js';
import { describeSuspects } from '../src/rules/describe-day.js';
import { CollectError } from '../src/rules/gates.js';
import type { Counts, Run } from '../src/rules/run.js';
import { classOfCollect } from '../src/rules/try-again.js';
import { describeFilters, describeFilterWarnings } from '../src/rules/where-report.js';
import { kindOf } from '../src/sources/registry.js';
import { type App, recordAction } from './app.js';
import { clock } from './clock.js';
import { exitCode } from './exit-code.js';
import { createOutFolder, type OutFolder } from './output-files.js';
import { findLedger, openLedger, openSqlite } from './parts.js';
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
  if (out !== undefined) await recordDryRun(app, day, app.locate(out));
  const folder = out === undefined ? undefined : await createOutFolder(out, app.locate(out), io.halted);
  const past = await findReachableLedger(app);
  const { ledger, discard } = await openTemporaryLedger(io.temporaryFolder);
  // Nothing else appears until the source has answered.
  app.warn(`${day.iso}: reading the bookings for a dry run`);
  try {
    const failure = await collect(app, day, ledger, past);
    app.endProgress();
    const run = await ledger.runs.get(runId);
    const rejects = await ledger.rejects.count(runId);
    const warnings = await ledger.rejects.countWarnings(runId);
    const { placeUnit } = kindOf(config.source);
    const content = failure ? undefined : await previewContent(app, day, ledger, run, folder);
    const unconfirmed = failure ? undefined : await findUnconfirmedBookings(app, day);
    if (folder && run.counts.rejected > 0) {
      const rejected = (await ledger.rejects.list(runId, rejectsListed)).map(rejectToJson);
      await folder.add('rejected.csv', renderCsv(rejectColumns, rejected));
    }
    await folder?.finish();
    const report = {
      dryRun: true,
      day: day.iso,
      delivery: run.delivery,
      source: run.source,
      counts: run.counts,
      ...(run.suspects !== undefined && { suspects: { bookings: run.suspects } }),
      ...(run.volume && { volume: toVolumeReport(run.volume) }),
      rejects,
      warnings,
      ...(run.filters && { filters: run.filters }),
      ...(unconfirmed && { unconfirmed }),
      ...content,
      ...(failure && { error: { class: classOfCollect(failure), message: failure.message } }),
    };
    return app.answer(
      renderDryRun(report, placeUnit, out),
      report,
      failure ? exitCode.failed : exitCode.done,
    );
  } finally {
    await ledger.close();
    await discard();
    await past?.close();
  }
}

/** Creates the ledger if there is none yet. */
async function recordDryRun(app: App, day: BusinessDay, out: string): Promise<void> {
  const ledger = (await findLedger(app.config, { waits: false })) ?? (await openLedger(app.config));
  try {
    await recordAction(ledger, { action: 'dry-run', subject: day.iso, details: { out } }, app);
  } finally {
    await ledger.close();
  }
}

/** The real ledger, read only; undefined if it doesn't exist or can't be reached. A dry run works without it. */
async function findReachableLedger({ config, say }: App): Promise<ReadOnlyLedger | undefined> {
  let ledger: ReadOnlyLedger | undefined;
  try {
    ledger = await findLedger(config, { waits: false });
    await ledger?.ping();
    return ledger;
  } catch (error) {
    await ledger?.close();
    say(`Not compared with the local copy of the mappings: ${describeError(error)}`);
    return undefined;
  }
}

/**
 * A ledger that leaves no guest names behind even if this process is killed: where the system allows it, its files
 * are unlinked as soon as they are open.
 */
async function openTemporaryLedger(temporaryFolder: string) {
  const folder = await mkdtemp(join(temporaryFolder, 'hotel-review-'));
  const ledger = openSqlite(join(folder, 'dry-run.db'), { isUnlinked: true });
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
  const sample = await takeSample({
    settings: config.source,
    parts: openSourceParts(config, sourceMessages),
    day,
    signal,
    enough: AbortSignal.timeout(unconfirmedMs),
  });
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
  const sample = first.map(({ line }) => readMaskedFields(line));
  if (Object.keys(source.keep).length === 0) return { file, ...bodies, sample };
  const sampleKept: (ExtraValues | null)[] = [];
  for (const { stream, batch, row } of first)
    sampleKept.push(extraAt(await ledger.bookings.readExtra(run.id, stream, batch), row) ?? null);
  return { file, ...bodies, sample, sampleKept };
}

/** The result of a dry run, as `--dry-run --json` prints it. */
interface DryRunReport {
  readonly day: string;
  readonly source?: string | undefined;
  readonly counts: Counts;
  /** Absent without a local copy of the mappings to compare with. */
  readonly suspects?: { readonly bookings: number };
  readonly rejects: readonly ReasonCount[];
  readonly warnings: readonly ReasonCount[];
  /** Absent without `source.where`. */
  readonly filters?: FilterReport;
  /** Absent if no record looks cancelled by a column that nothing uses. */
  readonly unconfirmed?: Unconfirmed;
  /** Null if there would be no file; absent if the day could not be collected. */
  readonly file?: {
    readonly name: string;
    readonly rows: number;
    readonly bytes: number;
    readonly sha256: string;
  } | null;
  /** Absent if the day could not be collected. */
  readonly batches?: number;
  readonly bytes?: number;
  /** Of all bodies, concatenated. */
  readonly sha256?: string;
  /** The first bookings as they would be sent, with names masked. */
  readonly sample?: readonly Record<string, unknown>[];
  /** The extra columns of each; absent without `source.keep`. */
  readonly sampleKept?: readonly (ExtraValues | null)[];
  readonly error?: { readonly message: string };
}

function renderDryRun(report: DryRunReport, placeUnit: string, out: string | undefined): string {
  const {
    day,
    source,
    counts,
    suspects,
    rejects,
    warnings,
    filters,
    unconfirmed,
    batches = 0,
    bytes = 0,
    sha256,
    sample = [],
    sampleKept = [],
    file,
    error,
  } = report;
  const { read, accepted, duplicates, rejected, filtered } = counts;
  const result = error
    ? ['The run would fail before anything is sent:', ...wrapText(error.message)]
    : [
        ...(file ? renderSums(`file ${file.name}`, { rows: file.rows, bytes: file.bytes }, file.sha256) : []),
        ...(file && batches === 0 ? [] : renderSums('bodies', { batches, bytes }, sha256)),
        ...(sample.length > 0 ? ['the first bookings, names masked:'] : []),
        ...sample.map((item) => `  ${JSON.stringify(item)}`),
        ...(sampleKept.length > 0 ? ['kept with them, not sent (source.keep):'] : []),
        ...sampleKept.map((values) => `  ${JSON.stringify(values ?? {})}`),
        ...(out === undefined ? [] : [`Everything is in ${out}; it holds guest names.`]),
      ];
  const sections = [
    `${day}: dry run; nothing was sent`,
    ...(source === undefined ? [] : [`source: ${source}`]),
    renderTable(
      Object.entries({ read, accepted, duplicates, rejected, ...(filtered > 0 && { filtered }) }).map(
        ([name, count]) => [name, formatCount(count)],
      ),
    ),
    ...(suspects?.bookings ? wrapText(describeSuspects(suspects.bookings)) : []),
    ...renderReasons('rejected, by reason', rejects, placeUnit),
    ...renderReasons('warnings', warnings, placeUnit),
    ...(filters ? renderFilters(day, filters) : []),
    ...(unconfirmed ? renderUnconfirmed(unconfirmed) : []),
    ...result,
  ];
  return `${sections.join('\n')}\n`;
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

function renderSums(
  title: string,
  counts: Readonly<Record<string, number>>,
  sha256: string | undefined,
): string[] {
  const rows = Object.entries(counts).map(([name, count]) => [name, formatCount(count)]);
  return [`${title}:`, renderTable(rows), `  sha256 ${sha256}`];
}
