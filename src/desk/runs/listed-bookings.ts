import { guestNameFields } from '../../booking/booking.js';
import { businessDayAt } from '../../booking/business-day.js';
import { describeWhy } from '../../cases/shown-bookings.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { Run } from '../../ledger/run.js';
import type { CopyStanding } from '../../mappings/copied-hotels.js';
import {
  type ListName as AnyList,
  type ListedBooking as Booking,
  listBookings,
} from '../../review/verdicts/listing.js';
import { outlineToJson } from '../day-report.js';
import type { DeskVisit } from '../page.js';
import { entriesBefore, entriesPerPage } from '../parts.js';

/** A booking in a list of a run; null stands for unknown. */
export interface ListedBooking {
  readonly reference: string | null;
  /** Only for those who may see names. */
  readonly guest?: string | null;
  readonly checkIn: string | null;
  readonly checkOut: string | null;
  readonly providerName: string | null;
  readonly providerHotelId: string | null;
  readonly serviceId: number;
  readonly copyServiceId?: number | null;
  readonly copy?: CopyStanding;
  readonly bookedHotel?: string | null;
  readonly copyHotel?: string | null;
  readonly distanceKm?: number | null;
  readonly caseId?: number | null;
  readonly verdictReason?: string;
  /** Why it is flagged. */
  readonly suspicion?: string;
  readonly movedAt?: string | null;
  /** Why it is listed, in a few words. */
  readonly why?: string;
}

/** Refused bookings have a page of their own. */
export type ListName = Exclude<AnyList, 'refused'>;

/** A page of a list of a run, in the order of the command: guests in house first, then the nearest check-in. */
export async function readList(
  ledger: ReadOnlyLedger,
  run: Run,
  name: ListName,
  page: number,
  { now, timezone, may }: DeskVisit,
): Promise<{ readonly count: number; readonly bookings: readonly ListedBooking[] }> {
  const today = businessDayAt(new Date(now), timezone).iso;
  const found = await listBookings(ledger, name, [run], {
    today,
    clock: () => now,
    withNames: may('see-names'),
  });
  const from = entriesBefore(page);
  const bookings: ListedBooking[] = [];
  for await (const some of found.read({ from, to: from + entriesPerPage }))
    bookings.push(...some.map(toListed));
  return { count: found.count, bookings };
}

function toListed(booking: Booking): ListedBooking {
  const { fields, movedAt, verdictReason } = booking;
  const [guestField = ''] = guestNameFields;
  const why = describeWhy(booking);
  const { reference, ...outline } = outlineToJson(booking);
  return {
    reference,
    ...(guestField in fields && {
      guest: fields[guestField] === undefined ? null : String(fields[guestField]),
    }),
    ...outline,
    caseId: booking.case?.id ?? null,
    ...(verdictReason && { verdictReason }),
    ...(movedAt !== undefined && { suspicion: booking.reason, movedAt }),
    ...(why !== undefined && { why }),
  };
}
