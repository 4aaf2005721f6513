import { type RawBooking, type ServiceField, serviceFields } from '../../booking/booking.js';
import type { SourceColumns, UnreadableReason } from '../../review/source.js';

/** Picks a booking's fields out of objects. */
export interface RecordPicker {
  pick(record: unknown): RawBooking | Extract<UnreadableReason, 'not-an-object' | 'record-too-long'>;
  /** The names that none of the objects had; none before the first object. */
  absentColumns(): readonly string[];
}

/**
 * A field is the object's member of exactly that name. Where there is none and the name has dots, it is a path into nested
 * objects: `guest.name`. A bigint is the text of its digits.
 *
 * @param recordLimit objects with more text than so many bytes are refused
 */
export function createRecordPicker(columns: SourceColumns, recordLimit: number): RecordPicker {
  const names = serviceFields.map((field) => columns[field] ?? field);
  const wasFound = new Set<string>();
  let hadObject = false;

  return {
    pick(record) {
      if (!isObject(record)) return 'not-an-object';
      hadObject = true;
      const fields: { [field in ServiceField]?: unknown } = {};
      let bytes = 0;
      serviceFields.forEach((field, index) => {
        const name = names[index] ?? field;
        const found = find(record, name);
        if (found === undefined) return;
        wasFound.add(name);
        const value = typeof found.value === 'bigint' ? String(found.value) : found.value;
        if (typeof value === 'string') bytes += Buffer.byteLength(value);
        fields[field] = value;
      });
      return bytes > recordLimit ? 'record-too-long' : fields;
    },
    absentColumns: () => (hadObject ? names.filter((name) => !wasFound.has(name)) : []),
  };
}

function find(
  record: Readonly<Record<string, unknown>>,
  name: string,
): { readonly value: unknown } | undefined {
  if (name in record) return { value: record[name] };
  let value: unknown = record;
  for (const step of name.split('.')) {
    if (!isObject(value) || !(step in value)) return undefined;
    value = value[step];
  }
  return { value };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
