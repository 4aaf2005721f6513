import type { ServiceField } from '../../booking/booking.js';
import type { DateGuess } from './guess-date-format.js';

/** What a day's bookings already tell of the settings of their source. No cell of them. */
export type Examination =
  /** There is nothing yet: no file of any day, no module. */
  | { readonly kind: 'no-file' }
  /** Not looked at, because something is not known. */
  | { readonly kind: 'untried'; readonly unknown: readonly string[] }
  /** It could not be had. */
  | { readonly kind: 'failed'; readonly place: string; readonly day: string; readonly reason: string }
  /** It was read, and is no bookings. */
  | { readonly kind: 'unusable'; readonly place: string; readonly day: string; readonly reason: string }
  | Examined;

export interface Examined {
  readonly kind: 'examined';
  /** For people; a file of this machine relative to the configuration's folder. */
  readonly place: string;
  /** YYYY-MM-DD */
  readonly day: string;
  readonly columns: ReadonlyMap<ServiceField, string>;
  /** The fields for which a column is still to be found. */
  readonly missing: readonly ServiceField[];
  readonly unused: readonly string[];
  readonly dates: DateGuess | { readonly kind: 'no-column' };
  readonly delimiter: string | undefined;
}
