import { formatCountOf, formatInstant } from '../text/format.js';
import type { WriteCommand } from '../text/shell.js';
import { renderTable } from '../text/tables.js';
import { showInLine } from '../text/visible.js';
import type { MailReason, StoredMail } from '../verdict-mails/mail-log.js';
import type { TakenMail } from '../verdict-mails/take-mail.js';

/** How many bookings of an e-mail are shown to a person. */
const bookingsShown = 20;

export interface ImportedMail extends TakenMail {
  /** As it was named on the command line. */
  readonly file: string;
}

/** An e-mail as `verdicts import --json` prints it. */
export function toImportReport({ file, messageId, receivedAt, outcome, reason, ...mail }: ImportedMail) {
  const { bookings, pairs, canaries, correct, unreadAttachments } = mail;
  return {
    file,
    messageId: messageId ?? null,
    receivedAt: new Date(receivedAt).toISOString(),
    outcome,
    ...(reason !== undefined && { reason }),
    bookings,
    pairs,
    ...(canaries.length > 0 && { canaries }),
    correct,
    unreadAttachments,
  };
}

export function renderImport(mails: readonly ImportedMail[], command: WriteCommand): string {
  const lines = mails.flatMap((mail) => {
    const received = `e-mail of ${formatInstant(mail.receivedAt)}`;
    return [
      `${showInLine(mail.file)}, ${received}: ${describeOutcome(mail)}`,
      ...listNamed(mail),
      ...listDoubts(mail),
    ];
  });
  const isNaming = mails.some(
    ({ outcome, bookings, pairs }) => outcome === 'named' && bookings.length + pairs.length > 0,
  );
  if (isNaming) lines.push(`The bookings that they name are in a case: ${command('cases')}`);
  return `${lines.join('\n')}\n`;
}

function describeOutcome({ outcome, bookings, pairs, canaries, reason }: ImportedMail): string {
  const isOnlyCanary = canaries.length > 0 && bookings.length + pairs.length === 0;
  const named = [
    ...(bookings.length > 0 || pairs.length === 0 ? [formatCountOf(bookings.length, 'booking')] : []),
    ...(pairs.length > 0 ? [formatCountOf(pairs.length, 'hotel')] : []),
  ].join(' and ');
  switch (outcome) {
    case 'named':
      return isOnlyCanary ? 'names the canary and no booking' : `names ${named}`;
    case 'already-read':
      if (isOnlyCanary) return 'was read before, and names the canary and no booking';
      return bookings.length + pairs.length > 0
        ? `was read before, and names ${named}`
        : 'was read before, and names nothing that the ledger knows';
    case 'nothing-known':
      return 'names nothing that the ledger knows: read it yourself';
    case 'unreadable':
      return `can't be read: ${reason === undefined ? 'unknown' : describeReason(reason)}`;
    case 'set-aside':
      return `is set aside: ${reason === undefined ? 'unknown' : describeReason(reason)}; read it yourself`;
    case 'unknown-sender':
      return 'is of an unknown sender: nothing of it is used';
  }
}

/** A reason in words. */
function describeReason(reason: MailReason): string {
  switch (reason) {
    case 'too-large':
      return 'it is too large';
    case 'too-many-parts':
      return 'it has too many parts';
    case 'too-deep':
      return 'its parts or forwarded e-mails are nested too deeply';
    case 'too-many-rows':
      return 'it has too many rows';
    case 'too-many-words':
      return 'it has too many words';
    case 'no-text':
      return 'it is no text; save a spreadsheet as CSV, and unpack a ZIP file';
    case 'unreadable':
      return 'it is broken';
    case 'too-slow':
      return 'reading it takes too long';
    case 'too-much-memory':
      return 'reading it takes too much memory';
    case 'failed':
      return 'reading it failed twice';
    case 'not-authenticated':
      return 'the mail server does not confirm its sender';
    case 'too-many-bookings':
      return 'it would open more than 1,000 bookings';
    case 'unread-attachment':
      return 'an attachment was not read';
    case 'called-correct':
      return 'it calls bookings correct';
  }
}

function listNamed({ outcome, bookings, pairs, canaries }: ImportedMail): string[] {
  if (outcome !== 'named') return [];
  const named = [
    ...canaries.map(({ reference, day }) => `  ${showInLine(reference)}, the canary of ${day}`),
    ...bookings.map(({ reference, day }) => `  ${showInLine(reference)}  of ${day}`),
    ...pairs.map(
      ({ providerName, providerHotelId, serviceId }) =>
        `  every booking of ${showInLine(providerName)} ${showInLine(providerHotelId)} as ServiceId ${serviceId}`,
    ),
  ];
  const more = named.length - bookingsShown;
  return more > 0 ? [...named.slice(0, bookingsShown), `  and ${more} more`] : named;
}

function listDoubts({ correct, unreadAttachments }: ImportedMail): string[] {
  return [
    ...(correct > 0
      ? [
          `  called correct: ${formatCountOf(correct, 'booking')}; that changes nothing, no e-mail clears a booking`,
        ]
      : []),
    ...(unreadAttachments > 0
      ? [
          `  not read: ${formatCountOf(unreadAttachments, 'attachment')} without text, such as a spreadsheet, a PDF or a ZIP file`,
        ]
      : []),
  ];
}

/** An e-mail as `verdicts list --json` prints it. */
export function toMailReport({ messageId, receivedAt, readAt, from, outcome, reason, named }: StoredMail) {
  return {
    messageId: messageId ?? null,
    receivedAt: new Date(receivedAt).toISOString(),
    readAt: new Date(readAt).toISOString(),
    from,
    outcome,
    reason: reason ?? null,
    named,
  };
}

export function renderMails(mails: readonly StoredMail[]): string {
  if (mails.length === 0) return 'No e-mail was read.\n';
  const rows = mails.map(({ receivedAt, outcome, reason, named, from }) => [
    formatInstant(receivedAt),
    [
      outcome === 'named' ? (named === 0 ? 'names the canary' : `names ${named}`) : outcome,
      ...(reason === undefined ? [] : [describeReason(reason)]),
    ].join(': '),
    showInLine(from),
  ]);
  return `${renderTable(rows, ['received', 'outcome', 'found in'])}\n`;
}
