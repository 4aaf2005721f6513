import { type Booking, buildBooking, listTexts, textFields } from '../booking/booking.js';
import { createKeyedHash, foldName, keyIdOf } from './hash-key.js';

export const guestNameChoices = ['send', 'pseudonym', 'omit'] as const;

/** The setting `guestNames`, and the key that a pseudonym needs. Plain data that can be sent to another thread. */
export interface GuestNameSettings {
  readonly guestNames: (typeof guestNameChoices)[number];
  readonly hashKey?: string | undefined;
}

/** How the names of a run are written; the ledger keeps it. Pseudonyms under different keys have different forms. */
export type NameForm = 'send' | 'omit' | `pseudonym ${string}`;

/** In which form guests' names are sent and stored. */
export interface GuestNames {
  readonly form: NameForm;
  /** Undefined for a name that is left out. */
  write(name: string): string | undefined;
}

/** The setting under which names had that form. */
export function nameChoiceOf(form: NameForm): GuestNameSettings['guestNames'] {
  return form === 'send' || form === 'omit' ? form : 'pseudonym';
}

export const sentNames: GuestNames = { form: 'send', write: (name) => name };
export const omittedNames: GuestNames = { form: 'omit', write: () => undefined };

/** Of 256 bits: enough that no two guests share a pseudonym. */
const pseudonymDigits = 32;

/** @throws TypeError for pseudonyms without a key, which the configuration refuses */
export function createGuestNames({ guestNames, hashKey }: GuestNameSettings): GuestNames {
  switch (guestNames) {
    case 'send':
      return sentNames;
    case 'omit':
      return omittedNames;
    case 'pseudonym':
      if (hashKey === undefined) throw new TypeError('a pseudonym needs hashKey');
      return { form: `pseudonym ${keyIdOf(hashKey)}`, write: createPseudonyms(hashKey) };
  }
}

/**
 * Creates the function that returns a guest's pseudonym: a keyed hash that is the same for every spelling which
 * `guest erase --name` takes for the same name. It is a word that no service reads as a missing value.
 */
export function createPseudonyms(hashKey: string): (name: string) => string {
  const hash = createKeyedHash(hashKey);
  return (name) => `guest-${hash('pseudonym', foldName(name)).slice(0, pseudonymDigits)}`;
}

/**
 * The form in which bookings whose names were written in different forms can be compared: in today's form if the others
 * can be converted to it, otherwise without names.
 */
export function findComparableNames(today: GuestNames, others: readonly NameForm[]): GuestNames {
  return others.every((form) => form === today.form || form === 'send') ? today : omittedNames;
}

/** The booking as it is sent and stored. */
export function writeNames(booking: Booking, { form, write }: GuestNames): Booking {
  if (form === 'send') return booking;
  const texts = listTexts(booking);
  return buildBooking(
    booking.serviceId,
    textFields.map(({ kind }, at) => {
      const text = texts[at];
      return kind === 'guest-name' && text !== undefined ? write(text) : text;
    }),
  );
}

/** A booking whose name is written in one form, with the name in another one where that is possible. */
export function rewriteNames(booking: Booking, from: NameForm, to: GuestNames): Booking {
  return from === 'send' || to.form === 'omit' ? writeNames(booking, to) : booking;
}
