import { bookingFields, buildRecord, type RawBooking, type ServiceField } from '../../booking/booking.js';
import {
  type SourceColumns,
  SourceError,
  type SourceNotice,
  type SourceRecord,
} from '../../booking/source.js';

/** What is asked for of each record. In objects, columns are members, and `guest.name` is a member of a nested object. */
export interface WantedColumns {
  /** The column for each field, if it is not named like the field. */
  readonly columns?: SourceColumns;
  /** Further columns, whose values every record has as `filterValues`. */
  readonly filterColumns?: readonly string[];
  /** Columns that are kept with the booking, and may be absent: every record has their values as `extraValues`. */
  readonly extraColumns?: readonly string[];
}

/** Where the wanted columns are in a row. */
export interface RowColumns {
  /** By field; undefined for a field that the source does not have. */
  readonly fieldIndexes: readonly (number | undefined)[];
  readonly filterIndexes: readonly number[];
  /** Undefined for an absent column. */
  readonly extraIndexes: readonly (number | undefined)[];
}

/** The columns of a table, by their names. */
interface Table<Cell> {
  /** Those that a name may mean. */
  readonly findAll: (column: string) => readonly number[];
  /** The fields whose columns must be there; all by default. */
  readonly required?: (fields: readonly (FieldColumn | undefined)[]) => readonly (FieldColumn | undefined)[];
  readonly describeMissing: (columns: string, isOne: boolean) => string;
  readonly describeAmbiguous: (column: string, count: number) => string;
  /** What a cell of a filter's column stands for; the cell itself by default. */
  readonly readFilterCell?: (cell: Cell | undefined, at: number) => unknown;
}

/**
 * Finds the wanted columns in a table.
 *
 * @throws SourceError `missing-column` if the column of a field or a filter is missing; `ambiguous-column` if a needed one may be several
 */
export function findTableColumns<Cell>(
  { columns = {}, filterColumns = [], extraColumns = [] }: WantedColumns,
  {
    findAll,
    required = (all) => all,
    describeMissing,
    describeAmbiguous,
    readFilterCell = (cell) => cell,
  }: Table<Cell>,
) {
  function findOnly(column: string, use: string): number | undefined {
    const found = findAll(column);
    if (found.length <= 1) return found[0];
    throw new SourceError('ambiguous-column', describeAmbiguous(describeColumn(column, use), found.length));
  }

  const fields = listFieldColumns(columns);
  const fieldIndexes = fields.map((one) => one && findOnly(one.column, one.field));
  requireColumns(required(fields), {
    fault: 'missing-column',
    isThere: (index) => fieldIndexes[index] !== undefined,
    describe: describeMissing,
  });
  const filterIndexes = filterColumns.map((column) => {
    const at = findOnly(column, 'source.where');
    if (at !== undefined) return at;
    throw new SourceError('missing-column', describeMissing(describeColumn(column, 'source.where'), true));
  });
  const extraIndexes = extraColumns.map((column) => findOnly(column, 'source.keep'));
  const absent = extraColumns.filter((_, index) => extraIndexes[index] === undefined);
  const row: RowColumns = { fieldIndexes, filterIndexes, extraIndexes };
  const hasFieldsOnly = filterIndexes.length + extraIndexes.length === 0;
  const readCell = (cells: readonly Cell[], at: number | undefined) =>
    at === undefined ? undefined : cells[at];
  const pickFields = (cells: readonly Cell[]): RawBooking =>
    buildRecord((index) => readCell(cells, fieldIndexes[index]));
  return {
    row,
    notices: absent.map((column): SourceNotice => ({ kind: 'absent-column', column })),
    pickFields,
    pickRecord(place: number, cells: readonly Cell[]): SourceRecord {
      const fields = pickFields(cells);
      if (hasFieldsOnly) return { place, fields, whole: cells };
      const filterValues = filterIndexes.map((at) => readFilterCell(cells[at], at));
      const extraValues = extraIndexes.map((at) => readCell(cells, at));
      return { place, fields, whole: cells, filterValues, extraValues };
    },
  };
}

/** A field and the name of its column. */
interface FieldColumn {
  readonly field: ServiceField;
  readonly column: string;
}

/** Each field's column, in the table's order; undefined for a field that the source does not have. */
export function listFieldColumns(columns: SourceColumns): (FieldColumn | undefined)[] {
  return bookingFields.map(({ name: field }) => {
    const column = columns[field];
    return column === false ? undefined : { field, column: column ?? field };
  });
}

/** `"code" (for ProviderHotelId)` */
function describeColumn(column: string, use: string): string {
  const name = JSON.stringify(column);
  return column === use ? name : `${name} (for ${use})`;
}

const list = new Intl.ListFormat('en', { type: 'disjunction' });
const shownNames = 20;
const shownLength = 40;

/** The names of a source's columns, for messages: some of them, and not all of a long one. */
export function describeNames(names: readonly string[]): string {
  const shown = names
    .slice(0, shownNames)
    .map((name) =>
      JSON.stringify(name.length > shownLength ? `${name.slice(0, shownLength).toWellFormed()}…` : name),
    );
  const more = names.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}

interface ColumnCheck {
  readonly fault: 'missing-column' | 'missing-member';
  /** Whether the column of the field with this index is there. */
  readonly isThere: (index: number) => boolean;
  /** Says that these are missing: `"a", "b", or "c"`. */
  readonly describe: (columns: string, isOne: boolean) => string;
}

/**
 * A booking without its provider is reviewed all the same, and nothing comes of it. So a source may lack a field, any but
 * the master id, only if the configuration says so.
 *
 * @throws SourceError that says so, for fields whose column is not there
 */
export function requireColumns(
  fields: readonly (FieldColumn | undefined)[],
  { fault, isThere, describe }: ColumnCheck,
): void {
  const missing = fields.flatMap((one, index) => (one === undefined || isThere(index) ? [] : [one]));
  if (missing.length === 0) return;
  const columns = list.format(missing.map(({ field, column }) => describeColumn(column, field)));
  const optional = missing.filter(({ field }) => field !== 'ServiceId').map(({ field }) => `${field}: false`);
  const orNone =
    optional.length === 0
      ? ''
      : `, or say that the source has none with source.columns: { ${optional.join(', ')} }`;
  const isOne = missing.length === 1;
  const names = isOne ? 'its name' : 'their names';
  throw new SourceError(fault, `${describe(columns, isOne)}. Set ${names} in source.columns${orNone}`);
}
