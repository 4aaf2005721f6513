import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { BusinessDay } from '../src/booking/business-day.js';
import type { KeptValues } from '../src/booking/kept-values.js';
import { renderDryRun } from '../src/cli/dry-run-report.js';
import { exitCode } from '../src/cli/exit-code.js';
import { readRunDetails } from '../src/cli/run-summary.js';
import type { Config } from '../src/config/load.js';
import type { Unconfirmed } from '../src/examination/unconfirmed.js';
import { lookForUnconfirmed } from '../src/examination/unconfirmed-check.js';
import { collectDay } from '../src/review/collect/collect.js';
import { CollectError } from '../src/review/collect/gates.js';
import { rejectColumns, rejectsListed, rejectToJson } from '../src/review/collected.js';
import { requireBegun } from '../src/review/day/begun-days.js';
import { toVolumeReport } from '../src/review/day/report.js';
import { readErasedGuests } from '../src/review/erasures.js';
import { type KeptColumnReader, keptAt } from '../src/review/kept-columns.js';
import type { Ledger, ReadOnlyLedger } from '../src/review/ledger.js';
import type { Run } from '../src/review/run.js';
import { previewBodies, previewReviewFile, readFirstLines } from '../src/review/stored/preview.js';
import { readMaskedFields } from '../src/review/stored/stored-line.js';
import { kindOf } from '../src/sources/registry.js';
import { renderCsv } from '../src/text/csv.js';
import { createOutFolder, type OutFolder } from '../src/text/output-files.js';
import { describeError } from '../src/text/safe-error.js';
import { recordAction } from './audit.js';
import { clock } from './clock.js';
import { findLedger, openLedger, openSftp, openSqlite } from './parts.js';
import { composeCollect, createDelivery } from './review.js';
import { openSourceParts } from './sources.js';
import type { Terminal } from './terminal.js';

const sampleSize = 5;
/** How long to look for cancelled bookings, once the day has been read. */
const unconfirmedMs = 15_000;
const runId = 'dry-run';

/**
 * Collects a day as a run would, into a temporary ledger, and shows what would be sent. It doesn't call the service,
 * and reads nothing but the local copy of the mappings from the real ledger, which also records files with guests' names.
 */
export async function dryRunDay(
  config: Config,
  day: BusinessDay,
  { out }: { readonly out?: string | undefined },
  terminal: Terminal,
): Promise<number> {
  requireBegun(day, clock());
  if (out !== undefined) await recordDryRun(config, day, terminal.locate(out), terminal);
  const folder =
    out === undefined ? undefined : await createOutFolder(out, terminal.locate(out), terminal.io.halted);
  const kept = await findReachableLedger(config, terminal);
  const { ledger, discard } = await openTemporaryLedger(terminal.io.temporaryFolder);
  // Nothing else appears until the source has answered.
  terminal.warn(`${day.iso}: reading the bookings for a dry run`);
  try {
    const { failure } = await collect(config, day, { ledger, kept }, terminal);
    terminal.endProgress();
    const run = await ledger.getRun(runId);
    const details = await readRunDetails(ledger, run, kindOf(config.source).placeUnit);
    const content = failure ? undefined : await previewContent(config, day, ledger, run, folder);
    const unconfirmed = failure ? undefined : await findUnconfirmedBookings(config, day, terminal);
    if (folder && run.counts.rejected > 0) {
      const rejected = (await ledger.listRejects(runId, rejectsListed)).map(rejectToJson);
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
      rejects: details.rejects,
      warnings: details.warnings,
      ...(unconfirmed && { unconfirmed }),
      ...content,
      ...(failure && { error: { class: 'data', message: failure.message } }),
    };
    terminal.answer(renderDryRun(report, details.placeUnit, out), report);
    return failure ? exitCode.failed : exitCode.done;
  } finally {
    await ledger.close();
    await discard();
    await kept?.close();
  }
}

/** Creates the ledger if there is none yet. */
async function recordDryRun(
  config: Config,
  day: BusinessDay,
  out: string,
  terminal: Terminal,
): Promise<void> {
  const ledger = (await findLedger(config, { waits: false })) ?? (await openLedger(config));
  try {
    await recordAction(ledger, { action: 'dry-run', subject: day.iso, details: { out } }, terminal);
  } finally {
    await ledger.close();
  }
}

/**
 * The real ledger, read only; undefined if it doesn't exist or can't be reached. A dry run works without it.
 */
async function findReachableLedger(config: Config, { say }: Terminal): Promise<ReadOnlyLedger | undefined> {
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
async function openTemporaryLedger(
  temporaryFolder: string,
): Promise<{ ledger: Ledger; discard: () => Promise<void> }> {
  const folder = await mkdtemp(join(temporaryFolder, 'hotel-review-'));
  const ledger = openSqlite(join(folder, 'dry-run.db'));
  const discard = () => rm(folder, { recursive: true, force: true });
  if (process.platform !== 'win32') await discard();
  return { ledger, discard };
}

async function collect(
  config: Config,
  day: BusinessDay,
  { ledger, kept }: { readonly ledger: Ledger; readonly kept: ReadOnlyLedger | undefined },
  { notify, sourceMessages, signal }: Terminal,
): Promise<{ failure?: CollectError }> {
  const { id, token } = await ledger.createRun({
    id: runId,
    day: day.iso,
    delivery: config.delivery,
    trigger: 'manual',
    startedAt: clock(),
  });
  const callNothing = () => Promise.reject(new TypeError('a dry run calls no service'));
  const service = { reviewBookedHotels: callNothing, reviewBookedHotelsByFile: callNothing };
  const delivery = createDelivery(config.delivery, config, {
    ledger,
    service,
    findSftp: () => openSftp(config),
    notify,
    clock,
  });
  const comparison = kept && { comparison: kept.mappings };
  const parts = {
    ...(await composeCollect(config, sourceMessages)),
    ...comparison,
    ...(kept && {
      volumes: kept,
      earlierDays: kept,
      readErased: () => readErasedGuests(kept, config.hashKey),
    }),
    delivery,
    ledger,
    notify,
  };
  try {
    await collectDay(day, { runId: id, token }, parts, signal);
    return {};
  } catch (error) {
    if (error instanceof CollectError) return { failure: error };
    throw error;
  }
}

function findUnconfirmedBookings(
  config: Config,
  day: BusinessDay,
  { sourceMessages, signal }: Terminal,
): Promise<Unconfirmed | undefined> {
  return lookForUnconfirmed({
    settings: config.source,
    parts: openSourceParts(config, sourceMessages),
    day,
    signal,
    enough: AbortSignal.timeout(unconfirmedMs),
  });
}

/** What would be sent: its checksums, a sample with masked names, and files if requested. */
async function previewContent(
  { service, source }: Config,
  day: BusinessDay,
  ledger: Ledger,
  run: Run,
  folder: OutFolder | undefined,
) {
  const file = await previewReviewFile(
    ledger,
    run,
    { masterIdColumn: service.masterIdColumn, name: `${day.ddmmyyyy}.csv` },
    folder?.add,
  );
  const bodies = await previewBodies(ledger, run, folder?.add);
  const first = await readFirstLines(ledger, run, sampleSize);
  const keepsColumns = Object.keys(source.keep).length > 0;
  return {
    file: file ?? null,
    ...bodies,
    sample: first.map(({ line, form }) => readMaskedFields(line, form)),
    ...(keepsColumns && { sampleKept: await readKept(ledger, run, first) }),
  };
}

/** The kept columns of those bookings; null for one without any. */
async function readKept(
  ledger: KeptColumnReader,
  { id }: Run,
  lines: Awaited<ReturnType<typeof readFirstLines>>,
): Promise<(KeptValues | null)[]> {
  const kept = [];
  for (const { form, batch, place } of lines)
    kept.push(keptAt(await ledger.readKeptColumns(id, form, batch), place) ?? null);
  return kept;
}
