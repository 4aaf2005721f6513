import { createHash } from 'node:crypto';
import { readBooking } from '../../booking/stored-line.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { MailOutcome, MailReason, NamedPair, NamedThings, StoredMail } from '../../ledger/mails.js';
import type { NotifyCases, NotifyVerdictMails, NumberedMail } from '../events.js';
import { openCases, toFinding } from '../open-cases.js';
import type { FoundMail } from './mailbox.js';
import {
  mostCanaries,
  opensMoreThan,
  type RecognisedMail,
  type RecogniseParts,
  recogniseMail,
} from './recognise-mail.js';
import { UnreadMailError } from './records.js';
import { judgeSender, type ListedSenders, readHeaders, type SenderStanding } from './sender.js';

interface MailTakerParts extends RecogniseParts {
  /** Whose e-mails count. */
  readonly senders: ListedSenders;
  readonly clock: () => number;
  readonly notify: NotifyVerdictMails & NotifyCases;
}

export interface TakenMail {
  readonly messageId?: string | undefined;
  readonly receivedAt: number;
  readonly outcome: MailOutcome | 'already-read';
  /** Why it can't be read, or was set aside. */
  readonly reason?: MailReason | undefined;
  /** The bookings that it names. */
  readonly bookings: readonly NamedBooking[];
  /** The pairs that it names without a reference. */
  readonly pairs: readonly NamedPair[];
  /** The canaries that it names. */
  readonly canaries: readonly NamedBooking[];
  readonly correct: number;
  readonly unreadAttachments: number;
}

interface NamedBooking {
  readonly reference: string;
  readonly day: string;
}

export type MailTaker = ReturnType<typeof createMailTaker>;

/** Reads verdict e-mails one at a time: what one names is recorded first, then its cases are opened. */
export function createMailTaker(parts: MailTakerParts) {
  /** The e-mail that could not be taken the last time. */
  let failed: string | undefined;

  return {
    /** Opens the cases of e-mails whose reading was interrupted after they were recorded. */
    async resume(): Promise<void> {
      for (const mail of await parts.ledger.mails.listWithoutCases()) await openCasesOf(mail, parts);
    },

    /**
     * Reads one e-mail. An e-mail that is known and names nothing more is `already-read`. One that fails a second time is set
     * aside, and only read again if a person asks for it.
     */
    async take(found: FoundMail, { isAsked = false } = {}): Promise<TakenMail> {
      const sha256 = identifyMail(found.bytes ?? Buffer.from(found.key));
      try {
        const received = await receive({ found, sha256, isAsked, isSecondTry: failed === sha256 }, parts);
        const taken = await takeMail(received, parts);
        if (found.bytes && found.key !== undefined) await forgetUnfetched(found.key, parts);
        failed = undefined;
        return taken;
      } catch (error) {
        failed = sha256;
        throw error;
      }
    },
  };
}

/** `asked`: a person vouches for it. */
type Standing = SenderStanding | 'asked';

interface GivenMail {
  readonly found: FoundMail;
  readonly sha256: string;
  readonly isAsked: boolean;
  readonly isSecondTry: boolean;
}

/** An e-mail, and what is known about it before it is read. */
interface ReceivedMail extends GivenMail {
  readonly standing: Standing;
  /** Whether its sender is listed, whoever asks for it. */
  readonly isListed: boolean;
  /** What was recorded when it was taken before. */
  readonly known: StoredMail | undefined;
  readonly now: number;
}

/** What becomes of an e-mail. */
interface Judged {
  readonly outcome: MailOutcome;
  readonly reason?: MailReason | undefined;
  /** If it was read. */
  readonly mail?: RecognisedMail;
}

/** The most bookings that an e-mail opens where anybody may write one. */
const mostOfAnybody = 1_000;

async function receive(given: GivenMail, { ledger, senders, clock }: MailTakerParts): Promise<ReceivedMail> {
  const { found, sha256, isAsked } = given;
  const known = await ledger.mails.findMail(sha256);
  const ofSender = judgeSender(found.bytes ?? found.head ?? Buffer.alloc(0), senders);
  const standing = isAsked ? 'asked' : ofSender;
  return { ...given, standing, isListed: ofSender === 'listed', known, now: clock() };
}

async function takeMail(received: ReceivedMail, parts: MailTakerParts): Promise<TakenMail> {
  const { known } = received;
  if (known && isDone(known, received)) return repeat(known, parts);
  const unread = judgeUnread(received);
  if (unread) return record(received, unread, parts);
  try {
    return await record(received, await readMail(received, parts), parts);
  } catch (error) {
    const judged = judgeFailure(error, received);
    if (!judged) throw error;
    return record(received, judged, parts);
  }
}

/** Whether a known e-mail is not read again. Its sender may be listed by now. */
function isDone({ outcome, reason }: StoredMail, { found, standing }: ReceivedMail): boolean {
  if (found.fault === 'not-fetched') return true;
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

/** What becomes of an e-mail that need not be read. */
function judgeUnread({ found, standing }: ReceivedMail): Judged | undefined {
  if (found.fault === 'not-fetched') return { outcome: 'set-aside', reason: 'not-fetched' };
  if (standing === 'unproven') return { outcome: 'set-aside', reason: 'not-authenticated' };
  return undefined;
}

/** @throws UnreadMailError */
async function readMail(
  { found: { bytes }, standing, now }: ReceivedMail,
  parts: MailTakerParts,
): Promise<Judged> {
  if (bytes === undefined) throw new UnreadMailError('too-large');
  const mail = await recogniseMail(bytes, { now, isStranger: standing === 'unlisted' }, parts);
  if (standing === 'unlisted') return { outcome: 'unknown-sender', mail };
  if (standing === 'anybody' && (await opensMoreThan(mostOfAnybody, mail, parts)))
    return { outcome: 'set-aside', reason: 'too-many-bookings', mail };
  return judgeNaming(mail);
}

function judgeNaming(mail: RecognisedMail): Judged {
  const { correct, accusesUnknown, unreadAttachments } = mail.said;
  const isNaming = countNamed(mail) > 0;
  const isOnlyCorrect = correct > 0 && !isNaming && !accusesUnknown;
  return {
    outcome: isNaming || mail.canaries.length > 0 ? 'named' : 'nothing-known',
    reason: unreadAttachments > 0 ? 'unread-attachment' : isOnlyCorrect ? 'called-correct' : undefined,
    mail,
  };
}

/** What becomes of an e-mail whose reading failed; undefined if it is to be tried again. */
function judgeFailure(error: unknown, { standing, isSecondTry }: ReceivedMail): Judged | undefined {
  const isUnread = error instanceof UnreadMailError;
  // Perhaps the ledger is away. If not, later e-mails would wait for this one for good.
  if (!isUnread && !isSecondTry) return undefined;
  if (standing === 'unlisted') return { outcome: 'unknown-sender' };
  if (!isUnread) return { outcome: 'set-aside', reason: 'failed' };
  return { outcome: error.isFault ? 'set-aside' : 'unreadable', reason: error.reason };
}

/** Records an e-mail, opens the cases of what it names, and reports it once. */
async function record(received: ReceivedMail, judged: Judged, parts: MailTakerParts): Promise<TakenMail> {
  const { found, sha256, isListed, now } = received;
  const { outcome, reason } = judged;
  const receivedAt = dateMail(received, judged);
  const used = takeUsed(judged);
  const { bookings, pairs } = used;
  const { messageId, correct, unreadAttachments } = used.said;
  const canaries = used.canaries.map(({ reference, day }) => ({ reference, day }));
  const { number, isNew } = await parts.ledger.mails.record({
    ...{ sha256, content: found.bytes && identifyContent(found.bytes), from: found.from, isListed },
    ...{ readAt: now, receivedAt, messageId, outcome, reason, bookings, pairs },
    canaries: canaries.map(({ reference }) => reference),
    toldOn: isToldOncePerDay(judged) ? parts.today() : undefined,
  });
  if (countNamed(used) > 0) await openCasesOf({ number, receivedAt }, parts);
  if (isNew && !wasReported(received, judged)) report({ mail: number, receivedAt }, judged, parts);
  return {
    ...{ messageId, receivedAt, pairs, canaries, correct, unreadAttachments },
    ...(isUsed(judged) ? { outcome: isNew ? outcome : 'already-read' } : { outcome, reason }),
    bookings: listNamed(bookings),
  };
}

/** A later move of the mapping corrects a case, so that an instant in the future would keep it open for good. */
function dateMail({ found: { arrivedAt, savedAt }, now }: ReceivedMail, { mail }: Judged): number {
  return Math.min(arrivedAt ?? mail?.said.receivedAt ?? savedAt ?? now, now);
}

const isUsed = ({ outcome }: Judged) => outcome === 'named' || outcome === 'nothing-known';

/** What counts of what an e-mail says. */
type UsedMail = Omit<RecognisedMail, 'said'> & {
  readonly said: Pick<RecognisedMail['said'], 'messageId' | 'correct' | 'unreadAttachments'>;
};
const nothing: UsedMail = {
  ...{ bookings: [], pairs: [], canaries: [] },
  said: { messageId: undefined, correct: 0, unreadAttachments: 0 },
};

/** Nothing is used of a stranger's e-mail, or of one that is set aside. */
function takeUsed(judged: Judged): UsedMail {
  return isUsed(judged) && judged.mail ? judged.mail : nothing;
}

/** What opens cases. */
function countNamed({ bookings, pairs }: UsedMail): number {
  return bookings.length + pairs.length;
}

/** What a stranger's names is only counted. */
function namesSent({ outcome, mail }: Judged): boolean {
  if (outcome !== 'unknown-sender' || !mail) return false;
  return mail.bookings.length + mail.canaries.length + mail.said.correct > 0;
}

/** Anybody could write many of its kind. */
function isToldOncePerDay(judged: Judged): boolean {
  const { reason } = judged;
  return namesSent(judged) || reason === 'not-authenticated' || reason === 'not-fetched';
}

/** An e-mail of which something is used may name more than before. */
function wasReported({ known }: ReceivedMail, judged: Judged): boolean {
  return !isUsed(judged) && known?.outcome === judged.outcome;
}

function report(about: NumberedMail, judged: Judged, { notify }: MailTakerParts): void {
  const { outcome, reason } = judged;
  const used = takeUsed(judged);
  const { unreadAttachments } = used.said;
  const canaries = used.canaries.length > 0 && { canaries: used.canaries.length };
  switch (outcome) {
    case 'named':
      return notify({ type: 'verdict-mail-named', ...about, named: countNamed(used), ...canaries });
    case 'nothing-known':
      return notify({ type: 'verdict-mail-unknown', ...about, unreadAttachments });
    case 'unknown-sender':
      return notify({ type: 'verdict-mail-unknown-sender', ...about, namesSent: namesSent(judged) });
    default:
      if (reason) notify({ type: `verdict-mail-${outcome}`, ...about, reason });
  }
}

async function openCasesOf(
  { number, receivedAt }: Pick<StoredMail, 'number' | 'receivedAt'>,
  { ledger, today, clock, notify }: MailTakerParts,
): Promise<void> {
  // The dates of e-mails carry no milliseconds: a move within that second came before.
  const at = Math.min(receivedAt + 999, clock());
  const about = { origin: 'email', at, today: today() } as const;
  const { bookings, pairs } = await ledger.mails.readNamed(number);
  const findings = [
    ...pairs.map((pair) => ({ ...pair, ...about })),
    ...bookings.flatMap(({ line, day }) => toFinding(readBooking(line), { ...about, day })),
  ];
  await openCases(findings, { ledger, today: about.today, clock, notify });
  await ledger.mails.noteCasesOpened(number, clock());
}

/** An e-mail that could not be fetched before was recorded by its key. */
async function forgetUnfetched(key: string, { ledger: { mails } }: MailTakerParts): Promise<void> {
  const sha256 = identifyMail(Buffer.from(key));
  if ((await mails.findMail(sha256))?.reason === 'not-fetched') await mails.forget(sha256);
}

/** What a known e-mail names. */
async function repeat(
  { number, messageId, receivedAt }: StoredMail,
  { ledger }: { readonly ledger: Ledger },
): Promise<TakenMail> {
  const { bookings, pairs } = await ledger.mails.readNamed(number);
  const canaries = await ledger.canaries.list({ limit: mostCanaries });
  const toNamed = ({ day, line }: NamedThings['bookings'][number]) => {
    return { day, reference: readBooking(line).bookingReferenceId ?? '' };
  };
  return {
    ...{ messageId, receivedAt, outcome: 'already-read', correct: 0, unreadAttachments: 0 },
    bookings: listNamed(bookings.map(toNamed)),
    pairs,
    canaries: canaries.flatMap(({ reference, day, namedAt }) =>
      namedAt === receivedAt ? [{ reference, day }] : [],
    ),
  };
}

/** Each once, by day and reference. */
function listNamed(named: readonly NamedBooking[]): NamedBooking[] {
  const listed = new Map<string, NamedBooking>();
  for (const { day, reference } of named) listed.set(`${day} ${reference}`, { reference, day });
  return [...listed.values()].sort((a, b) => (a.day + a.reference < b.day + b.reference ? -1 : 1));
}

/** The checksum by which an e-mail is known again; a copy may have other line ends. */
function identifyMail(bytes: Buffer): string {
  return createHash('sha256').update(withPlainLineEnds(bytes)).digest('hex');
}

/** Byte by byte: an e-mail may consist of them. */
function withPlainLineEnds(bytes: Buffer): Buffer {
  const plain = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at] === 13 && bytes[at + 1] === 10) continue;
    plain[length] = bytes[at] ?? 0;
    length += 1;
  }
  return plain.subarray(0, length);
}

/** What is read of an e-mail, or says how. Each server on the way adds others, so that copies differ in those. */
const headersOfContent = /^(?:from|subject|content-type|content-transfer-encoding)$/;

/** The checksum of what an e-mail says: it is the same in all of its copies. */
function identifyContent(bytes: Buffer): string {
  const plain = withPlainLineEnds(bytes);
  const end = plain.indexOf('\n\n');
  const headers = readHeaders(plain).filter(({ name }) => headersOfContent.test(name));
  return createHash('sha256')
    .update(JSON.stringify(headers))
    .update(end === -1 ? plain : plain.subarray(end))
    .digest('hex');
}
