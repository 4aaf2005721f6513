import { buildRecord } from '../../booking/booking.js';
import { matchColumns } from '../../booking/match-columns.js';
import {
  type SourceColumns,
  SourceError,
  type SourceNotice,
  type SourceRecord,
} from '../../review/source.js';
import { describeColumn, describeNames, listFieldColumns, requireColumns } from '../common/columns.js';
import type { RowColumns } from '../common/plain-lines.js';

export interface CsvHeader {
  readonly row: RowColumns;
  readonly notices: readonly SourceNotice[];
  pickRecord(place: number, cells: readonly string[]): SourceRecord;
}

interface HeaderOptions {
  readonly columns?: SourceColumns;
  /** The columns of a record's `extras`. */
  readonly extraColumns?: readonly string[];
  /** The columns of a record's `kept`; they may be absent. */
  readonly keptColumns?: readonly string[];
  /** For messages. */
  readonly path: string;
}

/**
 * Finds the columns in the file's first record. Error messages quote it only if it is known to be a header: in a file
 * without one it is a booking.
 *
 * @throws SourceError `missing-column` if the column of a field or an extra one is missing; `ambiguous-column` if a needed
 *   one occurs twice
 */
export function readCsvHeader(
  cells: readonly string[],
  { columns = {}, extraColumns = [], keptColumns = [], path }: HeaderOptions,
): CsvHeader {
  const names = cells.map((name) => name.trim());
  const notices: SourceNotice[] = [];

  function findOnly(name: string, use: string): number | undefined {
    const column = name.trim();
    const at = names.indexOf(column);
    if (at !== names.lastIndexOf(column)) {
      throw new SourceError(
        'ambiguous-column',
        `the column ${describeColumn(column, use)} occurs twice in the header of ${path}`,
      );
    }
    return at === -1 ? undefined : at;
  }

  const fields = listFieldColumns(columns);
  const isHeader =
    fields.some((one) => one !== undefined && names.includes(one.column.trim())) ||
    matchColumns(names).columns.size > 1;
  const describeHeader = (shown: string, isOne = true) => {
    const count = names.length === 1 ? '1 column: is source.delimiter right?' : `${names.length} columns`;
    const are = isOne ? `the column ${shown} is` : `the columns ${shown} are`;
    return `${are} not in the header of ${path}, which has ${isHeader ? describeNames(names) : count}`;
  };

  function findExtra(name: string): number {
    const at = findOnly(name, 'source.where');
    if (at !== undefined) return at;
    throw new SourceError('missing-column', describeHeader(describeColumn(name, 'source.where')));
  }

  function findKept(name: string): number | undefined {
    const at = findOnly(name, 'source.keep');
    if (at === undefined) notices.push({ kind: 'absent-column', column: name });
    return at;
  }

  const places = fields.map((one) => one && findOnly(one.column, one.field));
  // Of a file that has no header, or another delimiter, all columns are missing: the first one says so.
  requireColumns(isHeader ? fields : fields.slice(0, 1), {
    fault: 'missing-column',
    isThere: (index) => places[index] !== undefined,
    describe: describeHeader,
  });
  const extraPlaces = extraColumns.map(findExtra);
  const keptPlaces = keptColumns.map(findKept);
  const readCell = (row: readonly string[], at: number | undefined) =>
    at === undefined ? undefined : (row[at] ?? '');
  const pickFields = (row: readonly string[]) => buildRecord((place) => readCell(row, places[place]));
  return {
    row: { columns: names.length, places, extraPlaces, keptPlaces },
    notices,
    pickRecord:
      extraPlaces.length + keptPlaces.length === 0
        ? (place, row) => ({ place, fields: pickFields(row) })
        : (place, row) => ({
            place,
            fields: pickFields(row),
            extras: extraPlaces.map((at) => readCell(row, at)),
            kept: keptPlaces.map((at) => readCell(row, at)),
          }),
  };
}
