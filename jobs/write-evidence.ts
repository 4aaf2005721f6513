import type { Case } from '../src/cases/case.js';
import type { ReadOnlyCaseLedger } from '../src/cases/case-store.js';
import type { EvidenceOptions } from '../src/cli/commands/history.js';
import { renderEvidence } from '../src/cli/evidence.js';
import { exitCode } from '../src/cli/exit-code.js';
import type { Config } from '../src/config/load.js';
import { gatherEvidence } from '../src/review/evidence/gather-evidence.js';
import { formatCountOf } from '../src/text/format.js';
import { writeNamedFile } from '../src/text/output-files.js';
import { showInLine } from '../src/text/visible.js';
import { zip } from '../src/text/zip.js';
import { recordAction } from './audit.js';
import { clock } from './clock.js';
import { openArchive, openSpool } from './deliveries.js';
import { withReadOnlyLedger } from './ledgers.js';
import type { Terminal } from './terminal.js';
import { version } from './version.js';

/** Writes what proves what was done about a booking to a ZIP file; exits with 1 if no run contains the booking. */
export async function writeEvidence(
  config: Config,
  reference: string,
  { out, force }: EvidenceOptions,
  terminal: Terminal,
): Promise<number> {
  const reportNone = (notice: string): number => {
    terminal.answer(`${notice}\n`, { reference, out: null, runs: [] });
    return exitCode.failed;
  };
  return withReadOnlyLedger(config, reportNone, async (ledger) => {
    const { evidence, files } = await gatherFiles(config, ledger, reference, terminal);
    const canary = evidence.runs.length === 0 && (await ledger.findCanaryByReference(reference));
    if (canary)
      return reportNone(
        `${reference} is no booking but the canary of ${canary.day}: ${terminal.command(`show ${reference}`)}`,
      );
    if (evidence.runs.length === 0)
      return reportNone(`${showInLine(reference)} is in no run of this ledger.`);
    const path = terminal.locate(out);
    // It holds the guest's name, so nothing is written without a record.
    const details = { out: path, runs: evidence.runs.length };
    await recordAction(ledger, { action: 'evidence', subject: reference, details }, terminal);
    const packed = zip(files, new Date(clock()));
    await writeNamedFile({ option: '--out', name: out, force }, terminal, (add) => add(packed));
    const runs = evidence.runs.map(({ run }) => ({ runId: run.id, day: run.day }));
    terminal.answer(
      `${formatCountOf(files.length, 'file')} about ${formatCountOf(runs.length, 'run')} in ${out} (${formatCountOf(packed.length, 'byte')}). Keep it safe: it may hold the guest's name.\n`,
      { reference, out: path, bytes: packed.length, runs, files: files.map(({ name }) => name) },
    );
    return exitCode.done;
  });
}

/** The same as the content of a ZIP file; undefined if no run contains the booking. */
export async function packEvidence(
  config: Config,
  ledger: ReadOnlyCaseLedger,
  reference: string,
  circumstances: GatherOptions,
): Promise<Uint8Array | undefined> {
  const { evidence, files } = await gatherFiles(config, ledger, reference, circumstances);
  return evidence.runs.length === 0 ? undefined : zip(files, new Date(clock()));
}

type GatherOptions = Pick<Terminal, 'signal'>;

async function gatherFiles(
  config: Config,
  ledger: ReadOnlyCaseLedger,
  reference: string,
  { signal }: GatherOptions,
) {
  const parts = { ledger, archive: openArchive(config), spool: openSpool(config) };
  const evidence = await gatherEvidence(parts, reference, signal);
  const cases: Case[] = [];
  for (const { id } of await ledger.cases.findBookings(reference)) {
    const found = await ledger.cases.find(id);
    if (found) cases.push(found);
  }
  const files = renderEvidence(evidence, {
    reference,
    at: new Date(clock()).toISOString(),
    tool: `booked-hotel-review ${version}`,
    cases,
  });
  return { evidence, files };
}
