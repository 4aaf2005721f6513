import type { Booking } from '../../booking/booking.js';
import { readBooking } from '../../booking/stored-line.js';
import type { Ledger } from '../../ledger/ledger.js';
import type {
  MailOutcome,
  MailReason,
  NamedPair,
  NamedThings,
  NewMail,
  StoredBooking,
  StoredMail,
} from '../../ledger/mails.js';
import { keyOfHotel } from '../../ledger/mappings.js';
import { readStaysAhead } from '../../review/stays/stays-ahead.js';
import { keyOfCase } from '../../rules/case.js';
import { type Finding, gatherFindings, type NotifyCases, openCases, toFinding } from '../open-cases.js';
import { followSince } from '../update-cases.js';
import type { PairMention } from './examine-mail.js';
import { identifyContent, identifyMail } from './identify-mail.js';
import type { ExamineMail } from './mail-process.js';
import type { FoundMail } from './mailbox.js';
import { UnreadMailError } from './records.js';
import { judgeSender, type ListedSenders, type SenderStanding } from './sender.js';

/** An e-mail, as far as events name it: by its number in the ledger. Events hold neither its subject nor its sender. */
interface NumberedMail {
  readonly mail: number;
  /** Epoch milliseconds. */
  readonly receivedAt: number;
}

/** What reading verdict e-mails reports. Each e-mail is reported once, by the process that recorded it. */
export type VerdictMailEvent =
  | (NumberedMail & {
      readonly type: 'verdict-mail-named';
      /** How many bookings, and pairs of provider and hotel id, it names. */
      readonly named: number;
      /** How many canaries it names, if any; they are not bookings. */
      readonly canaries?: number;
    })
  /** It names nothing that the ledger knows, so nobody knows what it means. It stays where it is. */
  | (NumberedMail & { readonly type: 'verdict-mail-unknown'; readonly unreadAttachments: number })
  /** If it is set aside, nothing of it is used, and it is not read again unless a person imports it. */
  | (NumberedMail & {
      readonly type: 'verdict-mail-unreadable' | 'verdict-mail-set-aside';
      readonly reason: MailReason;
    })
  /** It opens and blocks nothing. `namesSent`: it names references that were sent, so perhaps the service has a new address. */
  | (NumberedMail & { readonly type: 'verdict-mail-unknown-sender'; readonly namesSent: boolean })
  /** The mailbox can't be read. Reported when that begins; it is retried. */
  | { readonly type: 'mailbox-away'; readonly error: unknown }
  | { readonly type: 'mailbox-back' }
  /** All new e-mails are read; there may be none. */
  | { readonly type: 'mailbox-read' };

export type NotifyVerdictMails = (event: VerdictMailEvent) => void;

export interface TakenMail {
  readonly messageId?: string | undefined;
  readonly receivedAt: number;
  readonly outcome: MailOutcome | 'already-read';
  /** Why it can't be read, or was set aside. */
  readonly reason?: MailReason | undefined;
  /** The bookings that it names. */
  readonly bookings: readonly { readonly reference: string; readonly day: string }[];
  /** The pairs that it names without a reference. */
  readonly pairs: readonly NamedPair[];
  /** The canaries that it names. */
  readonly canaries: TakenMail['bookings'];
  readonly correct: number;
  readonly unreadAttachments: number;
}

const nothing = {
  bookings: [],
  pairs: [],
  canaries: [],
  mail: { messageId: undefined, correct: 0, unreadAttachments: 0 },
} as const;

interface MailTakerParts {
  readonly ledger: Ledger;
  readonly examine: ExamineMail;
  /** Whose e-mails count. */
  readonly senders: ListedSenders;
  /** The day it is now in the account's zone, YYYY-MM-DD. */
  readonly today: () => string;
  /** How far back runs are searched. */
  readonly matchMs: number;
  readonly clock: () => number;
  readonly notify: NotifyVerdictMails & NotifyCases;
}

/** More than a run a day within `matchMs`. */
const mostCanaries = 1_000;
/** The most bookings that an e-mail opens where anybody may write one. */
const mostOfAnybody = 1_000;

/** `asked`: a person vouches for it. */
type Standing = SenderStanding | 'asked';

/** What becomes of an e-mail. */
interface Judged {
  readonly outcome: MailOutcome;
  readonly reason?: MailReason | undefined;
}

export type MailTaker = ReturnType<typeof createMailTaker>;

/** Reads verdict e-mails one at a time: what one names is recorded first, then its cases are opened. */
export function createMailTaker(parts: MailTakerParts) {
  const { ledger, examine, senders, today, matchMs, clock, notify } = parts;
  const log = ledger.mails;
  /** The e-mail that could not be taken the last time. */
  let failed: string | undefined;

  type Seen = Awaited<ReturnType<typeof look>>;

  /** Examines an e-mail, and finds out what it means. */
  async function look(bytes: Buffer, now: number, standing: Standing) {
    const since = now - matchMs;
    const canaries = await ledger.canaries.list({ since, limit: mostCanaries });
    let bookings: Awaited<ReturnType<typeof findBookings>> = [];
    const mail = await examine(bytes, async (hashes) => {
      bookings = await findBookings(hashes, since);
      return {
        // Without names of guests: they are none of its business.
        bookings: bookings.map(({ reference, booking: { serviceId, providerHotelId } }) => {
          return { reference, serviceId, providerHotelId };
        }),
        canaries: canaries.map(({ reference }) => reference),
        providers: await log.listProviders(since),
      };
    });
    return {
      mail,
      bookings: mail.named.flatMap((place) => bookings[place] ?? []),
      canaries: canaries.filter(({ reference }) => mail.canaries.includes(reference)),
      // Nothing is made of a stranger's pairs.
      pairs: standing === 'unlisted' ? [] : await resolvePairs(mail.pairs, ledger, today()),
    };
  }

  /** The bookings whose references are among the candidates, and some more. */
  async function findBookings(hashes: Uint32Array, since: number) {
    const found: (StoredBooking & { readonly reference: string; readonly booking: Booking })[] = [];
    if (hashes.length === 0) return found;
    for await (const stored of log.findBookings(since, hashes))
      for (const one of stored) {
        const booking = readBooking(one.line, one.form);
        const { bookingReferenceId: reference } = booking;
        if (reference !== undefined) found.push({ ...one, reference, booking });
      }
    return found;
  }

  async function openCasesOf(mail: Pick<StoredMail, 'number' | 'receivedAt'>): Promise<void> {
    // The dates of e-mails carry no milliseconds: a move within that second came before.
    const at = Math.min(mail.receivedAt + 999, clock());
    const named = await log.readNamed(mail.number);
    const findings = toFindings(named, { at, today: today() });
    const parts = { ledger, today: today(), clock, notify };
    const hasOutdated = await openCases(gatherFindings(findings), parts);
    const [first] = named.bookings.map(({ day }) => day).sort();
    if (hasOutdated && first !== undefined) await followSince(first, parts);
    await log.noteCasesOpened(mail.number, clock());
  }

  async function takeOrSetAside(found: FoundMail, sha256: string, isAsked: boolean): Promise<TakenMail> {
    const { bytes, from, arrivedAt, savedAt, fault } = found;
    const known = await log.findMail(sha256);
    const ofSender = judgeSender(bytes ?? found.head ?? Buffer.alloc(0), senders);
    const standing = isAsked ? 'asked' : ofSender;
    if (known && (fault === 'not-fetched' || isDone(known, standing))) return repeat(known);
    const now = clock();

    function note({ outcome, reason }: Judged, seen?: Seen): Promise<TakenMail> {
      const written = arrivedAt ?? seen?.mail.receivedAt ?? savedAt ?? now;
      // A later move of the mapping corrects a case, so that an instant in the future would keep it open for good.
      const receivedAt = Math.min(written, now);
      const content = bytes && identifyContent(bytes);
      const arrival = { sha256, content, from, readAt: now, receivedAt, isListed: ofSender === 'listed' };
      // Nobody knows who sent what can't be fetched.
      const isStranger = standing === 'unlisted' && reason !== 'not-fetched';
      const judged = isStranger ? { outcome: 'unknown-sender' as const } : { outcome, reason };
      return record({ ...arrival, ...judged }, outcome === 'set-aside' ? undefined : seen, known);
    }

    if (fault === 'not-fetched') return note({ outcome: 'set-aside', reason: fault });
    if (standing === 'unproven') return note({ outcome: 'set-aside', reason: 'not-authenticated' });
    if (bytes === undefined) return note({ outcome: 'unreadable', reason: 'too-large' });
    try {
      const seen = await look(bytes, now, standing);
      const isTooMuch = standing === 'anybody' && (await opensMore(seen));
      return await note(
        isTooMuch ? { outcome: 'set-aside', reason: 'too-many-bookings' } : judge(seen),
        seen,
      );
    } catch (error) {
      if (error instanceof UnreadMailError) {
        const { reason, isFault } = error;
        return note({ outcome: isFault ? 'set-aside' : 'unreadable', reason });
      }
      // Perhaps the ledger is away. If not, later e-mails would wait for this one for good.
      if (failed === sha256) return note({ outcome: 'set-aside', reason: 'failed' });
      throw error;
    }
  }

  function judge({ mail, bookings, canaries, pairs }: Seen): Judged {
    const { correct, accusesUnknown, unreadAttachments } = mail;
    const isNaming = bookings.length + pairs.length > 0;
    const isOnlyCorrect = correct > 0 && !isNaming && !accusesUnknown;
    return {
      outcome: isNaming || canaries.length > 0 ? 'named' : 'nothing-known',
      reason: unreadAttachments > 0 ? 'unread-attachment' : isOnlyCorrect ? 'called-correct' : undefined,
    };
  }

  /** Records an e-mail, opens the cases of what it names, and reports it once. What a stranger's names is only counted. */
  async function record(
    arrival: Omit<NewMail, 'bookings' | 'pairs'>,
    seen: Seen | undefined,
    known: StoredMail | undefined,
  ): Promise<TakenMail> {
    const { outcome, reason, receivedAt } = arrival;
    const isUsed = outcome === 'named' || outcome === 'nothing-known';
    const { bookings, pairs, canaries, mail: said } = (isUsed && seen) || nothing;
    const { messageId, correct, unreadAttachments } = said;
    const namesSent =
      !isUsed && seen !== undefined && seen.bookings.length + seen.canaries.length + seen.mail.correct > 0;
    const isOncePerDay = namesSent || reason === 'not-authenticated' || reason === 'not-fetched';
    const toldOn = isOncePerDay ? today() : undefined;
    const references = canaries.map(({ reference }) => reference);
    const naming = { bookings, pairs, canaries: references };
    const { number, isNew } = await log.record({ ...arrival, messageId, ...naming, toldOn });
    const named = bookings.length + pairs.length;
    if (named > 0) await openCasesOf({ number, receivedAt });
    const about = { mail: number, receivedAt };
    const ofCanaries = canaries.length > 0 && { canaries: canaries.length };
    if (!isNew || (!isUsed && known?.outcome === outcome)) {
      // Reported before.
    } else if (outcome === 'named') notify({ type: 'verdict-mail-named', ...about, named, ...ofCanaries });
    else if (isUsed) notify({ type: 'verdict-mail-unknown', ...about, unreadAttachments });
    else if (outcome === 'unknown-sender')
      notify({ type: 'verdict-mail-unknown-sender', ...about, namesSent });
    else if (reason) notify({ type: `verdict-mail-${outcome}`, ...about, reason });
    return {
      ...{ messageId, receivedAt, pairs, correct, unreadAttachments },
      ...(isUsed ? { outcome: isNew ? outcome : 'already-read' } : { outcome, reason }),
      bookings: listBookings(bookings),
      canaries: canaries.map(({ reference, day }) => ({ reference, day })),
    };
  }

  /** Whether its cases would get more bookings than an e-mail of anybody may open. */
  async function opensMore({ bookings, pairs }: Seen): Promise<boolean> {
    if (bookings.length > mostOfAnybody) return true;
    const hotels = [...pairs, ...bookings.flatMap(({ booking }) => listPairs(booking))];
    const cases = new Set(hotels.map(keyOfCase));
    const isWanted = (stay: NamedPair) => cases.has(keyOfCase(stay));
    let count = 0;
    for await (const { stays } of readStaysAhead(ledger, hotels, { today: today(), isWanted })) {
      count += stays.length;
      if (count > mostOfAnybody) return true;
    }
    return false;
  }

  /** An e-mail that could not be fetched before was recorded by its key. */
  async function forgetUnfetched(key: string): Promise<void> {
    const sha256 = identifyMail(Buffer.from(key));
    if ((await log.findMail(sha256))?.reason === 'not-fetched') await log.forget(sha256);
  }

  async function repeat({ number, messageId, receivedAt }: StoredMail): Promise<TakenMail> {
    const { bookings, pairs } = await log.readNamed(number);
    const canaries = await ledger.canaries.list({ limit: mostCanaries });
    return {
      messageId,
      receivedAt,
      outcome: 'already-read',
      pairs,
      correct: 0,
      unreadAttachments: 0,
      bookings: listBookings(
        bookings.map(({ day, line, form }) => {
          return { day, reference: readBooking(line, form).bookingReferenceId ?? '' };
        }),
      ),
      canaries: canaries.flatMap(({ reference, day, namedAt }) =>
        namedAt === receivedAt ? [{ reference, day }] : [],
      ),
    };
  }

  return {
    /** Opens the cases of e-mails whose reading was interrupted after they were recorded. */
    async resume(): Promise<void> {
      for (const mail of await log.listWithoutCases()) await openCasesOf(mail);
    },

    /**
     * Reads one e-mail. An e-mail that is known and names nothing more is `already-read`. One that fails a second time is set
     * aside, and only read again if a person asks for it.
     */
    async take(found: FoundMail, { isAsked = false } = {}): Promise<TakenMail> {
      const sha256 = identifyMail(found.bytes ?? Buffer.from(found.key));
      try {
        const taken = await takeOrSetAside(found, sha256, isAsked);
        if (found.bytes && found.key !== undefined) await forgetUnfetched(found.key);
        failed = undefined;
        return taken;
      } catch (error) {
        failed = sha256;
        throw error;
      }
    },
  };
}

/** Whether a known e-mail is not read again. Its sender may be listed by now. */
function isDone({ outcome, reason }: StoredMail, standing: Standing): boolean {
  switch (outcome) {
    case 'named':
      return true;
    case 'set-aside': {
      if (reason === 'not-fetched') return false;
      const isOfSender = reason === 'not-authenticated' || reason === 'too-many-bookings';
      return standing !== 'asked' && !(standing === 'listed' && isOfSender);
    }
    case 'unknown-sender':
      return standing === 'unlisted';
    default:
      return false;
  }
}

/** A pair means every master hotel that it is booked as, unless the e-mail says which. A stranger may name thousands. */
async function resolvePairs(
  mentions: readonly PairMention[],
  ledger: Ledger,
  today: string,
): Promise<NamedPair[]> {
  const wanted = new Set(
    mentions.map(({ serviceId, ...hotel }) =>
      serviceId === undefined ? keyOfHotel(hotel) : keyOfCase({ ...hotel, serviceId }),
    ),
  );
  const found = new Map<string, NamedPair>();
  for await (const { stays } of readStaysAhead(ledger, mentions, { today }))
    for (const { providerName, providerHotelId, serviceId } of stays) {
      const pair = { providerName, providerHotelId, serviceId };
      if (wanted.has(keyOfHotel(pair)) || wanted.has(keyOfCase(pair))) found.set(keyOfCase(pair), pair);
    }
  return [...found.values()];
}

/** Bookings without a provider's hotel have no case. */
function listPairs({ providerName, providerHotelId, serviceId }: Booking): NamedPair[] {
  if (providerName === undefined || providerHotelId === undefined) return [];
  return [{ providerName, providerHotelId, serviceId }];
}

function toFindings(
  { bookings, pairs }: NamedThings,
  { at, today }: { readonly at: number; readonly today: string },
): Finding[] {
  const origin = 'email';
  return [
    ...pairs.map((pair) => ({ ...pair, origin, at }) as const),
    ...bookings.flatMap(({ line, form, day }) =>
      toFinding(readBooking(line, form), { origin, at, day, today }),
    ),
  ];
}

function listBookings(named: readonly { readonly reference: string; readonly day: string }[]) {
  const listed = new Map<string, { reference: string; day: string }>();
  for (const { day, reference } of named) listed.set(`${day} ${reference}`, { reference, day });
  return [...listed.values()].sort((a, b) => (a.day + a.reference < b.day + b.reference ? -1 : 1));
}
