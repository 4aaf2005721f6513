import { createHash } from 'node:crypto';
import { readBooking } from '../../booking/stored-line.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { MailOutcome, MailReason, StoredMail } from '../../ledger/mails.js';
import type { CaseKey } from '../../rules/case.js';
import type { NotifyCases, NotifyVerdictMails } from '../events.js';
import { openCases, toCaseFinding } from '../open-cases.js';
import type { FoundMail } from './mailbox.js';
import {
  mostCanaries,
  namesNothing,
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
  readonly pairs: readonly CaseKey[];
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
  const { ledger, senders, clock } = parts;
  /** The e-mail that could not be taken the last time. */
  let failed: string | undefined;

  return {
    /** Opens the cases of e-mails whose reading was interrupted after they were recorded. */
    async resume(): Promise<void> {
      for (const { number, receivedAt } of await ledger.mails.listWithoutCases())
        await openCasesOf(number, receivedAt, parts);
    },

    /**
     * Reads one e-mail. An e-mail that is known and names nothing more is `already-read`. One that fails a second time is set
     * aside, and only read again if a person asks for it.
     */
    async take(found: FoundMail, { isAsked = false } = {}): Promise<TakenMail> {
      const sha256 = identifyMail(found.bytes ?? Buffer.from(found.key));
      try {
        const known = await ledger.mails.findMail(sha256);
        const sender = judgeSender(found.bytes ?? found.head ?? Buffer.alloc(0), senders);
        const isSecondTry = failed === sha256;
        const standing = isAsked ? ('asked' as const) : sender;
        const mail = { found, sha256, standing, isListed: sender === 'listed', isSecondTry, now: clock() };
        const taken =
          known && isDone(known, mail)
            ? await repeat(known, ledger)
            : await record(mail, await judgeMail(mail, parts), parts);
        if (found.bytes && found.key !== undefined) await forgetUnfetched(found.key, ledger);
        failed = undefined;
        return taken;
      } catch (error) {
        failed = sha256;
        throw error;
      }
    },
  };
}

/** An e-mail, and what is known about it before it is read. */
interface ReceivedMail {
  readonly found: FoundMail;
  readonly sha256: string;
  /** `asked`: a person vouches for it. */
  readonly standing: SenderStanding | 'asked';
  /** Whether its sender is listed, whoever asks for it. */
  readonly isListed: boolean;
  readonly isSecondTry: boolean;
  readonly now: number;
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

/** What becomes of an e-mail. */
interface Judged {
  readonly outcome: MailOutcome;
  readonly reason?: MailReason | undefined;
  /** If it was read. */
  readonly mail?: RecognisedMail;
}

/** The most bookings that an e-mail opens where anybody may write one. */
const mostOfAnybody = 1_000;

/** @throws what is no fault of the e-mail's, unless that happens a second time: then later e-mails would wait for this one for good */
async function judgeMail(
  { found, standing, isSecondTry, now }: ReceivedMail,
  parts: MailTakerParts,
): Promise<Judged> {
  if (found.fault === 'not-fetched') return { outcome: 'set-aside', reason: 'not-fetched' };
  if (standing === 'unproven') return { outcome: 'set-aside', reason: 'not-authenticated' };
  const isStranger = standing === 'unlisted';
  try {
    if (found.bytes === undefined) throw new UnreadMailError('too-large');
    const mail = await recogniseMail(found.bytes, { now, isStranger }, parts);
    if (isStranger) return { outcome: 'unknown-sender', mail };
    if (standing === 'anybody' && (await opensMoreThan(mostOfAnybody, mail, parts)))
      return { outcome: 'set-aside', reason: 'too-many-bookings', mail };
    return judgeNaming(mail);
  } catch (error) {
    const isUnread = error instanceof UnreadMailError;
    if (!isUnread && !isSecondTry) throw error;
    if (isStranger) return { outcome: 'unknown-sender' };
    if (!isUnread) return { outcome: 'set-aside', reason: 'failed' };
    return { outcome: error.isFault ? 'set-aside' : 'unreadable', reason: error.reason };
  }
}

function judgeNaming(mail: RecognisedMail): Judged {
  const isNaming = countNamed(mail) > 0;
  const isOnlyCorrect = mail.correct > 0 && !isNaming && !mail.accusesUnknown;
  return {
    outcome: isNaming || mail.canaries.length > 0 ? 'named' : 'nothing-known',
    reason: mail.unreadAttachments > 0 ? 'unread-attachment' : isOnlyCorrect ? 'called-correct' : undefined,
    mail,
  };
}

/** What opens cases. */
const countNamed = ({ bookings, pairs }: RecognisedMail) => bookings.length + pairs.length;

/** Records an e-mail, opens the cases of what it names, and reports it once. */
async function record(
  { found, sha256, isListed, now }: ReceivedMail,
  judged: Judged,
  parts: MailTakerParts,
): Promise<TakenMail> {
  const { outcome, reason, mail } = judged;
  const { bytes, from, arrivedAt, savedAt } = found;
  // A later move of the mapping corrects a case, so that an instant in the future would keep it open for good.
  const receivedAt = Math.min(arrivedAt ?? mail?.receivedAt ?? savedAt ?? now, now);
  // Nothing is used of a stranger's e-mail, or of one that is set aside.
  const isUsed = outcome === 'named' || outcome === 'nothing-known';
  const used = isUsed && mail ? mail : namesNothing;
  const { messageId, pairs, correct, unreadAttachments } = used;
  const canaries = used.canaries.map(({ reference, day }) => ({ reference, day }));
  const { number, isNew } = await parts.ledger.mails.record({
    ...{ sha256, content: bytes && identifyContent(bytes), from, isListed },
    ...{ readAt: now, receivedAt, messageId, outcome, reason, bookings: used.bookings, pairs },
    canaries: canaries.map(({ reference }) => reference),
    toldOn: isToldOncePerDay(judged) ? parts.today() : undefined,
  });
  if (countNamed(used) > 0) await openCasesOf(number, receivedAt, parts);
  if (isNew) report({ mail: number, receivedAt }, judged, parts);
  return {
    ...{ messageId, receivedAt, pairs, canaries, correct, unreadAttachments },
    ...(isUsed ? { outcome: isNew ? outcome : 'already-read' } : { outcome, reason }),
    bookings: listNamed(used.bookings),
  };
}

/** What a stranger's names is only counted. */
function namesSent({ outcome, mail = namesNothing }: Judged): boolean {
  return outcome === 'unknown-sender' && mail.bookings.length + mail.canaries.length + mail.correct > 0;
}

/** Anybody could write many of its kind. */
function isToldOncePerDay(judged: Judged): boolean {
  return namesSent(judged) || judged.reason === 'not-authenticated' || judged.reason === 'not-fetched';
}

function report(
  about: { readonly mail: number; readonly receivedAt: number },
  judged: Judged,
  { notify }: MailTakerParts,
): void {
  const { outcome, reason, mail = namesNothing } = judged;
  const { canaries, unreadAttachments } = mail;
  switch (outcome) {
    case 'named': {
      const named = { named: countNamed(mail), ...(canaries.length > 0 && { canaries: canaries.length }) };
      return notify({ type: 'verdict-mail-named', ...about, ...named });
    }
    case 'nothing-known':
      return notify({ type: 'verdict-mail-unknown', ...about, unreadAttachments });
    case 'unknown-sender':
      return notify({ type: 'verdict-mail-unknown-sender', ...about, namesSent: namesSent(judged) });
    default:
      if (reason) notify({ type: `verdict-mail-${outcome}`, ...about, reason });
  }
}

async function openCasesOf(
  number: number,
  receivedAt: number,
  { ledger, today, clock, notify }: MailTakerParts,
): Promise<void> {
  // The dates of e-mails carry no milliseconds: a move within that second came before.
  const at = Math.min(receivedAt + 999, clock());
  const about = { origin: 'email', at, today: today() } as const;
  const { bookings, pairs } = await ledger.mails.readNamed(number);
  const findings = [
    ...pairs.map((pair) => ({ ...pair, ...about })),
    ...bookings.flatMap(({ line, day }) => toCaseFinding(readBooking(line), { ...about, day })),
  ];
  await openCases(findings, { ledger, today: about.today, clock, notify });
  await ledger.mails.noteCasesOpened(number, clock());
}

/** An e-mail that could not be fetched before was recorded by its key. */
async function forgetUnfetched(key: string, { mails }: Ledger): Promise<void> {
  const sha256 = identifyMail(Buffer.from(key));
  if ((await mails.findMail(sha256))?.reason === 'not-fetched') await mails.forget(sha256);
}

/** What a known e-mail names. */
async function repeat({ number, messageId, receivedAt }: StoredMail, ledger: Ledger): Promise<TakenMail> {
  const { bookings, pairs } = await ledger.mails.readNamed(number);
  const canaries = await ledger.canaries.list({ limit: mostCanaries });
  return {
    ...{ messageId, receivedAt, outcome: 'already-read', correct: 0, unreadAttachments: 0, pairs },
    bookings: listNamed(
      bookings.map(({ day, line }) => ({ day, reference: readBooking(line).bookingReferenceId ?? '' })),
    ),
    canaries: canaries
      .filter(({ namedAt }) => namedAt === receivedAt)
      .map(({ reference, day }) => ({ reference, day })),
  };
}

/** Each once, by day and reference. */
function listNamed(named: readonly NamedBooking[]): NamedBooking[] {
  const listed = new Map(
    named.map(({ day, reference }) => [`${day} ${reference}`, { reference, day }] as const),
  );
  return [...listed].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, booking]) => booking);
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
