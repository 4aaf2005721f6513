import type { IntendedRecord } from './source-driver.js';

/** Stands in the guests' names, and must stand nowhere else. */
export const guest = 'Ann Guest-Canary';

/** Texts that formats and drivers like to break. */
export function awkwardRecords(): IntendedRecord[] {
  return [
    { ServiceId: '1' },
    { ServiceId: '9007199254740991', ProviderHotelId: '000123' },
    { ServiceId: '3', BookingClientName: `${guest}, "the 1st"`, ProviderName: "O'Hara; DROP TABLE" },
    { ServiceId: '4', BookingClientName: 'two\nlines', BookingReferenceId: '"' },
    { ServiceId: '5', BookingClientName: 'Žofie 山田 𝒜 🏨', ProviderName: ' spaces around ' },
    { ServiceId: '6', BookingClientName: 'null', BookingReferenceId: '1e5', ProviderHotelId: '0x10' },
    { ServiceId: 'no number', CheckInDate: '20112026', CheckOutDate: '2026-02-31' },
    { ServiceId: '8', BookingReferenceId: '\\', ProviderHotelId: "a\tb\\n'" },
  ];
}

/** @param mark stands in every reference */
export function manyRecords(count: number, mark = 'BR'): IntendedRecord[] {
  return Array.from({ length: count }, (_, index) => ({
    ServiceId: String(10_000_000 + index),
    BookingReferenceId: `${mark}-${index}`,
    BookingClientName: index % 7 === 0 ? `${guest}, ${index}` : `${guest} ${index}`,
    ProviderName: 'Provider',
    ProviderHotelId: `H${index}`,
    CheckInDate: '2026-11-20',
    CheckOutDate: '2026-11-24',
  }));
}
