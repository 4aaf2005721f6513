import type { Booking, ServiceField } from './booking.js';
import type { GuestNames } from './guest-names.js';
import type { LineBuffer, LineLayout } from './render-line.js';

/** The forms in which a booking is stored, which are those in which it is sent. */
export const bookingForms = ['body', 'file'] as const;
export type BookingForm = (typeof bookingForms)[number];

export interface ProviderHotel {
  /** Exactly as the service writes it. */
  readonly providerName: string;
  readonly providerHotelId: string;
}

/** How bookings are stored: all that reading a day needs to know about its delivery. */
export interface BookingForms {
  readonly kind: BookingForm;
  /** Whether guests' names are sent. The other members get bookings whose names are already left out if not. */
  readonly names: GuestNames;
  /** The form in which a booking is stored and sent; undefined for one that this delivery doesn't carry. */
  formOf(booking: Booking): BookingForm | undefined;
  /** For a delivery by file: all fields that keep a booking out of it, to explain why many are missing from it. */
  listObstacles?(booking: Booking): readonly ServiceField[];
  /** Writes the booking as one line, without a line end. */
  render(booking: Booking, form: BookingForm, line: LineBuffer): void;
  /** How most bookings are stored. Without it, all are rendered one by one. */
  readonly usual?: UsualForm;
}

/** The form of every booking without words that read as null. */
export interface UsualForm {
  readonly form: BookingForm;
  readonly layout: LineLayout;
  /** Whether that includes bookings with missing fields. */
  readonly mayLackFields: boolean;
  /** Whether the reference is written where a name is left out. */
  readonly standsForName: boolean;
}

/** What depends on the form of a stored line. */
export interface LineForm {
  /** A guest name is missing if it was blanked, or if the reference stands in its place. */
  readBooking(line: string): Booking;
  /**
   * Finds the hotel in a tenth of the time that parsing takes; undefined if the line doesn't name the provider's hotel. The
   * line may be decoded or have one character per byte; the key is as written.
   */
  findHotel(line: string): HotelOfLine | undefined;
  /** Parses the key of a `HotelOfLine`, once decoded. */
  readProviderHotel(key: string): ProviderHotel;
  /** The key by which `findHotel` finds this hotel in decoded lines. */
  writeProviderHotel(hotel: ProviderHotel): string;
  /** Finds the provider without parsing the line, as written in it; undefined if the line doesn't name one. */
  findProvider(line: string): string | undefined;
  /** The same line without those fields: to be stored, not to be sent. */
  blankFields(line: string, blanked: ReadonlySet<string>): string;
}

/** The hotel of a stored line, found without parsing the line. */
export interface HotelOfLine {
  readonly serviceId: number;
  /** Provider and hotel id as written in the line; equal for equal hotels in lines of the same form. */
  readonly key: string;
}
