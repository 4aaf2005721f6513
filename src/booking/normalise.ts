import {
  type Booking,
  bookingFields,
  buildBooking,
  type DateField,
  type FieldKind,
  listValues,
  type RawBooking,
  type ServiceField,
} from './booking.js';
import { type FieldText, isGarbled, isRounded, notText, readField } from './field-text.js';
import {
  type ColumnReader,
  createColumnReader,
  findDatedColumns,
  type InstantChoice,
  type InstantRule,
  type InstantWarning,
} from './written-date.js';

/** Why a record can't be sent. (Design 4.) */
export type RejectReason = 'service-id-missing' | 'service-id-invalid' | FieldFault;
type FieldFault = 'field-not-text' | 'id-rounded' | 'id-garbled';

interface NormaliserOptions {
  readonly dateFormat?: string | undefined;
  readonly instants?: InstantRule | undefined;
}

const unreadableDates = {
  CheckInDate: 'unreadable-check-in-date',
  CheckOutDate: 'unreadable-check-out-date',
} as const satisfies Record<DateField, string>;

/** A problem with a booking that is sent anyway. (Design 4.) */
export type BookingWarning =
  | (typeof unreadableDates)[DateField]
  | 'check-out-before-check-in'
  | 'garbled-client-name'
  | 'garbled-provider-name'
  | InstantWarning;

export type Normalised =
  | {
      readonly kind: 'booking';
      readonly booking: Booking;
      readonly warnings: readonly BookingWarning[];
    }
  | { readonly kind: 'reject'; readonly reason: RejectReason };

export type Normalise = (raw: RawBooking) => Normalised;

const noWarnings: readonly BookingWarning[] = [];
/** A name with a character that nobody could read is not sent. */
const garbledNames: { readonly [field in ServiceField]?: Understood } = {
  BookingClientName: { text: undefined, warning: 'garbled-client-name' },
  ProviderName: { text: undefined, warning: 'garbled-provider-name' },
};

const isUnreadable: ReadonlySet<BookingWarning> = new Set(Object.values(unreadableDates));
const kinds = bookingFields.map(({ kind }) => kind);
/** A value that is not sent as it was written. */
interface Understood {
  readonly text: string | undefined;
  readonly warning: BookingWarning;
}

const serviceIdDigits = /^0*[1-9]\d{0,15}$/;

/**
 * Creates the function that turns a source's record into a booking, or gives the reason for rejecting it. (Design 4.)
 *
 * It never throws, and it returns one of its own bookings unchanged (except with a `dateFormat` that reads YYYY-MM-DD
 * as another date, such as yyyy-dd-MM).
 *
 * @param options.dateFormat the source's date format, a date-fns pattern; YYYY-MM-DD is always understood
 * @param options.instants how instants become dates; by default an instant is the date that it is written with
 * @throws RangeError for a date format without year, month and day
 */
export function createNormaliser({ dateFormat, instants }: NormaliserOptions = {}): Normalise {
  const readers = bookingFields.map((field) => {
    if (field.kind !== 'date') {
      const garbled = garbledNames[field.name];
      return garbled && ((text: string): string | Understood => (isGarbled(text) ? garbled : text));
    }
    const unreadable: Understood = { text: undefined, warning: unreadableDates[field.name] };
    const read: ColumnReader = createColumnReader(field.name, dateFormat, instants);
    return (text: string): string | Understood => read(text) ?? unreadable;
  });

  return (raw) => {
    const values = listValues(raw);
    const serviceId = readServiceId(values[0]);
    if (typeof serviceId === 'string') return { kind: 'reject', reason: serviceId };
    const texts: (string | undefined)[] = [];
    let warnings: BookingWarning[] | undefined;
    for (let at = 1; at < values.length; at += 1) {
      const kind = kinds[at] ?? 'text';
      let text = readField(kind, values[at]);
      const fault = findFault(kind, text);
      if (fault !== undefined || text === notText)
        return { kind: 'reject', reason: fault ?? 'field-not-text' };
      const understood = text === undefined ? undefined : (readers[at]?.(text) ?? text);
      if (typeof understood === 'object') {
        text = understood.text;
        warnings ??= [];
        warnings.push(understood.warning);
      } else text = understood;
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

/** Why a record with this in a field other than the master id can't be sent; undefined if it can. */
export function findFault(kind: FieldKind, text: FieldText): FieldFault | undefined {
  if (text === notText) return 'field-not-text';
  if (kind !== 'code' || text === undefined) return undefined;
  if (isGarbled(text)) return 'id-garbled';
  return isRounded(text) ? 'id-rounded' : undefined;
}

/** Dates written YYYY-MM-DD sort as text. */
function isReversed({ checkInDate, checkOutDate }: Booking): boolean {
  return checkInDate !== undefined && checkOutDate !== undefined && checkOutDate < checkInDate;
}

/**
 * How many dates a booking's source gave, and how many of those are not calendar dates.
 *
 * Counted outside the normaliser on purpose: V8 11.3 (Node 20) compiles a normaliser that returns these counts with
 * the booking into code that corrupts the heap. test/booking/normalise.test.ts would then crash.
 */
export function countDates({ checkInDate, checkOutDate }: Booking, warnings: readonly BookingWarning[]) {
  let unreadable = 0;
  for (const warning of warnings) if (isUnreadable.has(warning)) unreadable += 1;
  const readable = (checkInDate === undefined ? 0 : 1) + (checkOutDate === undefined ? 0 : 1);
  return { given: readable + unreadable, unreadable };
}

/** Creates a day's normaliser, which may depend on the first thousand records of the day. Reading them takes a while. */
export type NormaliserFor = (zone: string, listFirst: () => readonly RawBooking[]) => Normalise;

/** Normalises as the settings of a source say. */
export function openNormaliser({
  dateFormat,
  instants,
}: {
  readonly dateFormat: string;
  readonly instants: InstantChoice;
}): NormaliserFor {
  return (zone, listFirst) => {
    switch (instants) {
      case 'as-written':
        return createNormaliser({ dateFormat });
      case 'convert':
        return createNormaliser({ dateFormat, instants: { zone, dated: new Set(), warns: false } });
      case 'auto': {
        const dated = findDatedColumns(listFirst(), dateFormat);
        return createNormaliser({ dateFormat, instants: { zone, dated, warns: true } });
      }
    }
  };
}

/** Accepts ASCII digits or a JSON integer, 1 to 2^53-1. Otherwise returns the reject reason. */
function readServiceId(value: unknown): number | Exclude<RejectReason, FieldFault> {
  if (typeof value === 'number')
    return Number.isSafeInteger(value) && value >= 1 ? value : 'service-id-invalid';
  const text = readField('id', value);
  if (text === undefined) return 'service-id-missing';
  if (text === notText || !serviceIdDigits.test(text)) return 'service-id-invalid';
  const serviceId = Number(text);
  return Number.isSafeInteger(serviceId) ? serviceId : 'service-id-invalid';
}

/** Why a record that the source could delimit can't be read. It becomes a reject and reading continues. */
export type UnreadableReason =
  | 'wrong-cell-count'
  | 'malformed-quotes'
  | 'record-too-long'
  | 'malformed-json'
  | 'not-an-object'
  | 'duplicate-member';
