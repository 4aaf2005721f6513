import { type Booked, findBooked, type Guest } from './guests.js';

const columns = [
  ...['ServiceId', 'BookingReferenceId', 'BookingClientName', 'ProviderName', 'ProviderHotelId'],
  ...['CheckInDate', 'CheckOutDate'],
] as const satisfies readonly (keyof Booked)[] | readonly string[];

/** The export of a day. No cell of the pool needs quotes. */
export function toCsv(source: readonly Guest[], day: number): string {
  const rows = source.map((guest) => {
    const booked = findBooked(guest, day);
    return columns.map((column) => booked[column as keyof Booked] ?? '').join(',');
  });
  return `${[columns.join(','), ...rows].join('\n')}\n`;
}
