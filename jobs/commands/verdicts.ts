import { access, constants, readFile, stat } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { showInLine } from '../../src/base/foreign-text.js';
import { formatCountOf, formatInstant } from '../../src/base/format.js';
import { codeOf, UsageError } from '../../src/base/safe-error.js';
import { renderTable } from '../../src/base/tables.js';
import { splitMails } from '../../src/cases/mails/maildir.js';
import type { MailTaker, TakenMail } from '../../src/cases/mails/take-mail.js';
import { type MailReason, mailToJson } from '../../src/ledger/mails.js';
import type { App } from '../app.js';
import { type AnyCommand, command, flag } from '../command.js';
import { exitCode } from '../exit-code.js';
import { openMailTaker } from '../verdict-mails.js';

/** Exits with 1 if an e-mail can't be read; the others are still read. */
const importMails = command({
  summary:
    'read e-mails (.eml), an mbox, or what was saved from one (.csv, .txt, .html); - for standard input',
  usage: '<file...>',
  arguments: (files: readonly string[]) => ({ files }),
  examples: `
Examples:
  hotel-review verdicts import mails/*.eml
  hotel-review verdicts import reviews.mbox --json
  hotel-review verdicts import - < incorrect.csv`,

  async run(app, { files }) {
    // Refuses a mistyped name before anything is read.
    for (const file of files) await checkGiven(file, app);
    const taker = app.keep(await openMailTaker(app));
    await taker.resume();
    const emails: ImportedMail[] = [];
    for (const file of files) {
      const taken = await takeFile(file, taker, app);
      // Their senders choose the names of e-mails that are saved.
      const subject = file === standardInput ? 'standard input' : 'file';
      const named = taken.reduce((sum, { bookings }) => sum + bookings.length, 0);
      await app.look({ action: 'verdicts-import', subject, details: { emails: taken.length, named } });
      for (const one of taken) emails.push(one);
    }

    const isNaming = emails.some(
      ({ outcome, bookings, pairs }) => outcome === 'named' && bookings.length + pairs.length > 0,
    );
    const isUnread = emails.some(({ outcome }) => outcome === 'unreadable' || outcome === 'set-aside');
    return app.answer(
      [
        emails.flatMap((mail) => [
          `${showInLine(mail.file)}, e-mail of ${formatInstant(mail.receivedAt)}: ${describeOutcome(mail)}`,
          ...listNamed(mail),
          ...listDoubts(mail),
        ]),
        isNaming && `The bookings that they name are in a case: ${app.command('cases')}`,
      ],
      { emails: emails.map(importedToJson) },
      isUnread ? exitCode.failed : exitCode.done,
    );
  },
});

const standardInput = '-';
/** An mbox may hold many e-mails; each of them has its own limit. */
const maxFileBytes = 512 * 1024 * 1024;

async function checkGiven(file: string, { locate }: App): Promise<void> {
  if (file === standardInput) return;
  try {
    const path = locate(file);
    const found = await stat(path);
    if (!found.isFile()) throw new UsageError(`${file} is not a file; name an e-mail or an mbox`);
    if (found.size > maxFileBytes)
      throw new UsageError(`${file} is larger than 512 MB; split it, or name single e-mails`);
    await access(path, constants.R_OK);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(
      `${file} can't be read (${codeOf(error) ?? 'unexpected error'}); name an e-mail or an mbox`,
    );
  }
}

interface ImportedMail extends TakenMail {
  /** As it was named on the command line. */
  readonly file: string;
}

async function takeFile(
  file: string,
  taker: MailTaker,
  { io, locate, signal }: App,
): Promise<ImportedMail[]> {
  const path = locate(file);
  const isGiven = file === standardInput;
  const [bytes, savedAt] = isGiven
    ? [await buffer(io.stdin), undefined]
    : [await readFile(path), Math.floor((await stat(path)).mtimeMs)];
  const from = isGiven ? 'standard input' : 'file';
  const taken: ImportedMail[] = [];
  for (const mail of splitMails(bytes)) {
    signal.throwIfAborted();
    taken.push({ file, ...(await taker.take({ bytes: mail, from, savedAt }, { isAsked: true })) });
  }
  return taken;
}

function importedToJson({ file, messageId, receivedAt, outcome, reason, ...mail }: ImportedMail) {
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

function describeOutcome({ outcome, bookings, pairs, canaries, reason }: ImportedMail): string {
  const counted = [
    bookings.length > 0 && formatCountOf(bookings.length, 'booking'),
    pairs.length > 0 && formatCountOf(pairs.length, 'hotel'),
  ].filter(Boolean);
  const nothing = canaries.length > 0 ? 'the canary and no booking' : 'nothing that the ledger knows';
  const named = counted.join(' and ') || nothing;
  const why = reason === undefined ? 'unknown' : reasons[reason];
  switch (outcome) {
    case 'named':
      return `names ${named}`;
    case 'already-read':
      return `was read before, and names ${named}`;
    case 'nothing-known':
      return `names ${named}: read it yourself`;
    case 'unreadable':
      return `can't be read: ${why}`;
    case 'set-aside':
      return `is set aside: ${why}; read it yourself`;
    case 'unknown-sender':
      return 'is of an unknown sender: nothing of it is used';
  }
}

const reasons: Readonly<Record<MailReason, string>> = {
  'too-large': 'it is too large',
  'too-many-parts': 'it has too many parts',
  'too-deep': 'its parts or forwarded e-mails are nested too deeply',
  'too-many-rows': 'it has too many rows',
  'too-many-words': 'it has too many words',
  'no-text': 'it is no text; save a spreadsheet as CSV, and unpack a ZIP file',
  unreadable: 'it is broken',
  'too-slow': 'reading it takes too long',
  'too-much-memory': 'reading it takes too much memory',
  failed: 'reading it failed twice',
  'not-authenticated': 'the mail server does not confirm its sender',
  'not-fetched': 'the mailbox lists it, and hands out nothing that is an e-mail',
  'too-many-bookings': 'it would open more than 1,000 bookings',
  'unread-attachment': 'an attachment was not read',
  'called-correct': 'it calls bookings correct',
};

/** How many bookings of an e-mail are shown to a person. */
const bookingsShown = 20;

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
  const doubts = [
    correct > 0 &&
      `  called correct: ${formatCountOf(correct, 'booking')}; that changes nothing, no e-mail clears a booking`,
    unreadAttachments > 0 &&
      `  not read: ${formatCountOf(unreadAttachments, 'attachment')} without text, such as a spreadsheet, a PDF or a ZIP file`,
  ];
  return doubts.filter((line) => line !== false);
}

const mailsShown = 200;

const list = command({
  summary: 'list the e-mails that were read, newest first',
  options: { unknown: flag('--unknown', 'only those that name nothing known, or cannot be read') },
  examples: `
Examples:
  hotel-review verdicts list
  hotel-review verdicts list --unknown --json   those that somebody should read`,

  async run(app, { unknown }) {
    const ledger = await app.findLedger();
    if (!ledger) return app.answer(app.describeNoLedger(), { emails: [] });
    const mails = await ledger.mails.listMails({ limit: mailsShown, onlyUnknown: unknown });
    const json = { emails: mails.map(mailToJson) };
    if (mails.length === 0) return app.answer('No e-mail was read.', json);
    const rows = mails.map(({ receivedAt, outcome, reason, named, from }) => {
      const naming = named === 0 ? 'names the canary' : `names ${named}`;
      return [
        formatInstant(receivedAt),
        `${outcome === 'named' ? naming : outcome}${reason === undefined ? '' : `: ${reasons[reason]}`}`,
        showInLine(from),
      ];
    });
    return app.answer(renderTable(rows, ['received', 'outcome', 'found in']), json);
  },
});

export default {
  place: ['mappings', 6],
  summary: 'read and list the e-mails in which the service names incorrect mappings',
  examples: `
A booking that an e-mail names is affected, and a case is opened for it. No e-mail
ever clears a booking. \`serve\` reads a mailbox itself: setting verdicts.

Examples:
  hotel-review verdicts import incorrect.eml
  hotel-review verdicts list --unknown`,
  commands: { import: importMails, list },
} satisfies AnyCommand;
