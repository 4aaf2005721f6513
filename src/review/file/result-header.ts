import { type BookingField, bookingFields, defaultMasterIdColumn } from '../../booking/booking.js';

export type ResultField = Exclude<BookingField, { readonly kind: 'guest-name' }>['property'] | 'isCorrect';

/** The names a column is known by; the result's own columns are not specified. (Spec 2.6, design 6.) */
const columnNames = new Map<ResultField, readonly string[]>();
for (const field of bookingFields) {
  // The guest's name is not read.
  if (field.kind === 'guest-name') continue;
  columnNames.set(field.property, field.kind === 'id' ? [defaultMasterIdColumn, field.name] : [field.name]);
}
columnNames.set('isCorrect', ['IsCorrectMapping']);

/** What a result may say of a booking, in the order of the review file, and the verdict behind it. */
export const resultFields: readonly ResultField[] = [...columnNames.keys()];

/** In which column a result has a field, counted from 0. */
export type ResultColumns = { readonly [field in ResultField]?: number };

/**
 * Finds the fields by the names of the columns, exactly first and then with case, white space, underscores and hyphens
 * left out of account. Other columns are left alone; of two with one name the first counts.
 */
export function findResultColumns(cells: readonly string[], masterIdColumn: string): ResultColumns {
  const names = cells.map((cell) => cell.trim());
  const folded = names.map(fold);
  const columns: { [field in ResultField]?: number } = {};
  for (const field of resultFields) {
    const known = [...(field === 'serviceId' ? [masterIdColumn] : []), ...(columnNames.get(field) ?? [])];
    const places = [
      ...known.map((name) => names.indexOf(name)),
      ...known.map((name) => folded.indexOf(fold(name))),
    ];
    const place = places.find((at) => at !== -1);
    if (place !== undefined) columns[field] = place;
  }
  return columns;
}

function fold(name: string): string {
  return name.toLowerCase().replace(/[\s_-]+/g, '');
}
