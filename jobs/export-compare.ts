import { InvalidArgumentError } from 'commander';
import { formatCount, formatCountOf } from '../src/base/format.js';
import { writeNamedFile } from '../src/base/output-files.js';
import { renderTable } from '../src/base/tables.js';
import { UsageError } from '../src/base/usage-error.js';
import type { ReadOnlyLedger } from '../src/ledger/ledger.js';
import {
  type CompareRequest,
  type Comparison,
  compareExport,
  differenceToJson,
  type MappingDifference,
} from '../src/mappings/export/compare/compare-export.js';
import { archiveDay } from '../src/mappings/export/fetch-export.js';
import type { App } from './app.js';
import { command, force, option } from './command.js';
import { findNamedFile, listMasterIdNames } from './hotels.js';

/** Rows shown on a terminal; `--out` lists all. */
const differencesShown = 20;

export default command({
  arguments: (file: string | undefined) => ({ file }),
  options: {
    providers: option('--providers <names>', 'compare only the mappings of these'),
    out: option('--out <file>', 'write all differences to this file, as NDJSON'),
    force,
  },
  examples: `
Exits with 0 whether or not they differ.

Examples:
  hotel-review export compare
  hotel-review export compare mappings.csv --providers Bedlink --out all.ndjson`,
  read: ({ providers, ...given }) => ({
    ...given,
    providers: providers === undefined ? undefined : readNames(providers),
  }),

  async run(app, { file: name, providers, out, force: replaces }) {
    const ledger = await app.findLedger();
    if (!ledger || (await ledger.mappings.isEmpty()))
      throw new UsageError(
        `there is no local copy to compare with; to create one: ${app.command('mappings sync')}`,
      );
    const request = await (name === undefined ? openFetched(app, ledger) : openNamed(app, name));
    const { file } = request;
    const first: MappingDifference[] = [];
    const compare = (add?: (text: string) => Promise<void>) =>
      compareExport(
        { ...request, providers: providers ?? request.providers },
        {
          copy: ledger.mappings,
          masterIdNames: listMasterIdNames(app.config),
          async take(differences) {
            first.push(...differences.slice(0, differencesShown - first.length));
            await add?.(
              differences.map((difference) => `${JSON.stringify(differenceToJson(difference))}\n`).join(''),
            );
          },
        },
        app.signal,
      );
    const comparison = await (out === undefined
      ? compare()
      : writeNamedFile({ option: '--out', name: out, force: replaces }, app, compare));
    const { rows, added, changed, gone } = comparison;
    const total = added + changed + gone;
    return app.answer(
      [
        `${file}, ${formatCountOf(rows, 'row')}, and the local copy:`,
        renderCounts(comparison),
        describeLeftOut(comparison),
        first.length > 0 && renderDifferences(first),
        total > first.length &&
          `  … and ${formatCount(total - first.length)} more${out === undefined ? '; --out FILE lists all' : ''}`,
        conclude(comparison, total, out),
      ],
      { file, differs: total > 0, ...comparison, out: out ?? null },
    );
  },
});

export function readNames(text: string): string[] {
  const names = text.split(',').map((name) => name.trim());
  if (!names.includes('')) return [...new Set(names)];
  throw new InvalidArgumentError('--providers: expected names separated by commas, got: an empty one');
}

async function openNamed(app: App, file: string): Promise<CompareRequest> {
  return { file, open: await findNamedFile(app, file, 'the mapping file of an export'), providers: [] };
}

async function openFetched(app: App, { exports }: ReadOnlyLedger): Promise<CompareRequest> {
  const fetched = await exports.latestFetched();
  const mappingFile = fetched?.files.find(({ kind }) => kind === 'mappings');
  if (!fetched || !mappingFile)
    throw new UsageError(`no export was fetched yet; name a file, or: ${app.command('export fetch')}`);
  const { id, providers } = fetched;
  const file = mappingFile.name;
  return { file, open: () => app.archive().read(archiveDay, id, file), providers };
}

function renderCounts({ same, added, changed, gone, changedIn }: Comparison): string {
  const columns = changed === 0 ? [] : Object.entries(changedIn);
  return renderTable([
    ['the same', formatCount(same)],
    ['added: in the file, not in the copy', formatCount(added)],
    ['changed', formatCount(changed)],
    ...columns.map(([column, count]) => [`  in ${column}`, formatCount(count)]),
    ['gone: in the copy, not in the file', formatCount(gone)],
  ]);
}

function describeLeftOut(comparison: Comparison): string[] {
  const { repeated, contradicting, unreadable, unreadableRows, others } = comparison;
  const named = unreadableRows.join(', ');
  return [
    ...(repeated === 0
      ? []
      : [
          `  ${formatCountOf(repeated, 'row')} repeat a hotel, whose last row counts; ${formatCount(contradicting)} of them with another ServiceId`,
        ]),
    ...(unreadable === 0
      ? []
      : [
          `  ${formatCountOf(unreadable, 'row')} can't be read: ${named}${unreadable > unreadableRows.length ? ', …' : ''}`,
        ]),
    ...(others === 0 ? [] : [`  ${formatCountOf(others, 'row')} of other providers left out`]),
  ];
}

function renderDifferences(differences: readonly MappingDifference[]): string {
  const rows = differences.map((difference) => {
    const { kind } = difference;
    const { providerName, providerHotelId } = kind === 'gone' ? difference.copied : difference.exported;
    return [
      kind === 'changed' ? difference.columns.join(', ') : kind,
      providerName,
      providerHotelId,
      kind === 'gone' ? '' : difference.exported.serviceId,
      kind === 'added' ? '' : difference.copied.serviceId,
    ];
  });
  return renderTable(rows, ['difference', 'provider', 'hotel id', 'in the file', 'in the copy']);
}

function conclude({ same, others }: Comparison, total: number, out: string | undefined): string {
  if (total > 0)
    return `They differ in ${formatCountOf(total, 'mapping')}.${out === undefined ? '' : ` All of them are in ${out}.`}`;
  return same === 0 && others > 0
    ? 'Nothing was compared: neither has mappings of these providers.'
    : 'They do not differ.';
}
