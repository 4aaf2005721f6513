import type { StayDates } from '../../booking/stay.js';
import type { Trace } from '../../ledger/tracing.js';
import { type CopiedHotel, type CopyReader, readCopiedHotels } from '../../mappings/copied-hotels.js';
import {
  type CompareHotels,
  type DoubtfulStay,
  type HotelPair,
  unknownPair,
} from '../../mappings/hotels/compare-hotels.js';
import { readBooking } from '../stored/stored-line.js';
import { type BookingList, hotelsPerLookUp, type ListedBooking } from './listing.js';

/** A listed booking with its hotels side by side. */
export interface ComparedBooking extends ListedBooking {
  readonly hotels: HotelPair;
}

/** The same list with the hotels of each booking: one look-up per chunk. */
export function withHotels(list: BookingList, compare: CompareHotels): BookingList<ComparedBooking> {
  return {
    count: list.count,
    async *read(window) {
      for await (const bookings of list.read(window)) {
        const pairs = await compare(bookings.map(toStay));
        yield bookings.map((booking, index) => ({ ...booking, hotels: pairs[index] ?? unknownPair }));
      }
    },
  };
}

function toStay({ fields, copyServiceId }: ListedBooking): DoubtfulStay {
  return { serviceId: Number(fields.ServiceId), copyServiceId, checkInDate: stayOf(fields).checkIn };
}

/** The dates among the fields of a listed booking. */
export function stayOf({ CheckInDate, CheckOutDate }: ListedBooking['fields']): StayDates {
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  return { checkIn: text(CheckInDate), checkOut: text(CheckOutDate) };
}

/** The hotels of a booking in one run. */
export interface TracedHotels extends HotelPair, CopiedHotel {
  readonly serviceId: number;
}

/** The hotels of each trace; undefined for a record that was rejected. */
export async function findTracedHotels(
  traces: readonly Trace[],
  { mappings, compare }: { readonly mappings: CopyReader; readonly compare: CompareHotels },
): Promise<(TracedHotels | undefined)[]> {
  const bookings = traces.map((trace) =>
    trace.kind === 'booking' ? readBooking(trace.line, trace.form) : undefined,
  );
  const known = bookings.filter((booking) => booking !== undefined);
  const asked = known.map(({ providerName = '', providerHotelId = '' }) => ({
    providerName,
    providerHotelId,
  }));
  const copied: CopiedHotel[] = [];
  while (copied.length < asked.length)
    copied.push(
      ...(await readCopiedHotels(mappings, asked.slice(copied.length, copied.length + hotelsPerLookUp))),
    );
  const stays = known.map(({ serviceId, checkInDate }, index) => ({
    serviceId,
    copyServiceId: copied[index]?.copyServiceId ?? null,
    checkInDate,
  }));
  const pairs = await compare(stays);
  return bookings.map((booking) => {
    const index = booking ? known.indexOf(booking) : -1;
    const [stay, pair, copy] = [stays[index], pairs[index], copied[index]];
    return stay && pair && copy && { ...pair, ...copy, serviceId: stay.serviceId };
  });
}
