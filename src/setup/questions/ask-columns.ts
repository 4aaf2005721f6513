import { bookingFields, type ServiceField } from '../../booking/booking.js';
import type { Asker } from './asker.js';

/** Asks for each field that no column was found for, as long as columns are left. Answers those that were chosen. */
export async function askColumns(
  asker: Asker,
  columns: ReadonlyMap<ServiceField, string>,
  unused: readonly string[],
): Promise<ReadonlyMap<ServiceField, string>> {
  const chosen = new Map<ServiceField, string>();
  let free = unused.filter((name) => name !== '' && unused.indexOf(name) === unused.lastIndexOf(name));
  for (const { name: field, meaning, isRequired } of bookingFields) {
    if (columns.has(field) || free.length === 0) continue;
    const column = await asker.choose({
      message: `Which column holds ${meaning} (${field})?`,
      choices: [
        ...free.map((name) => ({ value: name, label: name })),
        { value: '', label: isRequired ? '(later)' : '(none of these)' },
      ],
      fallback: '',
    });
    if (column === '') continue;
    chosen.set(field, column);
    free = free.filter((name) => name !== column);
  }
  return chosen;
}
