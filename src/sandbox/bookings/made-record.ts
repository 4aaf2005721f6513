import type { TextProperty } from '../common/fields.js';

/** What is wrong with a record that can't be reviewed. */
export type Flaw =
  | 'service-id-absent'
  | 'service-id-in-letters'
  | 'service-id-zero'
  | 'service-id-too-large'
  /** The comma of "García, Luis" split the name. */
  | 'name-in-two-parts'
  /** The quotes of 'Zoë "Zo" Brandt' were not escaped. */
  | 'quotes-not-escaped';

/** Text as exported; undefined where the field is left out, null where it is explicitly empty. */
export type Cell = string | null | undefined;

/** One record of an export, with the truth about it. */
export interface MadeRecord extends Readonly<Record<TextProperty, Cell>> {
  /** A duplicate equals an earlier booking in every field. */
  readonly kind: 'booking' | 'duplicate' | Flaw;
  /** As written; undefined where it is absent. */
  readonly serviceId: string | undefined;
  /** The field that the booking lacks, if any. */
  readonly missing: TextProperty | undefined;
  /** The provider's hotel is not the master hotel that was booked. */
  readonly isWrong: boolean;
}
