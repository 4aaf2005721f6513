import type { EventKind, OfDay } from './event.js';

/** Somebody accepts so many affected bookings, if the latest run has succeeded. */
export interface Accept extends OfDay {
  readonly kind: 'accept';
}

export const accept: EventKind<Accept> = {
  weights: { following: 1 },
  kinds: ['accept'],
  make: ({ day }) => ({ kind: 'accept', day }),
  kindsOf: () => ['accept'],
  tell: () => 'somebody accepts the affected bookings',

  async live(_, { day, iso, journal, findLatest, ask }) {
    if ((await findLatest())?.state !== 'succeeded') return undefined;
    await ask('run', iso, '--accept-affected');
    journal.push({ kind: 'accepted', day });
    return undefined;
  },
};
