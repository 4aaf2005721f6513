/**
 * Which guests are at risk: a model that knows bookings, verdicts and the service's mappings, and nothing of how cases are
 * kept. It is told what happens each night, and says who must be in an open case the next morning.
 */
export interface GuestModel {
  /** What the copy of the mappings holds after a sync, and all that the service has ever stated. */
  synced(copy: MappingsByHotel, stated: readonly StatedPair[], today: string): void;
  /** The reviewable bookings of a day, in the order of the file. */
  collected(bookings: readonly ModelBooking[], today: string): void;
  /** A result or an e-mail named these as wrong. */
  named(bookings: readonly ModelBooking[], today: string): void;
  /** Somebody resolved something for a guest. */
  resolved(group: string, reference: string): void;
  /** The guests who must be in an open case of each group, each once. */
  expectedOpen(today: string): ReadonlyMap<string, readonly string[]>;
  /** What the groups look like; for messages and for checks that something has happened at all. */
  readonly groups: ReadonlyMap<string, Group>;
  /** How many moves were merges that endanger nobody. */
  readonly merges: number;
}

/** By provider hotel: see `hotelOf`. */
export type MappingsByHotel = ReadonlyMap<string, number>;

export type StatedPair = Pick<ModelBooking, 'providerName' | 'providerHotelId' | 'serviceId'>;

export interface ModelBooking {
  readonly reference?: string | undefined;
  readonly providerName: string;
  readonly providerHotelId: string;
  readonly serviceId: number;
  /** YYYY-MM-DD */
  readonly checkIn?: string | undefined;
  readonly checkOut?: string | undefined;
  /** The business day on which it was exported. */
  readonly day: string;
}

/** All bookings of a provider's hotel that were booked as the same master hotel. */
export interface Group {
  readonly serviceId: number;
  readonly hotel: string;
  /** Ended by a move of the mapping after the latest evidence. */
  isActive: boolean;
  /** The morning on which that was noticed. */
  endedOn?: string;
  /** The guests in its case, by what identifies their bookings, and since when. */
  readonly held: Map<string, string>;
  readonly found: Set<'named' | 'copy' | 'moved' | 'deleted'>;
}

export const hotelOf = ({
  providerName,
  providerHotelId,
}: Pick<ModelBooking, 'providerName' | 'providerHotelId'>) => `${providerName}\n${providerHotelId}`;

export const groupOf = (
  booking: Pick<ModelBooking, 'providerName' | 'providerHotelId' | 'serviceId'>,
): string => `${hotelOf(booking)}\n${booking.serviceId}`;

export function createGuestModel(): GuestModel {
  const groups = new Map<string, Group>();
  /** The latest version of each booking; those without a reference have no later one. */
  const latest = new Map<string, ModelBooking>();
  const resolved = new Set<string>();
  /** The provider hotels that ever were each master hotel. */
  const everWere = new Map<number, Set<string>>();
  const wasKnown = new Set<string>();
  let copy: MappingsByHotel = new Map();
  let merges = 0;

  /** Until its check-out; without a plausible one, for 30 days. */
  const isAhead = ({ checkIn, checkOut }: Pick<ModelBooking, 'checkIn' | 'checkOut'>, today: string) => {
    if (checkOut !== undefined && (checkIn === undefined || checkOut >= checkIn)) return checkOut >= today;
    return checkIn === undefined || Date.parse(today) - Date.parse(checkIn) <= 30 * 86_400_000;
  };

  function staysOf(group: string, today: string): [string, ModelBooking][] {
    return [...latest].filter(([, booking]) => groupOf(booking) === group && isAhead(booking, today));
  }

  function find(group: string, kind: 'named' | 'copy' | 'moved' | 'deleted', today: string): void {
    const stays = staysOf(group, today);
    const [[, first] = []] = stays;
    if (!first) return;
    const known = groups.get(group);
    const { serviceId } = first;
    const made = known ?? {
      serviceId,
      hotel: hotelOf(first),
      isActive: true,
      held: new Map(),
      found: new Set(),
    };
    made.isActive = true;
    made.found.add(kind);
    for (const [identity] of stays) hold(made, identity, today);
    groups.set(group, made);
  }

  function hold({ held }: Group, identity: string, today: string): void {
    if (!held.has(identity)) held.set(identity, today);
  }

  /** Two numbers for one hotel have become one: most of its provider hotels, of several providers, moved to the same one. */
  function isMerge(from: number, to: number): boolean {
    const were = [...(everWere.get(from) ?? [])];
    const went = were.filter((hotel) => copy.get(hotel) === to);
    const providers = new Set(went.map((hotel) => hotel.split('\n')[0]));
    return providers.size >= 2 && went.length * 2 > were.length;
  }

  return {
    groups,
    get merges() {
      return merges;
    },
    synced(next, stated, today) {
      const before = copy;
      copy = next;
      const moved = [...new Set([...before.keys(), ...next.keys()])].filter(
        (hotel) => before.has(hotel) && before.get(hotel) !== next.get(hotel),
      );
      for (const hotel of next.keys()) wasKnown.add(hotel);
      // Deleted ones too: a deletion says which master hotel it was.
      for (const { serviceId, ...pair } of stated) {
        const were = everWere.get(serviceId) ?? new Set();
        everWere.set(serviceId, were.add(hotelOf(pair)));
      }
      const booked = new Set([...latest.values()].map(groupOf));
      for (const hotel of [...moved, ...[...next.keys()].filter((hotel) => !before.has(hotel))]) {
        const to = next.get(hotel);
        for (const group of booked) {
          if (!group.startsWith(`${hotel}\n`)) continue;
          const serviceId = Number(group.split('\n')[2]);
          const known = groups.get(group);
          const wasActive = known?.isActive ?? false;
          if (to === undefined) find(group, 'deleted', today);
          else if (to !== serviceId) {
            if (isMerge(serviceId, to)) merges += staysOf(group, today).length > 0 ? 1 : 0;
            else find(group, 'moved', today);
          }
          // A move ends what was known before it; a deletion leaves the guests with nothing.
          if (!known || !wasActive || (to === undefined && known.found.has('moved'))) continue;
          known.isActive = false;
          known.endedOn = today;
        }
      }
    },
    collected(bookings, today) {
      const identities = bookings.map(
        (booking, place) => [booking.reference ?? `${booking.day} ${place}`, booking] as const,
      );
      for (const [identity, booking] of identities) latest.set(identity, booking);
      for (const [identity, booking] of identities) {
        const group = groups.get(groupOf(booking));
        if (group?.isActive && isAhead(booking, today)) hold(group, identity, today);
      }
      for (const [identity, booking] of identities) {
        const to = copy.get(hotelOf(booking));
        if (!wasKnown.has(hotelOf(booking)) || to === booking.serviceId || !isAhead(booking, today)) continue;
        if (to !== undefined && isMerge(booking.serviceId, to)) continue;
        const group = groups.get(groupOf(booking));
        // After a move, only new errors count.
        if (group && !group.isActive) hold(group, identity, today);
        else find(groupOf(booking), 'copy', today);
      }
    },
    named(bookings, today) {
      for (const booking of bookings) {
        const { reference } = booking;
        if (reference === undefined || !isAhead(booking, today)) continue;
        const current = latest.get(reference);
        if (!current || groupOf(current) !== groupOf(booking)) continue;
        const group = groups.get(groupOf(booking));
        // A verdict on a booking that was in the case when its mapping moved says nothing new.
        if (group && !group.isActive && (group.held.get(reference) ?? today) < (group.endedOn ?? ''))
          continue;
        // Nor does one on a booking that was made with the mapping from before the move.
        if (group && !group.isActive && copy.get(hotelOf(booking)) !== booking.serviceId)
          hold(group, reference, today);
        else find(groupOf(booking), 'named', today);
      }
    },
    resolved: (group, reference) => void resolved.add(`${group}\n${reference}`),
    expectedOpen(today) {
      const open = new Map<string, readonly string[]>();
      for (const [name, { held }] of groups) {
        const guests = [...held.keys()].filter((identity) => {
          const booking = latest.get(identity);
          if (!booking || groupOf(booking) !== name || resolved.has(`${name}\n${identity}`)) return false;
          return isAhead(booking, today);
        });
        if (guests.length > 0) open.set(name, guests.map((identity) => nameOf(latest.get(identity))).sort());
      }
      return open;
    },
  };
}

/** How a booking appears in a case. */
function nameOf(booking: ModelBooking | undefined): string {
  return booking?.reference ?? `? ${booking?.checkIn ?? '-'} ${booking?.checkOut ?? '-'}`;
}
