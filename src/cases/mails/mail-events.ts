import type { MailReason } from '../../ledger/mails.js';

/** An e-mail, as far as events name it: by its number in the ledger. Events hold neither its subject nor its sender. */
export interface NumberedMail {
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
