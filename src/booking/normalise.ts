import {
  type Booking,
  bookingFields,
  buildBooking,
  type DateField,
  listValues,
  type RawBooking,
} from './booking.js';
import { notText, readFieldText, readGuestName } from './field-text.js';
import { createDateReader } from './written-date.js';

/** Why a record can't be sent at all. (Design 4.) */
export type RejectReason = 'service-id-missing' | 'service-id-invalid' | 'field-not-text';

const unreadableDates = {
  CheckInDate: 'unreadable-check-in-date',
  CheckOutDate: 'unreadable-check-out-date',
} as const satisfies Record<DateField, string>;

/** What a person should know of a booking that is sent nevertheless. (Design 4.) */
export type BookingWarning = (typeof unreadableDates)[DateField] | 'check-out-before-check-in';

export type Normalised =
  | {
      readonly kind: 'booking';
      readonly booking: Booking;
      readonly warnings: readonly BookingWarning[];
    }
  | { readonly kind: 'reject'; readonly reason: RejectReason };

export type Normalise = (raw: RawBooking) => Normalised;

const noWarnings: readonly BookingWarning[] = [];
const isGuestName = bookingFields.map(({ kind }) => kind === 'guest-name');
/** Of each date, the warning for one that can't be read. */
const dateWarnings = bookingFields.map((field) =>
  field.kind === 'date' ? unreadableDates[field.name] : undefined,
);
const serviceIdDigits = /^0*[1-9]\d{0,15}$/;

/**
 * Makes the function that turns a source's record into a booking, or says why it can't be one. (Design 4.)
 *
 * It throws for no value of any field, and gives a booking of its own back unchanged (but for a `dateFormat` that
 * reads YYYY-MM-DD as another date, such as yyyy-dd-MM).
 *
 * @param options.dateFormat how the source writes dates, as a date-fns pattern; YYYY-MM-DD is read in any case.
 * @throws RangeError for a date format that doesn't name year, month and day.
 */
export function createNormaliser(options: { readonly dateFormat?: string | undefined } = {}): Normalise {
  const readDate = createDateReader(options.dateFormat);

  return (raw) => {
    const values = listValues(raw);
    const serviceId = readServiceId(values[0]);
    if (typeof serviceId === 'string') return { kind: 'reject', reason: serviceId };
    const texts: (string | undefined)[] = [];
    let warnings: BookingWarning[] | undefined;
    for (let at = 1; at < values.length; at += 1) {
      let text = isGuestName[at] ? readGuestName(values[at]) : readFieldText(values[at]);
      if (text === notText) return { kind: 'reject', reason: 'field-not-text' };
      const warning = dateWarnings[at];
      if (warning !== undefined && text !== undefined) {
        text = readDate(text);
        if (text === undefined) {
          warnings ??= [];
          warnings.push(warning);
        }
      }
      texts.push(text);
    }
    const booking = buildBooking(serviceId, texts);
    if (isReversed(booking)) {
      warnings ??= [];
      warnings.push('check-out-before-check-in');
    }
    return { kind: 'booking', booking, warnings: warnings ?? noWarnings };
  };
}

/** Written YYYY-MM-DD, dates sort as texts. */
function isReversed({ checkInDate, checkOutDate }: Booking): boolean {
  return checkInDate !== undefined && checkOutDate !== undefined && checkOutDate < checkInDate;
}

/**
 * Of a booking's two dates, how many its source gave, and how many of those are no calendar date.
 *
 * Counted from the outside on purpose: V8 11.3 (Node 20) compiles a normaliser that returns these sums beside the
 * booking into code that corrupts the heap, which test/booking/normalise.test.ts would show as a crash.
 */
export function countDates({ checkInDate, checkOutDate }: Booking, warnings: readonly BookingWarning[]) {
  let unreadable = 0;
  for (const warning of warnings) if (warning !== 'check-out-before-check-in') unreadable += 1;
  const readable = (checkInDate === undefined ? 0 : 1) + (checkOutDate === undefined ? 0 : 1);
  return { given: readable + unreadable, unreadable };
}

/** ASCII digits or a JSON integer, 1 to 2^53-1. Otherwise the reason for the reject. */
function readServiceId(value: unknown): number | Exclude<RejectReason, 'field-not-text'> {
  if (typeof value === 'number')
    return Number.isSafeInteger(value) && value >= 1 ? value : 'service-id-invalid';
  const text = readFieldText(value);
  if (text === undefined) return 'service-id-missing';
  if (text === notText || !serviceIdDigits.test(text)) return 'service-id-invalid';
  const serviceId = Number(text);
  return Number.isSafeInteger(serviceId) ? serviceId : 'service-id-invalid';
}
