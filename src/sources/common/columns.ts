import { bookingFields, type ServiceField } from '../../booking/booking.js';
import { type SourceColumns, SourceError } from '../../booking/source.js';

/** What is asked for of each record. In objects, columns are members, and `guest.name` is a member of a nested object. */
export interface WantedColumns {
  /** The column for each field, if it is not named like the field. */
  readonly columns?: SourceColumns;
  /** Further columns, whose values every record has as `filterValues`. */
  readonly filterColumns?: readonly string[];
  /** Columns that are kept with the booking, and may be absent: every record has their values as `extraValues`. */
  readonly extraColumns?: readonly string[];
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
export function describeColumn(column: string, use: string): string {
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
