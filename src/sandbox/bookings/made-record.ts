/** What is wrong with a record that can't be reviewed. */
export type Flaw =
  | 'service-id-absent'
  | 'service-id-in-letters'
  | 'service-id-zero'
  | 'service-id-too-large'
  /** The comma of "García, Luis" was taken for the end of a part. */
  | 'name-in-two-parts'
  /** The quotes of 'Zoë "Zo" Brandt' were not escaped. */
  | 'quotes-not-escaped';

/** The fields that a booking may lack. */
export const optionalFields = [
  'bookingReferenceId',
  'bookingClientName',
  'providerName',
  'providerHotelId',
  'checkInDate',
  'checkOutDate',
] as const;

export type OptionalField = (typeof optionalFields)[number];

/** A text as the export has it; undefined where the export leaves the field out, null where it says that it has none. */
export type Cell = string | null | undefined;

/** One record of an export, and what it really is. */
export interface MadeRecord extends Readonly<Record<OptionalField, Cell>> {
  /** A duplicate is the same in every field as a booking before it. */
  readonly kind: 'booking' | 'duplicate' | Flaw;
  /** As it is written; undefined where it is absent. */
  readonly serviceId: string | undefined;
  /** The one field that the booking lacks. */
  readonly missing: OptionalField | undefined;
  /** The provider's hotel is another master hotel than the one that was booked. */
  readonly isWrong: boolean;
}
