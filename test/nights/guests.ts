/** A booking as its source has it; what is not there is absent. */
export interface Booked {
  readonly ServiceId: string;
  readonly BookingReferenceId?: string;
  readonly BookingClientName?: string;
  readonly ProviderName: string;
  readonly ProviderHotelId?: string;
  readonly CheckInDate: string;
  readonly CheckOutDate: string;
}

const stay = { CheckInDate: '2026-12-01', CheckOutDate: '2026-12-08' };
const expedia = { ServiceId: '11', ProviderName: 'Expedia', ProviderHotelId: '0011' };
const hotelbeds = { ServiceId: '22', ProviderName: 'Hotelbeds', ProviderHotelId: '22B' };
const other = { ServiceId: '33', ProviderName: 'Hotelbeds', ProviderHotelId: '33C' };

/** Everything that anybody may have booked on the first day, but for the crowd. */
const singles = {
  ana: { BookingReferenceId: 'R-1', BookingClientName: 'Ana', ...expedia, ...stay },
  /** A second room, equal but for the name. */
  bob: { BookingReferenceId: 'R-1', BookingClientName: 'Bob', ...expedia, ...stay },
  /** A second leg of the same booking. */
  leg: { BookingReferenceId: 'R-1', BookingClientName: 'Ana', ...hotelbeds, ...stay },
  eva: { BookingReferenceId: 'R-2', BookingClientName: 'Eva', ...expedia, ...stay },
  /** One booking that changes its hotel, and one that changes its stay. */
  tom: { BookingReferenceId: 'R-3', BookingClientName: 'Tom', ...hotelbeds, ...stay },
  tomMoved: { BookingReferenceId: 'R-3', BookingClientName: 'Tom', ...other, ...stay },
  zoe: { BookingReferenceId: 'R-4', BookingClientName: 'Zoe', ...expedia, ...stay },
  zoeLater: {
    ...{ BookingReferenceId: 'R-4', BookingClientName: 'Zoe', ...expedia },
    ...{ CheckInDate: '2026-12-02', CheckOutDate: '2026-12-09' },
  },
  /** At the hotel of others, booked as another master hotel, which it may become. */
  ivy: { BookingReferenceId: 'R-7', BookingClientName: 'Ivy', ...expedia, ServiceId: '55', ...stay },
  gone: {
    ...{ BookingReferenceId: 'R-5', BookingClientName: 'Kim', ...hotelbeds },
    ...{ CheckInDate: '2026-11-10', CheckOutDate: '2026-11-15' },
  },
  /** Who arrives on the day after the night. */
  sam: {
    ...{ BookingReferenceId: 'R-7', BookingClientName: 'Sam', ...other },
    ...{ CheckInDate: '2026-11-22', CheckOutDate: '2026-11-25' },
  },
  /** Bookings that cannot stand in a file. */
  nobody: { BookingClientName: 'Max', ...expedia, ...stay },
  nameless: { BookingReferenceId: 'R-6', ...hotelbeds, ...stay },
} as const satisfies Record<string, Booked>;

type Single = keyof typeof singles;

/** Who books on each day, whatever its number. */
export type Guest = Single | `crowd ${number}`;

export const allSingles = Object.keys(singles) as Guest[];

/** As many as it takes to make a day's affected bookings implausible, and their cases too many for a message each. */
export const crowd = Array.from({ length: 24 }, (_, place): Guest => `crowd ${place}`);

const inCrowd = (guest: Guest): Booked => ({
  ...{ BookingReferenceId: `C-${guest.slice(6)}`, BookingClientName: `Lou${guest.slice(6)}` },
  ...{ ServiceId: `44${guest.slice(6)}`, ProviderName: 'Bedlink', ProviderHotelId: `${guest.slice(6)}D` },
  ...{ CheckInDate: '2026-11-22', CheckOutDate: '2026-12-08' },
});

export const allGuests: readonly Guest[] = [...allSingles, ...crowd];

/** Of all guests: it stands where a name stands, and nowhere else. */
export const surname = 'Quxley';

/** What they book on the first day is booked once more on each day, with other references, and for stays that are as far ahead. */
const booked = new Map<string, Booked>();

/** What a guest has booked on the day of that number, from 0. */
export function findBooked(guest: Guest, day: number): Booked {
  const key = `${guest} ${day}`;
  const known = booked.get(key);
  if (known) return known;
  const first = guest in singles ? singles[guest as Single] : inCrowd(guest);
  const made = later(first, day);
  booked.set(key, made);
  return made;
}

function later(first: Booked, day: number): Booked {
  const { BookingReferenceId: reference, BookingClientName: name, CheckInDate, CheckOutDate } = first;
  return {
    ...first,
    ...(reference !== undefined && {
      BookingReferenceId: reference.replace(/\d+/, (number) => String(100 * day + Number(number))),
    }),
    // No day's name is the beginning of another one's.
    ...(name !== undefined && { BookingClientName: `${name} ${surname} ${day + 100}` }),
    CheckInDate: addDays(CheckInDate, day),
    CheckOutDate: addDays(CheckOutDate, day),
  };
}

const dayMs = 86_400_000;

export function addDays(date: string, days: number): string {
  return new Date(Date.parse(date) + days * dayMs).toISOString().slice(0, 10);
}

/** How a guest of that day is called, as in their bookings. */
export function fullNameOf(guest: Guest, day: number): string | undefined {
  return findBooked(guest, day).BookingClientName;
}

export function hasReference(guest: Guest): boolean {
  return findBooked(guest, 0).BookingReferenceId !== undefined;
}
