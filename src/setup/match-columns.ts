import { type ServiceField, serviceFields } from '../booking/booking.js';

/** Which columns hold which fields, judged by their names. */
export interface ColumnMatch {
  /** In the service's order; without the fields that no column looks like. */
  readonly columns: ReadonlyMap<ServiceField, string>;
  /** The columns that were not taken, in the file's order. */
  readonly unused: readonly string[];
}

/** What others call the fields, the likeliest first, as `simplify` leaves them. */
const synonyms: Readonly<Record<ServiceField, readonly string[]>> = {
  ServiceId: ['servicemappingsid', 'masterid', 'masterhotelid', 'hotelid'],
  BookingReferenceId: ['bookingreference', 'bookingref', 'bookingid', 'bookingnumber', 'reference'],
  BookingClientName: ['clientname', 'leadguest', 'leadguestname', 'guestname', 'guest', 'client', 'name'],
  ProviderName: ['supplier', 'suppliername', 'provider'],
  ProviderHotelId: ['supplierhotelid', 'providerhotel', 'supplierhotel', 'providerhotelcode'],
  CheckInDate: ['checkin', 'arrival', 'arrivaldate'],
  CheckOutDate: ['checkout', 'departure', 'departuredate'],
};

/**
 * Looks for the fields among a file's columns: under their exact names, else in another spelling (`check_in_date`), else
 * under a usual synonym (`arrival`). A name that stands there twice is nobody's.
 */
export function matchColumns(names: readonly string[]): ColumnMatch {
  const single = names.filter((name) => name !== '' && names.indexOf(name) === names.lastIndexOf(name));
  const columns = new Map<ServiceField, string>();
  const take = (wantedBy: (field: ServiceField) => readonly string[], spell: (name: string) => string) => {
    const taken = new Set(columns.values());
    for (const field of serviceFields) {
      if (columns.has(field)) continue;
      const free = single.filter((name) => !taken.has(name));
      const found = wantedBy(field).flatMap((wanted) => free.filter((name) => spell(name) === wanted))[0];
      if (found === undefined) continue;
      columns.set(field, found);
      taken.add(found);
    }
  };
  take(
    (field) => [field],
    (name) => name,
  );
  take((field) => [simplify(field), ...synonyms[field]], simplify);
  return {
    columns: new Map(
      serviceFields.flatMap((field): [ServiceField, string][] => {
        const name = columns.get(field);
        return name === undefined ? [] : [[field, name]];
      }),
    ),
    unused: names.filter((name) => ![...columns.values()].includes(name)),
  };
}

/** `Hotel-Id`, `hotel_id`, `hotel.id` and `HOTEL ID` are one name. */
function simplify(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}
