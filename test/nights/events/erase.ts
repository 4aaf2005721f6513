import { exitCode } from '../../../jobs/exit-code.js';
import { findBooked, type Guest } from '../guests.js';
import { someTrouble, type Trouble, tellTrouble } from '../trouble.js';
import type { EventKind, OfDay } from './event.js';

/** A guest asks to be forgotten. */
export interface Erase extends OfDay {
  readonly kind: 'erase';
  readonly guest: Guest;
  readonly trouble?: Trouble | undefined;
}

/** Two rooms with one reference could not be told apart without their names. */
const erasable: readonly Guest[] = ['eva', 'tom', 'zoe', 'gone', 'crowd 3'];

export const erase: EventKind<Erase> = {
  weights: { following: 2 },
  kinds: ['erase'],
  make: ({ day, source }, choices) => ({
    ...{ kind: 'erase', day },
    guest: choices.pickAmong(erasable, source),
    trouble: someTrouble(choices),
  }),
  kindsOf: () => ['erase'],
  tell: ({ guest, trouble }) =>
    [`${guest} asks to be forgotten`, trouble && tellTrouble(trouble)].filter(Boolean).join('; '),

  *listSmaller(event) {
    if (event.trouble) yield { ...event, trouble: undefined };
  },

  async live({ guest, trouble }, { day, journal, liveProcess, ask }) {
    const { BookingReferenceId: reference = '' } = findBooked(guest, day);
    const words = ['guest', 'erase', reference, '--reason', 'asked'];
    const struck = await liveProcess(words, trouble);
    const { code } = await ask(...words);
    if (code === exitCode.done) journal.push({ kind: 'erased', day, guest });
    return struck;
  },
};
