import type { FetchedExport, RequestedExport } from '../mappings/export/export-log.js';
import type { InspectedFile } from '../mappings/export/inspect-file.js';
import { formatBytes, formatCount, formatInstant } from '../text/format.js';
import type { WriteCommand } from './command-writer.js';
import { renderTable } from './tables.js';

const columnsNamed = 20;

/** What `export request --json` prints: to whom the export is sent stands nowhere. */
export function toRequestReport({ requestedAt, serviceTime, providers }: RequestedExport) {
  return {
    requestedAt: new Date(requestedAt).toISOString(),
    serviceTime: serviceTime === undefined ? null : new Date(serviceTime).toISOString(),
    providers,
  };
}

export function renderRequest({ providers }: RequestedExport, email: string, command: WriteCommand): string {
  const what = providers.length === 0 ? 'all providers' : providers.join(', ');
  return `The service exports the mappings of ${what}, and sends them to ${email}.\nTo bring the files home: ${command('export fetch')}\n`;
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
    `Export ${id} is home:`,
    renderFiles(files),
    ...inspected.flatMap(describeOddities),
    `It lies in ${archivedTo}`,
    '',
  ];
  return lines.join('\n');
}

export function renderKnown(
  { id, files, fetchedAt }: FetchedExport,
  { archivedTo, command }: { readonly archivedTo: string; readonly command: WriteCommand },
): string {
  return [
    `Export ${id} was fetched already, at ${formatInstant(fetchedAt)}:`,
    renderFiles(files),
    `It lies in ${archivedTo}. To ask for a new one: ${command('export request --email ADDRESS')}`,
    '',
  ].join('\n');
}

export function renderAbsent(folder: string, command: WriteCommand): string {
  const where = folder === '' ? 'in the SFTP root' : `in ${folder} below the SFTP root`;
  return `There is no whole export ${where} yet. To look again: ${command('export fetch')}\n`;
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
    ...(extraColumns.length === 0 ? [] : [`  ${name} has columns that are not specified: ${some}${more}`]),
    ...(endsInMidLine ? [`  ${name} does not end with a line end: is it whole?`] : []),
  ];
}
