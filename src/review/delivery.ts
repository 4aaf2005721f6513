import type { Booking, ServiceField } from '../booking/booking.js';
import type { GuestNames } from '../booking/guest-names.js';
import type { ProviderHotel } from '../ledger/mappings.js';
import type { DeliveryKind, Run } from '../rules/run.js';
import type { BookingForm, Claimed, Outcome, PlannedStep } from '../rules/step.js';
import type { LineBuffer, LineLayout } from './render-line.js';

/** How bookings are stored: all that reading a day needs to know about its delivery. */
export interface BookingForms {
  readonly kind: DeliveryKind;
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

/**
 * How a run reaches the service: how bookings are stored, which steps a collected day becomes, how each step is
 * performed.
 */
export interface Delivery extends BookingForms {
  /** @param bookings the number of collected bookings by form */
  plan(bookings: Readonly<Record<BookingForm, number>>): PlannedStep[];
  /** @throws the signal's reason when aborted during a call */
  perform(claim: Claimed, signal: AbortSignal): Promise<Outcome>;
  /**
   * Whether a result of the run is there that was not judged yet. A look at it changes nothing. Absent where none comes.
   *
   * @throws SftpError
   */
  hasNewResult?(run: Run, signal: AbortSignal): Promise<boolean>;
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
