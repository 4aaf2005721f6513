import { type ServiceField, serviceFields } from '../../booking/booking.js';
import { fieldSynonyms, simplifyName } from './field-synonyms.js';

/** Which columns hold which fields, judged by their names. */
export interface ColumnMatch {
  /** In the service's order; without the fields that no column looks like. */
  readonly columns: ReadonlyMap<ServiceField, string>;
  /** The columns that were not taken, in the file's order. */
  readonly unused: readonly string[];
}

/**
 * Looks for the fields among a file's columns: under their exact names, else in another spelling (`check_in_date`), else
 * under a usual synonym (`arrival`). A name that stands there twice is nobody's. What is known already is left as it is.
 */
export function matchColumns(
  names: readonly string[],
  known: ReadonlyMap<ServiceField, string> = new Map(),
): ColumnMatch {
  const single = names.filter((name) => name !== '' && names.indexOf(name) === names.lastIndexOf(name));
  const columns = new Map([...known].filter(([, name]) => single.includes(name)));
  const take = (wantedBy: (field: ServiceField) => readonly string[], spell: (name: string) => string) => {
    const taken = new Set(columns.values());
    for (const field of serviceFields) {
      if (columns.has(field)) continue;
      const free = single.filter((name) => !taken.has(name));
      const found = wantedBy(field).flatMap((wanted) => free.filter((name) => spell(name) === wanted))[0];
      if (found === undefined) continue;
      columns.set(field, found);
      taken.add(found);
    }
  };
  take(
    (field) => [field],
    (name) => name,
  );
  take((field) => [simplifyName(field), ...fieldSynonyms[field]], simplifyName);
  return {
    columns: new Map(
      serviceFields.flatMap((field): [ServiceField, string][] => {
        const name = columns.get(field);
        return name === undefined ? [] : [[field, name]];
      }),
    ),
    unused: names.filter((name) => ![...columns.values()].includes(name)),
  };
}
