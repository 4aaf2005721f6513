import type { Comparison, MappingDifference } from '../mappings/export/compare/compare-export.js';
import type { ExportedMapping } from '../mappings/export/compare/read-mapping-file.js';
import type { FetchedExport, RequestedExport } from '../mappings/export/export-log.js';
import type { InspectedFile } from '../mappings/export/inspect-file.js';
import type { CopiedMapping } from '../mappings/mapping-copy.js';
import { formatBytes, formatCount, formatCountOf, formatInstant } from '../text/format.js';
import type { WriteCommand } from '../text/shell.js';
import { renderTable } from '../text/tables.js';

const columnsNamed = 20;

/** What `export request --json` prints, without the recipient. */
export function toRequestReport({ requestedAt, serviceTime, providers }: RequestedExport) {
  return {
    requestedAt: new Date(requestedAt).toISOString(),
    serviceTime: serviceTime === undefined ? null : new Date(serviceTime).toISOString(),
    providers,
  };
}

export function renderRequest({ providers }: RequestedExport, email: string, command: WriteCommand): string {
  const what = providers.length === 0 ? 'all providers' : providers.join(', ');
  return `The service exports the mappings of ${what} and sends them to ${email}.\nTo fetch the files: ${command('export fetch')}\n`;
}

/** What `export fetch --json` prints. */
export function toFetchReport(
  { id, fetchedAt, providers, files }: FetchedExport,
  { archivedTo, isNew }: { readonly archivedTo: string; readonly isNew: boolean },
) {
  return { id, isNew, fetchedAt: new Date(fetchedAt).toISOString(), providers, archivedTo, files };
}

export function renderFetched(
  { id, files }: FetchedExport,
  { archivedTo, inspected }: { readonly archivedTo: string; readonly inspected: readonly InspectedFile[] },
): string {
  const lines = [
    `Export ${id} was fetched:`,
    renderFiles(files),
    ...inspected.flatMap(describeOddities),
    `It is in ${archivedTo}`,
    '',
  ];
  return lines.join('\n');
}

export function renderKnown(
  { id, files, fetchedAt }: FetchedExport,
  { archivedTo, command }: { readonly archivedTo: string; readonly command: WriteCommand },
): string {
  return [
    `Export ${id} was already fetched at ${formatInstant(fetchedAt)}:`,
    renderFiles(files),
    `It is in ${archivedTo}. To request a new one: ${command('export request --email ADDRESS')}`,
    '',
  ].join('\n');
}

export function renderAbsent(folder: string, command: WriteCommand): string {
  const where = folder === '' ? 'in the SFTP root' : `in ${folder} below the SFTP root`;
  return `There is no complete export ${where} yet. To check again: ${command('export fetch')}\n`;
}

function renderFiles(files: FetchedExport['files']): string {
  const rows = files.map(({ kind, name, rows: count, bytes }) => [
    kind,
    formatCount(count),
    formatBytes(bytes),
    name,
  ]);
  return renderTable(rows, ['file', 'rows', 'size', 'name']);
}

function describeOddities({ name, extraColumns, endsInMidLine }: InspectedFile): string[] {
  const some = extraColumns.slice(0, columnsNamed).join(', ');
  const more = extraColumns.length > columnsNamed ? `, and ${extraColumns.length - columnsNamed} more` : '';
  return [
    ...(extraColumns.length === 0
      ? []
      : [`  ${name} has columns that the specification does not name: ${some}${more}`]),
    ...(endsInMidLine ? [`  ${name} does not end with a line break: is it complete?`] : []),
  ];
}

/** Rows shown on a terminal; `--out` lists all. */
export const differencesShown = 20;

function hasDifferences({ added, changed, gone }: Comparison): boolean {
  return added + changed + gone > 0;
}

/** What `export compare --json` prints. */
export function toComparisonReport(
  comparison: Comparison,
  { file, out }: { readonly file: string; readonly out: string | undefined },
) {
  return { file, differs: hasDifferences(comparison), ...comparison, out: out ?? null };
}

/** A difference as `--out` writes it, one per line. */
export function toDifferenceRecord(difference: MappingDifference) {
  const { kind } = difference;
  const { providerName, providerHotelId } = kind === 'gone' ? difference.copied : difference.exported;
  return {
    difference: kind,
    ProviderFamily: providerName,
    ProviderHotelId: providerHotelId,
    ...(kind === 'changed' && { columns: difference.columns }),
    file: kind === 'gone' ? null : toFileSide(difference.exported),
    copy: kind === 'added' ? null : toCopySide(difference.copied),
  };
}

function toFileSide({ serviceId, channelIds, locationId }: ExportedMapping) {
  return { ServiceId: serviceId ?? null, ChannelIds: channelIds, ProviderLocationId: locationId };
}

function toCopySide({ serviceId, channelIds, locationCode }: CopiedMapping) {
  return { ServiceId: serviceId ?? null, ChannelIds: channelIds, ProviderLocationId: locationCode ?? null };
}

export function renderComparison(
  comparison: Comparison,
  first: readonly MappingDifference[],
  { file, out }: { readonly file: string; readonly out: string | undefined },
): string {
  const { rows, same, added, changed, gone } = comparison;
  const counts = renderTable([
    ['the same', formatCount(same)],
    ['added: in the file, not in the copy', formatCount(added)],
    ['changed', formatCount(changed)],
    ...listChanges(comparison),
    ['gone: in the copy, not in the file', formatCount(gone)],
  ]);
  const total = added + changed + gone;
  return [
    `${file}, ${formatCountOf(rows, 'row')}, and the local copy:`,
    counts,
    ...listLeftOut(comparison),
    ...(first.length === 0 ? [] : [renderTable(first.map(toRow), head)]),
    ...(total > first.length
      ? [
          `  … and ${formatCount(total - first.length)} more${out === undefined ? '; --out FILE lists all' : ''}`,
        ]
      : []),
    conclude(comparison, total, out),
    '',
  ].join('\n');
}

function conclude({ same, others }: Comparison, total: number, out: string | undefined): string {
  if (total > 0)
    return `They differ in ${formatCountOf(total, 'mapping')}.${out === undefined ? '' : ` All of them are in ${out}.`}`;
  return same === 0 && others > 0
    ? 'Nothing was compared: neither has mappings of these providers.'
    : 'They do not differ.';
}

const head = ['difference', 'provider', 'hotel id', 'in the file', 'in the copy'];

function toRow(difference: MappingDifference): string[] {
  const { kind } = difference;
  const { providerName, providerHotelId } = kind === 'gone' ? difference.copied : difference.exported;
  const what = kind === 'changed' ? difference.columns.join(', ') : kind;
  const inFile = kind === 'gone' ? '' : String(difference.exported.serviceId ?? '');
  const inCopy = kind === 'added' ? '' : String(difference.copied.serviceId ?? '');
  return [what, providerName, providerHotelId, inFile, inCopy];
}

function listChanges({ changed, changedIn }: Comparison): string[][] {
  if (changed === 0) return [];
  return Object.entries(changedIn).map(([column, count]) => [`  in ${column}`, formatCount(count)]);
}

function listLeftOut(comparison: Comparison): string[] {
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
