import { findBooked, type Guest } from '../guests.js';
import { bookingOf } from '../journal.js';
import { pairOf } from '../model-moves.js';
import type { EventKind, OfDay } from './event.js';

/** Somebody works on the case of a guest's mapping, if it has one. */
export interface Help extends OfDay {
  readonly kind: 'help';
  readonly guest: Guest;
  readonly action: 'report' | 'dismiss' | 'reopen' | 'resolve';
}

const actions = ['report', 'dismiss', 'reopen', 'resolve'] as const;
const withCases: readonly Guest[] = ['ana', 'eva', 'tom', 'tomMoved', 'zoe', 'ivy', 'leg', 'crowd 3'];

export const help: EventKind<Help> = {
  weights: { following: 2 },
  kinds: actions.map((action) => `case: ${action}`),
  make: ({ day }, { pick }) => ({ kind: 'help', day, guest: pick(withCases), action: pick(actions) }),
  kindsOf: ({ action }) => [`case: ${action}`],
  tell: ({ guest, action }) => `somebody works on the case of ${guest}: ${action}`,

  async live({ guest, action }, { day, journal, ask, clock }) {
    const pair = pairOf(bookingOf(guest, day));
    const { BookingReferenceId: reference = '' } = findBooked(guest, day);
    for (let id = 1; ; id += 1) {
      const { code, json } = await ask('case', String(id));
      if (code !== 0) return undefined;
      if ([json.providerName, json.providerHotelId, json.serviceId].join(' ') !== pair) continue;
      const isOpen = json.bookingList.some(
        (one: { readonly reference: string; readonly state: string }) =>
          one.reference === reference && one.state === 'open',
      );
      const isPossible = { report: json.state === 'open', resolve: isOpen, dismiss: true, reopen: true };
      if (!isPossible[action]) return undefined;
      await ask('case', String(id), ...wordsFor(action, reference));
      journal.push({ kind: 'helped', day, pair, action, reference, at: clock() });
      return undefined;
    }
  },
};

function wordsFor(action: Help['action'], reference: string): readonly string[] {
  switch (action) {
    case 'report':
    case 'reopen':
      return [action];
    case 'dismiss':
      return [action, '--note', 'it is right'];
    case 'resolve':
      return [action, reference, '--as', 'rebooked'];
  }
}
