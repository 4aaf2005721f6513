import type { Comparison, MappingDifference } from '../mappings/export/compare/compare-export.js';
import type { ExportedMapping } from '../mappings/export/compare/read-mapping-file.js';
import type { CopiedMapping } from '../mappings/mapping-copy.js';
import { formatCount, formatCountOf } from '../text/format.js';
import { renderTable } from './tables.js';

/** Shown on a terminal; `--out` has them all. */
export const differencesShown = 20;

export function hasDifferences({ added, changed, gone }: Comparison): boolean {
  return added + changed + gone > 0;
}

/** What `export compare --json` prints. */
export function toComparisonReport(
  comparison: Comparison,
  { file, out }: { readonly file: string; readonly out: string | undefined },
) {
  return { file, differs: hasDifferences(comparison), ...comparison, out: out ?? null };
}

/** A difference as a line of `--out` has it. */
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
          `  … and ${formatCount(total - first.length)} more${out === undefined ? '; --out FILE has them all' : ''}`,
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
  return [what, toLine(providerName), toLine(providerHotelId), inFile, inCopy];
}

/** A cell of the file may hold line ends, and what a terminal takes for commands. */
function toLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');
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
          `  ${formatCountOf(repeated, 'row')} stand again further down, where the last one counts; ${formatCount(contradicting)} of them with another ServiceId`,
        ]),
    ...(unreadable === 0
      ? []
      : [
          `  ${formatCountOf(unreadable, 'row')} can't be read: ${named}${unreadable > unreadableRows.length ? ', …' : ''}`,
        ]),
    ...(others === 0 ? [] : [`  ${formatCountOf(others, 'row')} of other providers left out`]),
  ];
}
