import type { Booking, ServiceField } from './booking.js';
import { readsAsNull } from './field-text.js';

/** Why a booking can't stand in the review file, and so is posted by body or rejected. (Spec 4.3, design 4.) */
export interface FileObstacle {
  readonly field: ServiceField;
  readonly reason: 'missing' | 'reads-as-null';
}

const cells: readonly (readonly [ServiceField, Exclude<keyof Booking, 'serviceId'>])[] = [
  ['BookingReferenceId', 'bookingReferenceId'],
  ['BookingClientName', 'bookingClientName'],
  ['ProviderName', 'providerName'],
  ['ProviderHotelId', 'providerHotelId'],
  ['CheckInDate', 'checkInDate'],
  ['CheckOutDate', 'checkOutDate'],
];

/**
 * The first field, in the service's order, that bars a booking from the review file: no cell there may be blank or
 * read as null. Undefined when the booking can stand in it.
 */
export function findFileObstacle(booking: Booking): FileObstacle | undefined {
  for (const [field, property] of cells) {
    const text = booking[property];
    if (text === undefined) return { field, reason: 'missing' };
    if (readsAsNull(text)) return { field, reason: 'reads-as-null' };
  }
  return undefined;
}
