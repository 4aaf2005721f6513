import { type BookingResolution, type HeldCase, isActiveCase } from './case.js';

/** A person's decision about the mapping. */
export type CaseCommand = 'report' | 'dismiss' | 'reopen';

/** Undefined if the state does not allow it: only a case that needs action can be reported. */
export function applyCommand(held: HeldCase, command: CaseCommand, now: number): HeldCase | undefined {
  const { correctedBy: _, ...rest } = held;
  switch (command) {
    case 'report':
      if (held.state === 'reported') return held;
      return isActiveCase(held) ? { ...rest, state: 'reported', stateSince: now } : undefined;
    case 'dismiss':
      return held.state === 'dismissed' ? held : { ...rest, state: 'dismissed', stateSince: now };
    case 'reopen':
      // An earlier move must not correct what a person has reopened.
      return held.state === 'open' ? held : { ...rest, state: 'open', stateSince: now, evidenceAt: now };
  }
}

export interface Resolving extends Pick<BookingResolution, 'as' | 'note'> {
  /** The places of the bookings. */
  readonly places: ReadonlySet<number>;
}

export function resolveBookings(held: HeldCase, { places, as, note }: Resolving, now: number): HeldCase {
  const bookings = held.bookings.map((booking) =>
    places.has(booking.place)
      ? { ...booking, resolved: { as, at: now, ...(note !== undefined && { note }), isAutomatic: false } }
      : booking,
  );
  return { ...held, bookings };
}
