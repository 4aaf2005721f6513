import type { CompareExportOptions } from '../src/cli/commands/exports.js';
import { exitCode } from '../src/cli/exit-code.js';
import {
  differencesShown,
  renderComparison,
  toComparisonReport,
  toDifferenceRecord,
} from '../src/cli/exports.js';
import type { Config } from '../src/config/load.js';
import {
  type CompareRequest,
  compareExport,
  type MappingDifference,
} from '../src/mappings/export/compare/compare-export.js';
import { archiveDay } from '../src/mappings/export/fetch-export.js';
import type { ReadOnlyLedger } from '../src/review/ledger.js';
import { writeNamedFile } from '../src/text/output-files.js';
import { UsageError } from '../src/text/usage-error.js';
import { listMasterIdNames } from './load-hotels.js';
import { findNamedFile } from './named-file.js';
import { openArchive, withReadOnlyLedger } from './parts.js';
import type { Terminal } from './terminal.js';

/** `hotel-review export compare`: differences are a result, not a failure. */
export async function compareOneExport(
  config: Config,
  file: string | undefined,
  { providers, out, force }: CompareExportOptions,
  terminal: Terminal,
): Promise<number> {
  const refuse = (): never => {
    throw new UsageError(
      `there is no local copy to compare with; to create one: ${terminal.command('mappings sync')}`,
    );
  };
  return withReadOnlyLedger(config, refuse, async ({ mappings, exports }) => {
    if (await mappings.isEmpty()) refuse();
    const request =
      file === undefined ? await openFetched(config, exports, terminal) : await openNamed(file, terminal);
    const first: MappingDifference[] = [];
    const compare = (add?: (text: string) => Promise<void>) =>
      compareExport(
        { ...request, providers: providers ?? request.providers },
        {
          copy: mappings,
          masterIdNames: listMasterIdNames(config),
          async take(differences) {
            first.push(...differences.slice(0, differencesShown - first.length));
            await add?.(
              differences.map((difference) => `${JSON.stringify(toDifferenceRecord(difference))}\n`).join(''),
            );
          },
        },
        terminal.signal,
      );
    const names = { file: request.file, out };
    const comparison = await (out === undefined
      ? compare()
      : writeNamedFile({ option: '--out', name: out, force }, terminal, compare));
    terminal.answer(renderComparison(comparison, first, names), toComparisonReport(comparison, names));
    return exitCode.done;
  });
}

async function openNamed(name: string, { locate, signal }: Terminal): Promise<CompareRequest> {
  const { file, open } = await findNamedFile(name, 'the mapping file of an export', locate(name));
  return { file, open: () => open(signal), providers: [] };
}

async function openFetched(
  config: Config,
  exports: ReadOnlyLedger['exports'],
  { command }: Terminal,
): Promise<CompareRequest> {
  const fetched = await exports.latestFetched();
  const mappingFile = fetched?.files.find(({ kind }) => kind === 'mappings');
  if (!fetched || !mappingFile)
    throw new UsageError(`no export was fetched yet; name a file, or: ${command('export fetch')}`);
  const archive = openArchive(config);
  return {
    file: mappingFile.name,
    open: () => archive.read(archiveDay, fetched.id, mappingFile.name),
    providers: fetched.providers,
  };
}
