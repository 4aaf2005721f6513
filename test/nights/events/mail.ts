import { createMailTaker } from '../../../src/cases/mails/take-mail.js';
import { examineHere, mailOf } from '../../cases/mails/mails.js';
import { allSingles, type Booked, findBooked, type Guest, hasReference } from '../guests.js';
import { listNames } from '../results.js';
import type { EventKind, OfDay, Stage } from './event.js';

/** The service writes that mappings of bookings are incorrect, by their references or, `pairs`, by their hotels alone. */
export interface Mail extends OfDay {
  readonly kind: 'mail';
  readonly names: readonly Guest[];
  readonly form: 'named' | 'twice' | 'pairs' | 'unreadable';
}

const nameable = allSingles.filter(hasReference);
const matchMs = 14 * 86_400_000;

export const mail: EventKind<Mail> = {
  weights: { following: 1 },
  kinds: ['mail named', 'mail twice', 'mail pairs', 'mail unreadable'],

  make: ({ day, source }, { pick, pickAmong, some }) => ({
    ...{ kind: 'mail', day },
    form: pick(['named', 'named', 'twice', 'pairs', 'unreadable']),
    names: [pickAmong(nameable, source), ...some(nameable, 1)],
  }),

  kindsOf: ({ form }) => [`mail ${form}`],

  tell: ({ form, names }) => `an e-mail (${form}) names ${listNames(names)}`,

  async live(event, stage) {
    const { day, journal, app } = stage;
    const names = event.names.filter((guest) => stage.wasSent(guest, day));
    if (names.length === 0) return undefined;
    const isTaken = await takeMail({ ...event, names }, stage);
    if (!isTaken) return undefined;
    const entry = { day, names, today: app.today() };
    if (event.form === 'pairs') journal.push({ kind: 'mail of pairs', at: stage.clock(), ...entry });
    else journal.push({ kind: 'mail', ...entry });
    return undefined;
  },
};

/** Returns whether it names somebody. */
async function takeMail({ names, day, form }: Mail, { ledger, app, clock }: Stage): Promise<boolean> {
  const taker = createMailTaker({
    ...{ ledger, today: app.today, notify() {}, clock, matchMs },
    examine: examineHere,
    senders: { from: [] },
  });
  const text = writeMail(
    names.map((guest) => findBooked(guest, day)),
    form,
  ).replace(/^Date: .*$/m, () => `Date: ${toDate(clock())}`);
  const received = { bytes: Buffer.from(text), from: 'mail.eml' };
  const { outcome } = await taker.take(received, { isAsked: true });
  if (form === 'twice') await taker.take(received, { isAsked: true });
  return outcome === 'named';
}

function writeMail(bookings: readonly Booked[], form: Mail['form']): string {
  switch (form) {
    case 'named':
    case 'twice':
      return mailOf('text/plain', `Incorrect:\r\n\r\n${bookings.map(describeBooking).join('\r\n\r\n')}`);
    case 'pairs':
      return mailOf(
        'text/csv',
        ['ServiceId;ProviderName;ProviderHotelId', ...bookings.map(describePair)].join('\r\n'),
      );
    case 'unreadable':
      return mailOf('text/plain', 'Please see the portal.');
  }
}

function toDate(instant: number): string {
  return new Date(instant).toUTCString().replace('GMT', '+0000');
}

function describeBooking({ BookingReferenceId = '', ProviderHotelId, ServiceId }: Booked): string {
  return `Incorrect: ${BookingReferenceId} of hotel ${ProviderHotelId}, master hotel ${ServiceId}`;
}

function describePair({ ServiceId, ProviderName, ProviderHotelId }: Booked): string {
  return [ServiceId, ProviderName, ProviderHotelId].join(';');
}
