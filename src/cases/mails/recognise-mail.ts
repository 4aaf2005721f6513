import type { Booking } from '../../booking/booking.js';
import { readBooking } from '../../booking/stored-line.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { StoredBooking } from '../../ledger/mails.js';
import { keyOfHotel } from '../../ledger/mappings.js';
import { readStaysAhead } from '../../review/stays/stays-ahead.js';
import type { Canary } from '../../rules/canary.js';
import { type CaseKey, keyOfCase } from '../../rules/case.js';
import type { ExaminedMail, PairMention } from './examine-mail.js';
import type { ExamineMail } from './mail-process.js';

/** What an e-mail says, and what it names of all that the ledger knows. */
export type RecognisedMail = Omit<ExaminedMail, 'named' | 'canaries' | 'pairs'> & {
  readonly bookings: readonly (StoredBooking & { readonly reference: string; readonly booking: Booking })[];
  readonly canaries: readonly Canary[];
  /** The pairs that it names without a reference; none for a stranger. */
  readonly pairs: readonly CaseKey[];
};

export const namesNothing: RecognisedMail = {
  ...{ messageId: undefined, receivedAt: undefined, correct: 0, accusesUnknown: false, unreadAttachments: 0 },
  ...{ bookings: [], canaries: [], pairs: [] },
};

export interface RecogniseParts {
  readonly ledger: Ledger;
  readonly examine: ExamineMail;
  /** The day it is now in the account's zone, YYYY-MM-DD. */
  readonly today: () => string;
  /** How far back runs are searched. */
  readonly matchMs: number;
}

/** More than a run a day within `matchMs`. */
export const mostCanaries = 1_000;

/** Examines an e-mail, and finds out what it means. @throws UnreadMailError */
export async function recogniseMail(
  bytes: Buffer,
  { now, isStranger }: { readonly now: number; readonly isStranger: boolean },
  { ledger, examine, today, matchMs }: RecogniseParts,
): Promise<RecognisedMail> {
  const since = now - matchMs;
  const canaries = await ledger.canaries.list({ since, limit: mostCanaries });
  let bookings: RecognisedMail['bookings'] = [];
  const { named, ...said } = await examine(bytes, async (hashes) => {
    bookings = await findBookings(hashes, since, ledger);
    return {
      // Without names of guests: they are none of its business.
      bookings: bookings.map(({ reference, booking: { serviceId, providerHotelId } }) => {
        return { reference, serviceId, providerHotelId };
      }),
      canaries: canaries.map(({ reference }) => reference),
      providers: await ledger.mails.listProviders(since),
    };
  });
  return {
    ...said,
    bookings: named.flatMap((index) => bookings[index] ?? []),
    canaries: canaries.filter(({ reference }) => said.canaries.includes(reference)),
    // Nothing is made of a stranger's pairs, and there may be thousands.
    pairs: isStranger ? [] : await resolvePairs(said.pairs, ledger, today()),
  };
}

/** The bookings whose references are among the candidates, and some more. */
async function findBookings(hashes: Uint32Array, since: number, { mails }: Ledger) {
  const found: RecognisedMail['bookings'][number][] = [];
  if (hashes.length === 0) return found;
  for await (const stored of mails.findBookings(since, hashes))
    for (const one of stored) {
      const booking = readBooking(one.line);
      const { bookingReferenceId: reference } = booking;
      if (reference !== undefined) found.push({ ...one, reference, booking });
    }
  return found;
}

/** A pair means every master hotel that it is booked as, unless the e-mail says which. */
async function resolvePairs(
  mentions: readonly PairMention[],
  ledger: Ledger,
  today: string,
): Promise<CaseKey[]> {
  const wanted = new Set(
    mentions.map(({ serviceId, ...hotel }) =>
      serviceId === undefined ? keyOfHotel(hotel) : keyOfCase({ ...hotel, serviceId }),
    ),
  );
  const isWanted = (stay: CaseKey) => wanted.has(keyOfHotel(stay)) || wanted.has(keyOfCase(stay));
  const found = new Map<string, CaseKey>();
  for await (const { stays } of readStaysAhead(ledger, mentions, { today, isWanted }))
    for (const { providerName, providerHotelId, serviceId } of stays) {
      const pair = { providerName, providerHotelId, serviceId };
      found.set(keyOfCase(pair), pair);
    }
  return [...found.values()];
}

/** Whether the cases of what it names would get more bookings than that. */
export async function opensMoreThan(
  most: number,
  { bookings, pairs }: RecognisedMail,
  { ledger, today }: RecogniseParts,
): Promise<boolean> {
  if (bookings.length > most) return true;
  const hotels = [...pairs, ...bookings.flatMap(({ booking }) => listPairs(booking))];
  const cases = new Set(hotels.map(keyOfCase));
  const isWanted = (stay: CaseKey) => cases.has(keyOfCase(stay));
  let count = 0;
  for await (const { stays } of readStaysAhead(ledger, hotels, { today: today(), isWanted })) {
    count += stays.length;
    if (count > most) return true;
  }
  return false;
}

/** Bookings without a provider's hotel have no case. */
function listPairs({ providerName, providerHotelId, serviceId }: Booking): CaseKey[] {
  if (providerName === undefined || providerHotelId === undefined) return [];
  return [{ providerName, providerHotelId, serviceId }];
}
