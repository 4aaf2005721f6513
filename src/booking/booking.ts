/**
 * One booked property in our own words: normalised, every text well-formed and trimmed, a missing field absent.
 * Dates are YYYY-MM-DD. (Spec 2.5.)
 */
export interface Booking {
  /** The master hotel id, 1 to 2^53-1. */
  readonly serviceId: number;
  readonly bookingReferenceId?: string;
  readonly bookingClientName?: string;
  readonly providerName?: string;
  readonly providerHotelId?: string;
  readonly checkInDate?: string;
  readonly checkOutDate?: string;
}

/** The seven fields under the service's exact names, in the service's order. (Spec 2.5 and 2.6.) */
export const serviceFields = [
  'ServiceId',
  'BookingReferenceId',
  'BookingClientName',
  'ProviderName',
  'ProviderHotelId',
  'CheckInDate',
  'CheckOutDate',
] as const;

export type ServiceField = (typeof serviceFields)[number];

/** A record as a source hands it over: under the service's names, nothing checked yet. */
export type RawBooking = { readonly [field in ServiceField]?: unknown };
