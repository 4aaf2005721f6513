import { someTrouble, type Trouble, tellTrouble } from '../trouble.js';
import type { EventKind, OfDay } from './event.js';

/** Somebody has names removed that are due; in most histories none are, and everything must stay as it is. */
export interface Purge extends OfDay {
  readonly kind: 'purge';
  readonly trouble?: Trouble | undefined;
}

export const purge: EventKind<Purge> = {
  weights: { following: 1 },
  kinds: ['purge'],
  make: ({ day }, choices) => ({ kind: 'purge', day, trouble: someTrouble(choices) }),
  kindsOf: () => ['purge'],
  tell: ({ trouble }) =>
    ['somebody has names removed that are due', trouble && tellTrouble(trouble)].filter(Boolean).join('; '),

  *listSmaller(event) {
    if (event.trouble) yield { ...event, trouble: undefined };
  },

  async live({ trouble }, { day, journal, liveProcess, ask }) {
    const struck = await liveProcess(['guest', 'purge'], trouble);
    await ask('guest', 'purge');
    journal.push({ kind: 'purged', day });
    return struck;
  },
};
