import { createHash } from 'node:crypto';
import type { NotifyCases } from '../cases/case-events.js';
import { type Finding, groupFindings } from '../cases/findings.js';
import { openCases } from '../cases/open-cases.js';
import { keyOfHotel } from '../mappings/mapping-copy.js';
import { readStaysAhead } from '../review/stays/stays-ahead.js';
import { readBooking } from '../review/stored/stored-line.js';
import type {
  MailOutcome,
  MailReason,
  NamedPair,
  NamedThings,
  StoredMail,
  VerdictMailLedger,
} from './mail-log.js';
import { findPairs, type MatchedReferences, matchReferences, type PairMention } from './match-mail.js';
import { type ReadBytes, type ReadMail, UnreadableMailError, type UnreadableReason } from './read-mail.js';
import type { NotifyVerdictMails } from './verdict-mail-events.js';

/** An e-mail as it was found. */
export type FoundMail = {
  /** Where: a file's name, or a mailbox. */
  readonly from: string;
  /** When it arrived there, in epoch milliseconds. */
  readonly arrivedAt?: number | undefined;
  /** When its file was written: used if neither its arrival nor its own date is known. */
  readonly savedAt?: number | undefined;
} & (
  | { readonly bytes: Buffer; readonly oversized?: undefined }
  /** It is too large to be loaded; identified by a text. */
  | { readonly bytes?: undefined; readonly oversized: string }
);

export interface TakenMail {
  readonly messageId?: string | undefined;
  readonly receivedAt: number;
  readonly outcome: MailOutcome | 'already-read';
  /** Why it can't be read. */
  readonly reason?: UnreadableReason;
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
  readonly read: ReadBytes;
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
/** Pairs that one e-mail may name: more of them are a list of all mappings. */
const mostPairs = 20_000;

/** Reads verdict e-mails one at a time: what one names is recorded first, then its cases are opened. */
export function createMailTaker(parts: MailTakerParts) {
  const { ledger, read, today, matchMs, clock, notify, notifyCases } = parts;
  const log = ledger.verdictMails;

  async function match(mail: ReadMail, now: number) {
    const since = now - matchMs;
    const canaries = await ledger.listCanaries({ since, limit: mostCanaries });
    const references = canaries.map(({ reference }) => reference);
    const found = await matchReferences(mail.records, log, since, references);
    const mentions = findPairs(found.rest, await log.listProviders(since));
    if (mentions.length > mostPairs) throw new UnreadableMailError('too-many-rows');
    return {
      found,
      pairs: await resolvePairs(mentions, ledger, today()),
      canaries: canaries.filter(({ reference }) => found.canaries.includes(reference)),
    };
  }

  async function openCasesOf(mail: Pick<StoredMail, 'number' | 'receivedAt'>): Promise<void> {
    // The dates of e-mails carry no milliseconds: a move within that second came before.
    const at = Math.min(mail.receivedAt + 999, clock());
    const findings = toFindings(await log.readNamed(mail.number), at);
    await openCases(await groupFindings(findings), { ledger, today: today(), clock, notify: notifyCases });
    await log.noteCasesOpened(mail.number, clock());
  }

  async function readOrExplain(bytes: Buffer): Promise<ReadMail | UnreadableReason> {
    try {
      return await read(bytes);
    } catch (error) {
      if (error instanceof UnreadableMailError) return error.reason;
      throw error;
    }
  }

  return {
    /** Opens the cases of e-mails whose reading was interrupted after they were recorded. */
    async resume(): Promise<void> {
      for (const mail of await log.listWithoutCases()) await openCasesOf(mail);
    },

    /** Reads one e-mail. An e-mail that is known and names nothing more is `already-read`. */
    async take({ bytes, oversized, from, arrivedAt, savedAt }: FoundMail): Promise<TakenMail> {
      const sha256 = identify(bytes ?? Buffer.from(oversized));
      const known = await log.findMail(sha256);
      if (known?.outcome === 'named') return repeat(known);
      const now = clock();
      const mail = bytes ? await readOrExplain(bytes) : 'too-large';
      const seen = arrivedAt ?? (typeof mail === 'string' ? savedAt : (mail.receivedAt ?? savedAt));
      // A later move of the mapping corrects a case, so that an instant in the future would keep it open for good.
      const receivedAt = Math.min(seen ?? now, now);
      if (typeof mail === 'string') return takeUnreadable({ sha256, from, receivedAt, now }, mail, known);
      try {
        const { found, pairs, canaries } = await match(mail, now);
        const isNamed = found.named.length + pairs.length > 0;
        const outcome = isNamed || canaries.length > 0 ? 'named' : 'nothing-known';
        const { messageId, unreadAttachments } = mail;
        const { number, isNew } = await log.record({
          ...{ sha256, messageId, receivedAt, readAt: now, from, outcome },
          reason: findReason(found, unreadAttachments, isNamed),
          bookings: found.named,
          pairs,
          canaries: canaries.map(({ reference }) => reference),
        });
        if (isNamed) await openCasesOf({ number, receivedAt });
        if (isNew) report(number, receivedAt, { found, pairs, canaries }, unreadAttachments);
        return {
          ...{ messageId, receivedAt, pairs, correct: found.correct, unreadAttachments },
          outcome: isNew ? outcome : 'already-read',
          bookings: listBookings(found.named),
          canaries: canaries.map(({ reference, day }) => ({ reference, day })),
        };
      } catch (error) {
        if (!(error instanceof UnreadableMailError)) throw error;
        return takeUnreadable({ sha256, from, receivedAt, now }, error.reason, known);
      }
    },
  };

  async function takeUnreadable(
    mail: {
      readonly sha256: string;
      readonly from: string;
      readonly receivedAt: number;
      readonly now: number;
    },
    reason: UnreadableReason,
    known: StoredMail | undefined,
  ): Promise<TakenMail> {
    const { sha256, from, receivedAt, now } = mail;
    const { number, isNew } = await log.record({
      ...{ sha256, receivedAt, readAt: now, from, outcome: 'unreadable', reason },
      bookings: [],
      pairs: [],
    });
    if (isNew && !known) notify({ type: 'verdict-mail-unreadable', mail: number, receivedAt, reason });
    return { ...nothing, receivedAt, outcome: 'unreadable', reason };
  }

  async function repeat(known: StoredMail): Promise<TakenMail> {
    const { bookings, pairs } = await log.readNamed(known.number);
    const { messageId, receivedAt } = known;
    const canaries = await ledger.listCanaries({ limit: mostCanaries });
    const named = bookings.map((stored) => ({ ...stored, booking: readBooking(stored.line, stored.form) }));
    return {
      ...nothing,
      messageId,
      receivedAt,
      outcome: 'already-read',
      bookings: listBookings(named),
      pairs,
      canaries: canaries
        .filter(({ namedAt }) => namedAt === receivedAt)
        .map(({ reference, day }) => ({ reference, day })),
    };
  }

  function report(
    mail: number,
    receivedAt: number,
    { found: { named }, pairs, canaries }: Awaited<ReturnType<typeof match>>,
    unreadAttachments: number,
  ): void {
    const count = named.length + pairs.length;
    const ofCanaries = canaries.length > 0 && { canaries: canaries.length };
    if (count > 0 || ofCanaries)
      notify({ type: 'verdict-mail-named', mail, receivedAt, named: count, ...ofCanaries });
    else notify({ type: 'verdict-mail-unknown', mail, receivedAt, unreadAttachments });
  }
}

export type MailTaker = ReturnType<typeof createMailTaker>;

const nothing = {
  bookings: [],
  pairs: [],
  canaries: [],
  correct: 0,
  unreadAttachments: 0,
} as const;

/** A copy of an e-mail may have other line ends. */
function identify(bytes: Buffer): string {
  const text = bytes.toString('latin1').replaceAll('\r\n', '\n');
  return createHash('sha256').update(text, 'latin1').digest('hex');
}

/** A pair means every master hotel that it is booked as, unless the e-mail says which. */
async function resolvePairs(
  mentions: readonly PairMention[],
  ledger: VerdictMailLedger,
  today: string,
): Promise<NamedPair[]> {
  if (mentions.length === 0) return [];
  const wanted = new Map<string, PairMention[]>();
  for (const mention of mentions) {
    const key = keyOfHotel(mention);
    wanted.set(key, [...(wanted.get(key) ?? []), mention]);
  }
  const found = new Map<string, NamedPair>();
  for await (const stays of readStaysAhead(ledger, mentions, { today }))
    for (const { providerName, providerHotelId, serviceId } of stays) {
      const pair = { providerName, providerHotelId, serviceId };
      const isMeant = wanted
        .get(keyOfHotel(pair))
        ?.some((mention) => mention.serviceId === undefined || mention.serviceId === serviceId);
      if (isMeant) found.set(`${keyOfHotel(pair)}\0${serviceId}`, pair);
    }
  return [...found.values()];
}

function findReason(
  { correct, rest }: Pick<MatchedReferences, 'correct' | 'rest'>,
  unreadAttachments: number,
  isNamed: boolean,
): MailReason | undefined {
  if (unreadAttachments > 0) return 'unread-attachment';
  const isCleared = correct > 0 && !isNamed && !rest.some(({ statement }) => statement === 'incorrect');
  return isCleared ? 'called-correct' : undefined;
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

function listBookings(named: MatchedReferences['named']): TakenMail['bookings'] {
  const listed = new Map<string, { reference: string; day: string }>();
  for (const { day, booking } of named) {
    const reference = booking.bookingReferenceId ?? '';
    listed.set(`${day} ${reference}`, { reference, day });
  }
  return [...listed.values()].sort((a, b) => (a.day + a.reference < b.day + b.reference ? -1 : 1));
}
