import { type ServiceField, serviceFields } from '../../booking/booking.js';
import type { Asker } from './asker.js';

const meanings: Readonly<Record<ServiceField, string>> = {
  ServiceId: 'the master hotel id',
  BookingReferenceId: "the booking's reference",
  BookingClientName: "the guest's name",
  ProviderName: "the supplier's name",
  ProviderHotelId: "the hotel's id at the supplier",
  CheckInDate: 'the day of arrival',
  CheckOutDate: 'the day of departure',
};

/** Asks for each field that no column was found for, as long as columns are left. Answers those that were chosen. */
export async function askColumns(
  asker: Asker,
  columns: ReadonlyMap<ServiceField, string>,
  unused: readonly string[],
): Promise<ReadonlyMap<ServiceField, string>> {
  const chosen = new Map<ServiceField, string>();
  let free = unused.filter((name) => name !== '' && unused.indexOf(name) === unused.lastIndexOf(name));
  for (const field of serviceFields) {
    if (columns.has(field) || free.length === 0) continue;
    const column = await asker.choose({
      message: `Which column holds ${meanings[field]} (${field})?`,
      choices: [
        ...free.map((name) => ({ value: name, label: name })),
        { value: '', label: field === 'ServiceId' ? '(later)' : '(none of these)' },
      ],
      fallback: '',
    });
    if (column === '') continue;
    chosen.set(field, column);
    free = free.filter((name) => name !== column);
  }
  return chosen;
}
