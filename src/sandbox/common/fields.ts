/**
 * The fields of a booked hotel other than the master id, in the service's order. (Spec 2.5 and 2.6.) The sandbox has its
 * own list: with the program's it could not notice the program's mistakes.
 */
export const textFields = [
  { name: 'BookingReferenceId', property: 'bookingReferenceId', kind: 'text' },
  { name: 'BookingClientName', property: 'bookingClientName', kind: 'guest-name' },
  { name: 'ProviderName', property: 'providerName', kind: 'text' },
  { name: 'ProviderHotelId', property: 'providerHotelId', kind: 'text' },
  { name: 'CheckInDate', property: 'checkInDate', kind: 'date' },
  { name: 'CheckOutDate', property: 'checkOutDate', kind: 'date' },
] as const;

export type TextField = (typeof textFields)[number];
export type TextProperty = TextField['property'];
