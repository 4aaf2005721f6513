import { type EventOf, event } from '../base/events.js';
import { formatCount, formatCountOf } from '../base/format.js';
import { describeError } from '../base/safe-error.js';
import type { MailReason } from '../ledger/mails.js';

/** What happened to cases; counts only. */
export const caseEvents = {
  /** Opened, or reopened on new evidence. */
  'case-opened': event<{ readonly cases: number; readonly bookings: number }>({
    level: 'warn',
    log: 'cases opened',
    fields: ({ cases, bookings }) => ({ cases, bookings, list: 'hotel-review cases' }),
  }),
  /** The mapping moved: the bookings of these cases stay open. */
  'case-corrected': event<{ readonly cases: number }>({
    level: 'info',
    log: 'cases corrected: their mappings moved',
    fields: ({ cases }) => ({ cases }),
  }),
  'case-escalated': event<{ readonly cases: number }>({
    level: 'warn',
    log: 'cases escalated: reported, and not corrected in time',
    fields: ({ cases }) => ({ cases }),
  }),
};

export type CaseEvent = EventOf<typeof caseEvents>;

export type NotifyCases = (event: CaseEvent) => void;

export interface WatchCounts {
  readonly checkedMoves: number;
  /** Mappings that were re-pointed or deleted, and their bookings. */
  readonly endangered: number;
  /** Those of them that were deleted. */
  readonly unmapped: number;
  readonly bookings: number;
  /** Mappings whose master hotel was merged into another one. */
  readonly merged: number;
  /** Cases that were dismissed because a merge is complete. */
  readonly dismissed: number;
}

/** Progress of the watch; counts only. */
export const watchEvents = {
  /** This many of the runs that may have current and upcoming stays have been read. */
  'searching-stays': event<{ readonly runs: number; readonly of: number }>({
    level: 'debug',
    log: 'looking for current and upcoming stays',
    fields: ({ runs, of }) => ({ runs, of }),
    words: ({ runs, of }) =>
      `looking for current and upcoming stays: ${formatCount(runs)} of ${formatCountOf(of, 'run')} read`,
  }),
  /** This many moves have been compared with the current and upcoming stays, with this many findings so far. */
  'moves-checked': event<{ readonly checkedMoves: number; readonly findings: number }>({
    level: 'debug',
    log: 'moves checked',
    fields: ({ checkedMoves, findings }) => ({ checkedMoves, findings }),
    words: ({ checkedMoves, findings }) =>
      `${formatCountOf(checkedMoves, 'move')} compared, ${formatCountOf(findings, 'finding')}`,
  }),
  /** All moves since the last watch have been compared; there may have been none. */
  'mappings-watched': event<WatchCounts>({
    level: ({ endangered, checkedMoves }) => (endangered > 0 ? 'warn' : checkedMoves > 0 ? 'info' : 'debug'),
    log: 'mappings watched',
    fields: ({ checkedMoves, endangered, unmapped, bookings, merged, dismissed }) => ({
      ...{ checkedMoves, endangered, unmapped, bookings, merged, dismissed },
    }),
  }),
};

export type WatchEvent = EventOf<typeof watchEvents>;

/** An e-mail, as far as events name it: by its number in the ledger. Events hold neither its subject nor its sender. */
export interface NumberedMail {
  readonly mail: number;
  /** Epoch milliseconds. */
  readonly receivedAt: number;
}

type OfReason = NumberedMail & { readonly reason: MailReason };

/** What reading verdict e-mails reports. Each e-mail is reported once, by the process that recorded it. */
export const verdictMailEvents = {
  'verdict-mail-named': event<
    NumberedMail & {
      /** How many bookings, and pairs of provider and hotel id, it names. */
      readonly named: number;
      /** How many canaries it names, if any; they are not bookings. */
      readonly canaries?: number;
    }
  >({
    level: ({ named }) => (named === 0 ? 'info' : 'warn'),
    log: ({ named }) =>
      named === 0 ? 'e-mail names the canary' : 'e-mail names bookings with an incorrect mapping',
    fields({ named, canaries = 0, ...mail }) {
      if (named === 0) return { ...mailFields(mail), canaries };
      return { ...mailFields(mail), named, ...(canaries > 0 && { canaries }) };
    },
  }),
  /** It names nothing that the ledger knows, so nobody knows what it means. It stays where it is. */
  'verdict-mail-unknown': event<NumberedMail & { readonly unreadAttachments: number }>({
    level: 'warn',
    log: 'e-mail names nothing known: somebody has to read it',
    fields: ({ unreadAttachments, ...mail }) => ({ ...mailFields(mail), unreadAttachments }),
  }),
  'verdict-mail-unreadable': event<OfReason>({
    level: 'error',
    log: "e-mail can't be read",
    fields: ({ reason, ...mail }) => ({ ...mailFields(mail), reason }),
  }),
  /** Nothing of it is used, and it is not read again unless a person imports it. */
  'verdict-mail-set-aside': event<OfReason>({
    level: 'error',
    log: 'e-mail set aside: somebody has to read it',
    fields: ({ reason, ...mail }) => ({ ...mailFields(mail), reason }),
  }),
  /** It opens and blocks nothing. `namesSent`: it names references that were sent, so perhaps the service has a new address. */
  'verdict-mail-unknown-sender': event<NumberedMail & { readonly namesSent: boolean }>({
    level: ({ namesSent }) => (namesSent ? 'warn' : 'info'),
    log: ({ namesSent }) =>
      `e-mail of an unknown sender${namesSent ? ' names references that were sent' : ': not used'}`,
    fields: mailFields,
  }),
  /** The mailbox can't be read. Reported when that begins; it is retried. */
  'mailbox-away': event<{ readonly error: unknown }>({
    level: 'error',
    log: "mailbox can't be read: it is tried again",
    fields: ({ error }) => ({ fault: describeError(error) }),
  }),
  'mailbox-back': event<object>({ level: 'info', log: 'mailbox back' }),
  /** All new e-mails are read; there may be none. */
  'mailbox-read': event<object>({ level: 'debug', log: 'mailbox read' }),
};

export type VerdictMailEvent = EventOf<typeof verdictMailEvents>;

export type NotifyVerdictMails = (event: VerdictMailEvent) => void;

function mailFields({ mail, receivedAt }: NumberedMail) {
  return { mail, receivedAt: new Date(receivedAt).toISOString() };
}
