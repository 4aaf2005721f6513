import {
  type Booking,
  type BookingField,
  bookingFields,
  buildBooking,
  type DateField,
  listValues,
  masterIdField,
  type NameField,
  type RawBooking,
  type ServiceField,
  serviceFields,
} from './booking.js';
import type { BusinessDay } from './business-day.js';
import {
  createPlaceholders,
  fieldRules,
  isGarbled,
  notText,
  type Placeholders,
  readField,
  type TextFault,
} from './field-text.js';
import { type BookedDates, checkOutOf, stayOf } from './stay.js';
import {
  type ColumnReader,
  createColumnReader,
  findDatedColumns,
  type InstantChoice,
  type InstantRule,
  type InstantWarning,
} from './written-date.js';

/** Why a record can't be sent. */
export type RejectReason = 'service-id-missing' | 'service-id-invalid' | 'field-not-text' | TextFault;

const unreadableDates = {
  CheckInDate: 'unreadable-check-in-date',
  CheckOutDate: 'unreadable-check-out-date',
} as const satisfies Record<DateField, string>;

const implausibleDates = {
  CheckInDate: 'implausible-check-in-date',
  CheckOutDate: 'implausible-check-out-date',
} as const satisfies Record<DateField, string>;

/** A problem with a booking that is sent anyway. */
export type BookingWarning =
  | (typeof unreadableDates)[DateField]
  | (typeof implausibleDates)[DateField]
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
  | { readonly kind: 'reject'; readonly reason: RejectReason; readonly field: ServiceField };

export interface Normalise {
  (raw: RawBooking): Normalised;
  /** What stands for a missing id or date. */
  readonly placeholders: Placeholders;
}

const noWarnings: readonly BookingWarning[] = [];
const reversed: readonly BookingWarning[] = ['check-out-before-check-in'];
/** A name with a character that nobody could read is not sent. */
const garbledNames = {
  BookingClientName: { text: undefined, warning: 'garbled-client-name' },
  ProviderName: { text: undefined, warning: 'garbled-provider-name' },
} as const satisfies Record<NameField, Understood>;

const isUnreadable: ReadonlySet<BookingWarning> = new Set(Object.values(unreadableDates));
/** Programs write these days for an unknown one: they say nothing about the format of dates. */
const unknownDays: ReadonlySet<string | undefined> = new Set(['1900-01-01', '9999-12-31']);
const kinds = bookingFields.map(({ kind }) => kind);
/** A value that is not sent as it was written. */
interface Understood {
  readonly text: string | undefined;
  readonly warning: BookingWarning;
}

const serviceIdDigits = /^0*[1-9]\d{0,15}$/;

/**
 * Creates the function that turns a source's record into a booking, or gives the reason for rejecting it.
 *
 * It never throws, and it returns one of its own bookings unchanged (except with a `dateFormat` that reads YYYY-MM-DD
 * as another date, such as yyyy-dd-MM).
 *
 * @param options.dateFormat the source's date format, a date-fns pattern; YYYY-MM-DD is always understood
 * @param options.instants how instants become dates; by default an instant is the date that it is written with
 * @param options.missing further words that stand for a missing id or date
 * @param options.day the business day, far from which dates are implausible; without it, all are plausible
 * @throws RangeError for a date format without year, month and day
 */
export function createNormaliser({
  dateFormat,
  instants,
  missing,
  day,
}: {
  readonly dateFormat?: string | undefined;
  readonly instants?: InstantRule | undefined;
  readonly missing?: readonly string[] | undefined;
  readonly day?: string | undefined;
} = {}): Normalise {
  const placeholders = createPlaceholders(missing);
  const readers = bookingFields.map((field) => createReader(field, dateFormat, instants));

  const normalise = (raw: RawBooking): Normalised => {
    const values = listValues(raw);
    const serviceId = readServiceId(values[0], placeholders);
    if (typeof serviceId === 'string')
      return { kind: 'reject', reason: serviceId, field: masterIdField.name };
    const texts: (string | undefined)[] = [];
    let warnings = noWarnings;
    for (let at = 1; at < values.length; at += 1) {
      const kind = kinds[at] ?? 'text';
      let text = readField(kind, values[at], placeholders);
      const fault = text === notText || text === undefined ? undefined : fieldRules[kind].findFault?.(text);
      if (fault !== undefined || text === notText)
        return {
          kind: 'reject',
          reason: fault ?? 'field-not-text',
          field: serviceFields[at] ?? masterIdField.name,
        };
      const understood = text === undefined ? undefined : (readers[at]?.(text) ?? text);
      if (typeof understood === 'object') {
        text = understood.text;
        warnings = [...warnings, understood.warning];
      } else text = understood;
      texts.push(text);
    }
    const booking = buildBooking(serviceId, texts);
    const doubts = doubtDates(booking, day);
    if (doubts.length > 0) warnings = [...warnings, ...doubts];
    return { kind: 'booking', booking, warnings };
  };
  return Object.assign(normalise, { placeholders });
}

/** Creates the function that reads the text of a field further; undefined for one that is sent as it was written. */
function createReader(
  field: BookingField,
  dateFormat: string | undefined,
  instants: InstantRule | undefined,
): ((text: string) => string | Understood) | undefined {
  switch (field.kind) {
    case 'date': {
      const unreadable: Understood = { text: undefined, warning: unreadableDates[field.name] };
      const read: ColumnReader = createColumnReader(field.name, dateFormat, instants);
      return (text) => read(text) ?? unreadable;
    }
    case 'text':
    case 'guest-name': {
      const garbled: Understood = garbledNames[field.name];
      return (text) => (isGarbled(text) ? garbled : text);
    }
    case 'id':
    case 'code':
      return undefined;
  }
}

/** What is wrong with the dates of a booking. */
function doubtDates(booking: Booking, day: string | undefined): readonly BookingWarning[] {
  const { checkInDate: checkIn, checkOutDate: checkOut } = booking;
  const stay = day === undefined ? { checkIn, checkOut } : stayOf(booking, day);
  if (stay.checkIn === checkIn && stay.checkOut === checkOut)
    return checkOutOf(stay) === checkOut ? noWarnings : reversed;
  const doubts: BookingWarning[] = [];
  if (stay.checkIn !== checkIn) doubts.push(implausibleDates.CheckInDate);
  if (stay.checkOut !== checkOut) doubts.push(implausibleDates.CheckOutDate);
  return doubts;
}

/** How many dates a source gave, and which of them speak against its date format. */
export interface DateCounts {
  given: number;
  /** Those that are not calendar dates. */
  unreadable: number;
  /** Check-ins that are calendar dates. */
  checkIns: number;
  /** Those far from the business day, without the days that stand for an unknown one. */
  implausible: number;
}

export const noDates = (): DateCounts => ({ given: 0, unreadable: 0, checkIns: 0, implausible: 0 });

export function addDates(sum: DateCounts, more: DateCounts): void {
  sum.given += more.given;
  sum.unreadable += more.unreadable;
  sum.checkIns += more.checkIns;
  sum.implausible += more.implausible;
}

/**
 * Counts the dates of a booking.
 *
 * Counted outside the normaliser on purpose: V8 11.3 (Node 20) compiles a normaliser that returns these counts with
 * the booking into code that corrupts the heap. test/booking/normalise.test.ts would then crash.
 */
export function countDates(
  { checkInDate, checkOutDate }: BookedDates,
  warnings: readonly BookingWarning[] = noWarnings,
): DateCounts {
  let unreadable = 0;
  for (const warning of warnings) if (isUnreadable.has(warning)) unreadable += 1;
  const checkIns = checkInDate === undefined ? 0 : 1;
  const isImplausible = warnings.includes(implausibleDates.CheckInDate) && !unknownDays.has(checkInDate);
  const given = checkIns + (checkOutDate === undefined ? 0 : 1) + unreadable;
  return { given, unreadable, checkIns, implausible: isImplausible ? 1 : 0 };
}

/** Creates a day's normaliser, which may depend on the first thousand records of the day. Reading them takes a while. */
export type NormaliserFor = (day: BusinessDay, listFirst: () => readonly RawBooking[]) => Normalise;

/** Normalises as the settings of a source say. */
export function openNormaliser({
  dateFormat,
  instants,
  missing,
}: {
  readonly dateFormat: string;
  readonly instants: InstantChoice;
  readonly missing?: readonly string[];
}): NormaliserFor {
  function findRule(zone: string, listFirst: () => readonly RawBooking[]): InstantRule | undefined {
    switch (instants) {
      case 'as-written':
        return undefined;
      case 'convert':
        return { zone, dated: new Set(), warns: false };
      case 'auto':
        return { zone, dated: findDatedColumns(listFirst(), dateFormat), warns: true };
    }
  }
  return ({ iso, zone }, listFirst) =>
    createNormaliser({ dateFormat, instants: findRule(zone, listFirst), missing, day: iso });
}

/** Accepts ASCII digits or a JSON integer, 1 to 2^53-1. Otherwise returns the reject reason. */
function readServiceId(
  value: unknown,
  placeholders: Placeholders,
): number | 'service-id-missing' | 'service-id-invalid' {
  const text = readField('id', value, placeholders);
  if (text === undefined) return 'service-id-missing';
  if (text === notText || !serviceIdDigits.test(text)) return 'service-id-invalid';
  const serviceId = Number(text);
  return Number.isSafeInteger(serviceId) ? serviceId : 'service-id-invalid';
}

/** Why a record that the source could delimit can't be read. It becomes a reject and reading continues. */
export type UnreadableReason =
  | 'wrong-cell-count'
  | 'malformed-quotes'
  | 'unclosed-quote'
  | 'record-too-long'
  | 'malformed-json'
  | 'not-an-object'
  | 'duplicate-member';
