import { examineMail } from '../../../src/verdict-mails/examine-mail.js';
import { createMailTaker } from '../../../src/verdict-mails/take-mail.js';
import { mailOf, words } from '../../verdict-mails/mails.js';
import { allSingles, type Booked, findBooked, type Guest, hasReference } from '../guests.js';
import { listNames } from '../results.js';
import type { EventKind, OfDay, Stage } from './event.js';

/** The service writes that mappings of bookings are incorrect. */
export interface Mail extends OfDay {
  readonly kind: 'mail';
  readonly names: readonly Guest[];
  readonly form: 'named' | 'twice' | 'unreadable';
}

const matchMs = 14 * 86_400_000;

export const mail: EventKind<Mail> = {
  weights: { following: 1 },
  kinds: ['mail named', 'mail twice'],

  make: ({ day }, { pick, some }) => ({
    ...{ kind: 'mail', day },
    form: pick(['named', 'named', 'twice', 'unreadable']),
    names: [pick(allSingles.filter(hasReference)), ...some(allSingles.filter(hasReference), 1)],
  }),

  kindsOf: ({ form }) => [`mail ${form}`],

  tell: ({ form, names }) => `an e-mail (${form}) names ${listNames(names)}`,

  async live(event, stage) {
    const { day, journal, app } = stage;
    const names = event.names.filter((guest) => stage.wasSent(guest, day));
    if (names.length === 0) return undefined;
    const isTaken = await takeMail({ ...event, names }, stage);
    if (isTaken) journal.push({ kind: 'mail', day, names, today: app.today() });
    return undefined;
  },
};

/** Returns whether it names somebody. */
async function takeMail({ names, day, form }: Mail, { ledger, app, clock }: Stage): Promise<boolean> {
  const taker = createMailTaker({
    ...{ ledger, today: app.today, notify() {}, clock, matchMs },
    examine: (bytes, lookUp) => examineMail(bytes, words, lookUp),
    senders: { from: [] },
  });
  const lines = names.map((guest) => describeBooking(findBooked(guest, day)));
  const text =
    form === 'unreadable' ? 'Please see the portal.' : `Incorrect:\r\n\r\n${lines.join('\r\n\r\n')}`;
  const mail = mailOf('text/plain', text).replace(/^Date: .*$/m, () => `Date: ${toDate(clock())}`);
  const received = { bytes: Buffer.from(mail), from: 'mail.eml' };
  const { outcome } = await taker.take(received, { isAsked: true });
  if (form === 'twice') await taker.take(received, { isAsked: true });
  return outcome === 'named';
}

function toDate(instant: number): string {
  return new Date(instant).toUTCString().replace('GMT', '+0000');
}

function describeBooking({ BookingReferenceId = '', ProviderHotelId, ServiceId }: Booked): string {
  return `Incorrect: ${BookingReferenceId} of hotel ${ProviderHotelId}, master hotel ${ServiceId}`;
}
