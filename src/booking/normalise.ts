import type { Booking, RawBooking } from './booking.js';
import { notText, readFieldText, readGuestName } from './field-text.js';
import { createDateReader } from './written-date.js';

/** Why a record can't be sent at all. (Design 4.) */
export type RejectReason = 'service-id-missing' | 'service-id-invalid' | 'field-not-text';

/** What a person should know of a booking that is sent nevertheless. (Design 4.) */
export type BookingWarning =
  | 'unreadable-check-in-date'
  | 'unreadable-check-out-date'
  | 'check-out-before-check-in';

export type Normalised =
  | {
      readonly kind: 'booking';
      readonly booking: Booking;
      readonly warnings: readonly BookingWarning[];
    }
  | { readonly kind: 'reject'; readonly reason: RejectReason };

export type Normalise = (raw: RawBooking) => Normalised;

const noWarnings: readonly BookingWarning[] = [];
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
    const serviceId = readServiceId(raw.ServiceId);
    if (typeof serviceId === 'string') return { kind: 'reject', reason: serviceId };
    const bookingReferenceId = readFieldText(raw.BookingReferenceId);
    const bookingClientName = readGuestName(raw.BookingClientName);
    const providerName = readFieldText(raw.ProviderName);
    const providerHotelId = readFieldText(raw.ProviderHotelId);
    const checkIn = readFieldText(raw.CheckInDate);
    const checkOut = readFieldText(raw.CheckOutDate);
    if (
      bookingReferenceId === notText ||
      bookingClientName === notText ||
      providerName === notText ||
      providerHotelId === notText ||
      checkIn === notText ||
      checkOut === notText
    )
      return { kind: 'reject', reason: 'field-not-text' };

    const checkInDate = checkIn === undefined ? undefined : readDate(checkIn);
    const checkOutDate = checkOut === undefined ? undefined : readDate(checkOut);
    const booking: { -readonly [property in keyof Booking]: Booking[property] } = { serviceId };
    if (bookingReferenceId !== undefined) booking.bookingReferenceId = bookingReferenceId;
    if (bookingClientName !== undefined) booking.bookingClientName = bookingClientName;
    if (providerName !== undefined) booking.providerName = providerName;
    if (providerHotelId !== undefined) booking.providerHotelId = providerHotelId;
    if (checkInDate !== undefined) booking.checkInDate = checkInDate;
    if (checkOutDate !== undefined) booking.checkOutDate = checkOutDate;

    const checkInUnreadable = checkIn !== undefined && checkInDate === undefined;
    const checkOutUnreadable = checkOut !== undefined && checkOutDate === undefined;
    // Written YYYY-MM-DD, dates sort as texts.
    const reversed = checkInDate !== undefined && checkOutDate !== undefined && checkOutDate < checkInDate;
    const warnings = listWarnings(checkInUnreadable, checkOutUnreadable, reversed);
    return { kind: 'booking', booking, warnings };
  };
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

function listWarnings(
  checkInUnreadable: boolean,
  checkOutUnreadable: boolean,
  reversed: boolean,
): readonly BookingWarning[] {
  if (!checkInUnreadable && !checkOutUnreadable && !reversed) return noWarnings;
  const warnings: BookingWarning[] = [];
  if (checkInUnreadable) warnings.push('unreadable-check-in-date');
  if (checkOutUnreadable) warnings.push('unreadable-check-out-date');
  if (reversed) warnings.push('check-out-before-check-in');
  return warnings;
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
