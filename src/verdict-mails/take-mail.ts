import { keyOfCase } from '../cases/case.js';
import type { NotifyCases } from '../cases/open-cases.js';
import { type Finding, gatherFindings, openCases } from '../cases/open-cases.js';
import { keyOfHotel } from '../mappings/mapping-copy.js';
import { readStaysAhead } from '../review/stays/stays-ahead.js';
import { readBooking } from '../review/stored/stored-line.js';
import type { ExaminedMail, ExamineMail } from './examine-mail.js';
import type {
  MailOutcome,
  MailReason,
  NamedPair,
  NamedThings,
  NewMail,
  StoredBooking,
  StoredMail,
  VerdictMailLedger,
} from './mail-log.js';
import { FailedMailError } from './mail-process.js';
import { identifyMail } from './mail-text.js';
import type { PairMention } from './match-mail.js';
import { judgeSender, type ListedSenders, readSender, type SenderStanding } from './sender.js';
import { UnreadableMailError } from './unreadable-mail.js';
import type { NotifyVerdictMails } from './verdict-mail-events.js';

/** An e-mail as it was found. */
export type FoundMail = {
  /** Where: a mailbox, or how it was given; not the name of its file. */
  readonly from: string;
  /** When it arrived there, in epoch milliseconds. */
  readonly arrivedAt?: number | undefined;
  /** When its file was written: used if neither its arrival nor its own date is known. */
  readonly savedAt?: number | undefined;
} & (
  | { readonly bytes: Buffer; readonly oversized?: undefined; readonly head?: undefined }
  /** It is too large to be loaded; identified by a text. Its beginning says who sent it. */
  | { readonly bytes?: undefined; readonly oversized: string; readonly head?: Buffer | undefined }
);

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

export interface MailTakerParts {
  readonly ledger: VerdictMailLedger;
  readonly examine: ExamineMail;
  /** Whose e-mails count. */
  readonly senders: ListedSenders;
  /** The day it is now in the account's zone, YYYY-MM-DD. */
  readonly today: () => string;
  /** How far back runs are searched. */
  readonly matchMs: number;
  readonly clock: () => number;
  readonly notify: NotifyVerdictMails;
  readonly notifyCases: NotifyCases;
}

/** More than a run a day within `matchMs`. */
const mostCanaries = 1_000;
/** The most bookings that an e-mail opens where anybody may write one. */
const mostOfAnybody = 1_000;

/** A booking that may be named, with its reference and where it is stored. */
interface PlacedBooking extends StoredBooking {
  readonly reference: string;
  readonly serviceId: number;
  readonly providerName?: string | undefined;
  readonly providerHotelId?: string | undefined;
}

/** What is known of an e-mail before it is read. */
interface Arrival extends Pick<NewMail, 'sha256' | 'receivedAt' | 'readAt' | 'from' | 'isListed'> {
  readonly known: StoredMail | undefined;
  /** `asked`: a person vouches for it. */
  readonly standing: SenderStanding | 'asked';
}

/** Reads verdict e-mails one at a time: what one names is recorded first, then its cases are opened. */
export function createMailTaker(parts: MailTakerParts) {
  const { ledger, examine, senders, today, matchMs, clock, notify, notifyCases } = parts;
  const log = ledger.verdictMails;
  /** The e-mail that could not be taken the last time. */
  let failed: string | undefined;

  type Seen = Awaited<ReturnType<typeof look>>;

  /** Examines an e-mail, and finds out what it means. */
  async function look(bytes: Buffer, now: number, standing: Arrival['standing']) {
    const since = now - matchMs;
    const canaries = await ledger.listCanaries({ since, limit: mostCanaries });
    let bookings: readonly PlacedBooking[] = [];
    const mail = await examine(bytes, async (hashes) => {
      bookings = await findBookings(hashes, since);
      return {
        bookings: bookings.map(({ reference, serviceId, providerHotelId }) => ({
          ...{ reference, serviceId, providerHotelId },
        })),
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
  async function findBookings(hashes: Uint32Array, since: number): Promise<readonly PlacedBooking[]> {
    const found: PlacedBooking[] = [];
    if (hashes.length === 0) return found;
    for await (const stored of log.findBookings(since, hashes))
      for (const one of stored) {
        const { bookingReferenceId: reference, ...booking } = readBooking(one.line, one.form);
        const { serviceId, providerName, providerHotelId } = booking;
        if (reference !== undefined)
          found.push({ ...one, reference, serviceId, providerName, providerHotelId });
      }
    return found;
  }

  async function openCasesOf(mail: Pick<StoredMail, 'number' | 'receivedAt'>): Promise<void> {
    // The dates of e-mails carry no milliseconds: a move within that second came before.
    const at = Math.min(mail.receivedAt + 999, clock());
    const findings = toFindings(await log.readNamed(mail.number), at);
    await openCases(gatherFindings(findings), { ledger, today: today(), clock, notify: notifyCases });
    await log.noteCasesOpened(mail.number, clock());
  }

  async function takeOrSetAside(found: FoundMail, sha256: string, isAsked: boolean): Promise<TakenMail> {
    const { bytes, from, arrivedAt, savedAt } = found;
    const known = await log.findMail(sha256);
    const ofSender = judgeSender(readSender(bytes ?? found.head ?? Buffer.alloc(0)), senders);
    const standing = isAsked ? 'asked' : ofSender;
    if (known && isDone(known, standing)) return repeat(known);
    const now = clock();
    const arrive = (seen: number | undefined): Arrival => ({
      // A later move of the mapping corrects a case, so that an instant in the future would keep it open for good.
      ...{ sha256, from, known, standing, readAt: now, receivedAt: Math.min(seen ?? now, now) },
      isListed: ofSender === 'listed',
    });
    const unread = arrive(arrivedAt ?? savedAt);
    if (standing === 'unproven') return leave(unread, 'set-aside', 'not-authenticated');
    if (bytes === undefined) return leave(unread, 'unreadable', 'too-large');
    try {
      const seen = await look(bytes, now, standing);
      const arrival = arrive(arrivedAt ?? seen.mail.receivedAt ?? savedAt);
      if (standing === 'unlisted') return await ignore(arrival, seen);
      if (standing === 'anybody' && (await opensMore(seen)))
        return await leave(arrival, 'set-aside', 'too-many-bookings');
      return await takeExamined(arrival, seen);
    } catch (error) {
      if (error instanceof UnreadableMailError) return leave(unread, 'unreadable', error.reason);
      if (error instanceof FailedMailError) return leave(unread, 'set-aside', error.reason);
      // Perhaps the ledger is away. If not, later e-mails would wait for this one for good.
      if (failed === sha256) return leave(unread, 'set-aside', 'failed');
      throw error;
    }
  }

  async function takeExamined(
    { known: _, standing: __, ...arrival }: Arrival,
    { mail, bookings, canaries, pairs }: Seen,
  ): Promise<TakenMail> {
    const { messageId, unreadAttachments, correct } = mail;
    const { receivedAt } = arrival;
    const isNamed = bookings.length + pairs.length > 0;
    const outcome = isNamed || canaries.length > 0 ? 'named' : 'nothing-known';
    const { number, isNew } = await log.record({
      ...{ ...arrival, messageId, outcome, bookings, pairs },
      reason: findReason(mail, isNamed),
      canaries: canaries.map(({ reference }) => reference),
    });
    if (isNamed) await openCasesOf({ number, receivedAt });
    const named = bookings.length + pairs.length;
    if (isNew) report(number, receivedAt, { named, canaries: canaries.length, unreadAttachments });
    return {
      ...{ messageId, receivedAt, pairs, correct, unreadAttachments },
      outcome: isNew ? outcome : 'already-read',
      bookings: listBookings(bookings),
      canaries: canaries.map(({ reference, day }) => ({ reference, day })),
    };
  }

  /** Whether its cases would get more bookings than an e-mail of anybody may open. */
  async function opensMore({ bookings, pairs }: Seen): Promise<boolean> {
    let count = bookings.length;
    if (count > mostOfAnybody) return true;
    const hotels = [
      ...pairs,
      ...bookings.flatMap(({ providerName, providerHotelId, serviceId }) =>
        providerName === undefined || providerHotelId === undefined
          ? []
          : [{ providerName, providerHotelId, serviceId }],
      ),
    ];
    const cases = new Set(hotels.map(keyOfCase));
    const isWanted = (stay: NamedPair) => cases.has(keyOfCase(stay));
    count = 0;
    for await (const stays of readStaysAhead(ledger, hotels, { today: today(), isWanted })) {
      count += stays.length;
      if (count > mostOfAnybody) return true;
    }
    return false;
  }

  /** Records an e-mail of a sender whose e-mails don't count. */
  async function ignore({ known, standing: _, ...arrival }: Arrival, seen?: Seen): Promise<TakenMail> {
    const namesSent =
      seen !== undefined && seen.bookings.length + seen.canaries.length + seen.mail.correct > 0;
    const outcome = 'unknown-sender';
    const { number, isNew } = await log.record({
      ...{ ...arrival, outcome, bookings: [], pairs: [] },
      toldOn: namesSent ? today() : undefined,
    });
    const { receivedAt } = arrival;
    if (isNew && known?.outcome !== outcome)
      notify({ type: 'verdict-mail-unknown-sender', mail: number, receivedAt, namesSent });
    return { ...nothing, receivedAt, outcome };
  }

  /** Records an e-mail of which nothing is used. */
  async function leave(
    given: Arrival,
    outcome: 'unreadable' | 'set-aside',
    reason: MailReason,
  ): Promise<TakenMail> {
    const { known, standing, ...arrival } = given;
    if (standing === 'unlisted') return ignore(given);
    const { receivedAt } = arrival;
    const { number, isNew } = await log.record({
      ...{ ...arrival, outcome, reason, bookings: [], pairs: [] },
      toldOn: reason === 'not-authenticated' ? today() : undefined,
    });
    const isNews = isNew && known?.outcome !== outcome;
    if (isNews && outcome === 'unreadable')
      notify({ type: 'verdict-mail-unreadable', mail: number, receivedAt, reason });
    if (isNews && outcome === 'set-aside')
      notify({ type: 'verdict-mail-set-aside', mail: number, receivedAt, reason });
    return { ...nothing, receivedAt, outcome, reason };
  }

  async function repeat(known: StoredMail): Promise<TakenMail> {
    const { bookings, pairs } = await log.readNamed(known.number);
    const { messageId, receivedAt } = known;
    const canaries = await ledger.listCanaries({ limit: mostCanaries });
    return {
      ...nothing,
      messageId,
      receivedAt,
      outcome: 'already-read',
      bookings: listBookings(
        bookings.map(({ day, line, form }) => ({
          day,
          reference: readBooking(line, form).bookingReferenceId ?? '',
        })),
      ),
      pairs,
      canaries: canaries
        .filter(({ namedAt }) => namedAt === receivedAt)
        .map(({ reference, day }) => ({ reference, day })),
    };
  }

  function report(
    mail: number,
    receivedAt: number,
    { named, canaries, unreadAttachments }: Record<'named' | 'canaries' | 'unreadAttachments', number>,
  ): void {
    const ofCanaries = canaries > 0 && { canaries };
    if (named > 0 || ofCanaries)
      notify({ type: 'verdict-mail-named', mail, receivedAt, named, ...ofCanaries });
    else notify({ type: 'verdict-mail-unknown', mail, receivedAt, unreadAttachments });
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
      const sha256 = identifyMail(found.bytes ?? Buffer.from(found.oversized));
      try {
        const taken = await takeOrSetAside(found, sha256, isAsked);
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
function isDone({ outcome, reason }: StoredMail, standing: Arrival['standing']): boolean {
  switch (outcome) {
    case 'named':
      return true;
    case 'set-aside':
      return !(standing === 'asked' || (standing === 'listed' && isOfSender(reason)));
    case 'unknown-sender':
      return standing === 'unlisted';
    default:
      return false;
  }
}

/** Whether an e-mail was set aside because of who sent it. */
function isOfSender(reason: MailReason | undefined): boolean {
  return reason === 'not-authenticated' || reason === 'too-many-bookings';
}

export type MailTaker = ReturnType<typeof createMailTaker>;

const nothing = {
  bookings: [],
  pairs: [],
  canaries: [],
  correct: 0,
  unreadAttachments: 0,
} as const;

/** A pair means every master hotel that it is booked as, unless the e-mail says which. */
async function resolvePairs(
  mentions: readonly PairMention[],
  ledger: VerdictMailLedger,
  today: string,
): Promise<NamedPair[]> {
  if (mentions.length === 0) return [];
  /** By hotel: the master hotels that are meant, where undefined means every one. A stranger may name thousands. */
  const wanted = new Map<string, Set<number | undefined>>();
  for (const mention of mentions) {
    const key = keyOfHotel(mention);
    const meant = wanted.get(key) ?? new Set();
    wanted.set(key, meant.add(mention.serviceId));
  }
  const found = new Map<string, NamedPair>();
  for await (const stays of readStaysAhead(ledger, mentions, { today }))
    for (const { providerName, providerHotelId, serviceId } of stays) {
      const pair = { providerName, providerHotelId, serviceId };
      const meant = wanted.get(keyOfHotel(pair));
      if (meant?.has(undefined) || meant?.has(serviceId))
        found.set(`${keyOfHotel(pair)}\0${serviceId}`, pair);
    }
  return [...found.values()];
}

function findReason(
  { correct, accusesUnknown, unreadAttachments }: ExaminedMail,
  isNamed: boolean,
): MailReason | undefined {
  if (unreadAttachments > 0) return 'unread-attachment';
  return correct > 0 && !isNamed && !accusesUnknown ? 'called-correct' : undefined;
}

/** Bookings without a provider's hotel have no case. */
function toFindings({ bookings, pairs }: NamedThings, at: number): Finding[] {
  const common = { origin: 'email', at } as const;
  return [
    ...pairs.map((pair) => ({ ...pair, ...common })),
    ...bookings.flatMap(({ line, form }): Finding[] => {
      const { providerName, providerHotelId, serviceId, bookingReferenceId } = readBooking(line, form);
      if (providerName === undefined || providerHotelId === undefined) return [];
      const references = bookingReferenceId === undefined ? [] : [bookingReferenceId];
      return [{ providerName, providerHotelId, serviceId, references, ...common }];
    }),
  ];
}

function listBookings(named: readonly { readonly reference: string; readonly day: string }[]) {
  const listed = new Map<string, { reference: string; day: string }>();
  for (const { day, reference } of named) listed.set(`${day} ${reference}`, { reference, day });
  return [...listed.values()].sort((a, b) => (a.day + a.reference < b.day + b.reference ? -1 : 1));
}
